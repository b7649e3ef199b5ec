use ui_tests::*;

#[idempotent(key = header, ttl = "72h", in_flight = wait("5s"))]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
