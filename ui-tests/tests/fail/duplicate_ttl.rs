use ui_tests::*;

#[idempotent(key = header, ttl = "72h", ttl = "1h")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
