use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
async extern "C" fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {}
