use ui_tests::*;

#[idempotent(key = header, ttl = "72h", in_flight = wait("5s"), actix)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
