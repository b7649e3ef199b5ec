use ui_tests::*;

#[idempotent(key = header, ttl, scope = , lease "1s")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
