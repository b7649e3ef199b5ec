use ui_tests::*;

#[idempotent(key = header, ttl = "72h", actix)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
