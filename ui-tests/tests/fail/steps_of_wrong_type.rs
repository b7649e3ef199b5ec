use ui_tests::*;

#[idempotent(key = header, ttl = "72h")]
async fn handler(#[steps] steps: &mut Order) -> StatusCode {
    StatusCode::OK
}

fn main() {}
