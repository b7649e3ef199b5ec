use ui_tests::*;

#[idempotent(key = header, ttl = "1h", policy = "CREATE_ORDER")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
