use ui_tests::*;

#[idempotent(key = header(required), ttl = "72h")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
