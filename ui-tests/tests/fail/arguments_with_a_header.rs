use ui_tests::*;

#[idempotent(key = header, ttl = "72h", arguments = user.id)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
