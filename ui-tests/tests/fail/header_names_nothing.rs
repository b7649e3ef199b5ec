use ui_tests::*;

#[idempotent(key = header(), ttl = "72h")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
