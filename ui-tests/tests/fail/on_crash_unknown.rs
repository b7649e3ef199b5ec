use ui_tests::*;

#[idempotent(key = header, ttl = "72h", on_crash = holt)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
