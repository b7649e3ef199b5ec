use ui_tests::*;

struct Api;

impl Api {
    #[idempotent(key = header, ttl = "7d")]
    async fn create(user: User) -> StatusCode {
        Self::status(user)
    }

    fn status(_: User) -> StatusCode {
        StatusCode::OK
    }
}

fn main() {}
