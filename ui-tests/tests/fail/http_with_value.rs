use ui_tests::*;

#[idempotent(http = true, key = user.id, ttl = "7d")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
