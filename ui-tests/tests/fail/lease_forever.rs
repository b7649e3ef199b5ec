use ui_tests::*;

#[idempotent(key = header, ttl = "1h", lease = "forever")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
