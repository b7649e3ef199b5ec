use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
async fn handler(user: User, #[tx] conn: Db) -> StatusCode {
    StatusCode::OK
}

fn main() {}
