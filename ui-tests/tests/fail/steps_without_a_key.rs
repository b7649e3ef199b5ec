use idempotent_runtime::Steps;
use ui_tests::*;

#[idempotent(key = header(optional), ttl = "72h")]
async fn handler(user: User, #[steps] steps: &mut Steps<Db>) -> StatusCode {
    StatusCode::OK
}

fn main() {}
