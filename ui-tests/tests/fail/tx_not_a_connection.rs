use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
async fn handler(user: User, #[tx] conn: &mut String) -> StatusCode {
    StatusCode::OK
}

fn main() {}
