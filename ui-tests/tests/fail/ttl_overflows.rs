use ui_tests::*;

#[idempotent(key = header, ttl = "999999999999999999d")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
