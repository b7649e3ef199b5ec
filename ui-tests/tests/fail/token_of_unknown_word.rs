use ui_tests::*;

#[idempotent(name = "checkout", key = token(optional), ttl = "10m")]
async fn checkout(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
