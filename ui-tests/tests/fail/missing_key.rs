use ui_tests::*;

#[idempotent(ttl = "72h")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
