use ui_tests::*;

#[idempotent(actix, key = header, ttl = "7d")]
async fn handler(user: User) -> Result<HttpResponse, OrderError> {
    let _ = user;
    Err(OrderError::Declined)
}

fn main() {}
