use ui_tests::*;

#[idempotent(key = header, ttl = "0h")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
