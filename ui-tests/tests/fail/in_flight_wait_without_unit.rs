use ui_tests::*;

#[idempotent(key = header, ttl = "1h", in_flight = wait(5))]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
