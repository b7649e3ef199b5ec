use ui_tests::*;

#[idempotent(http, key = user.id, ttl = "forever")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
