use ui_tests::*;

#[idempotent(key = header, ttl = "1h", in_flight = wait(user.patience))]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
