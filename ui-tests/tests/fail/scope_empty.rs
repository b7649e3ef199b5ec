use ui_tests::*;

#[idempotent(key = header, ttl = "7d", scope = "")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
