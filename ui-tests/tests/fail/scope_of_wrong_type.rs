use ui_tests::*;

#[idempotent(key = header, ttl = "7d", scope = user)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
