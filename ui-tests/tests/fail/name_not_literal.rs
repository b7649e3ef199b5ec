use ui_tests::*;

#[idempotent(key = header, ttl = "7d", name = NAME)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
