use ui_tests::*;

#[idempotent(key = token, ttl = "10m")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
