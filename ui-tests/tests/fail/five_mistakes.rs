use ui_tests::*;

#[idempotent(key = header(), tll = "1h", ttl = "0h", lease = 30, store = sucess)]
fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn routes() -> axum::Router {
    axum::Router::new().route("/", axum::routing::post(handler))
}

fn main() {}
