use ui_tests::*;

#[idempotent(key = header)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
