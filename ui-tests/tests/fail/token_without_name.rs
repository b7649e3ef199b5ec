use ui_tests::*;

#[idempotent(key = token, ttl = "10m", scope = user.id)]
async fn checkout(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
