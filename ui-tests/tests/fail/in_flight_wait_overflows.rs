use ui_tests::*;

#[idempotent(key = header, ttl = "1h", in_flight = wait("99999999999999999999d"))]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
