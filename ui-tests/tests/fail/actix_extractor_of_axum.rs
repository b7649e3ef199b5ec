use ui_tests::*;

#[idempotent(actix, key = header, ttl = "7d")]
async fn handler(user: User, Json(order): Json<Order>) -> HttpResponse {
    HttpResponse::Ok().body(format!("{user:?} {order:?}"))
}

fn main() {}
