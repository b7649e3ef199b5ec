use ui_tests::*;

#[idempotent(key = header, ttl = "72h", max_attempts = "ten")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
