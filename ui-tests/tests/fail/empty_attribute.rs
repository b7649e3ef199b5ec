use ui_tests::*;

#[idempotent()]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
