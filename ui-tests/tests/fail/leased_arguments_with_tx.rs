use ui_tests::*;

#[idempotent(key = header, ttl = "72h", on_crash = hold, max_attempts = 3, arguments = user.id)]
async fn handler(user: User, #[tx] conn: &mut Db) -> StatusCode {
    StatusCode::OK
}

fn main() {}
