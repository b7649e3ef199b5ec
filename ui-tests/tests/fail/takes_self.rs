use ui_tests::*;

struct Api;

impl Api {
    #[idempotent(key = header, ttl = "7d")]
    async fn create(&self, user: User) -> StatusCode {
        StatusCode::OK
    }
}

fn main() {}
