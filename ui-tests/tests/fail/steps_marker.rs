use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
async fn handler(user: User, #[steps] steps: &mut Order) -> StatusCode {
    StatusCode::OK
}

fn main() {}
