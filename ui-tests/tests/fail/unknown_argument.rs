use ui_tests::*;

#[idempotent(kee = header, key = header, ttl = "72h", colour = "red")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
