use ui_tests::*;

#[idempotent(key = header, ttl = app.idempotency)]
async fn handler(State(app): State<App>) -> StatusCode {
    StatusCode::OK
}

fn main() {}
