use ui_tests::*;

#[idempotent(key = header, ttl = "1h", lease = "2h")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
