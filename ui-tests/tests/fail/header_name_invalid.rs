use ui_tests::*;

#[idempotent(key = header("not a name"), ttl = "72h")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
