use ui_tests::*;

#[idempotent(actix = true, key = header, ttl = "7d")]
async fn handler(user: User) -> HttpResponse {
    HttpResponse::Ok().body(user.id.to_string())
}

fn main() {}
