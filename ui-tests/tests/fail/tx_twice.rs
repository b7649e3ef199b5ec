use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
async fn handler(#[tx] conn: &mut Db, #[tx] other: &mut Db) -> StatusCode {
    StatusCode::OK
}

fn main() {}
