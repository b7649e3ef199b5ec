use ui_tests::*;

#[idempotent(key = header, ttl = "1h", lease = "30s")]
async fn handler(user: User, #[tx] conn: &mut Db) -> StatusCode {
    StatusCode::OK
}

fn main() {}
