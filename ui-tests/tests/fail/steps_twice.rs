use idempotent_runtime::Steps;
use ui_tests::*;

#[idempotent(key = header, ttl = "72h")]
async fn handler(#[steps] steps: &mut Steps<Db>, #[steps] more: &mut Steps<Db>) -> StatusCode {
    StatusCode::OK
}

fn main() {}
