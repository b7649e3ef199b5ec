use ui_tests::*;

#[idempotent(actix, key = header, ttl = "7d", actix)]
async fn handler(user: User) -> HttpResponse {
    HttpResponse::Ok().body(user.id.to_string())
}

fn main() {}
