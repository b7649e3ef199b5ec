use ui_tests::*;

#[idempotent(key = header, ttl = "7d", engine = app.lease)]
async fn handler(State(app): State<App>) -> StatusCode {
    StatusCode::OK
}

fn main() {}
