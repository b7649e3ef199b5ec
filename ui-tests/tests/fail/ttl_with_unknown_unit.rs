use ui_tests::*;

#[idempotent(key = header, ttl = "72 hours")]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
