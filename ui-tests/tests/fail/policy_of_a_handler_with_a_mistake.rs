use ui_tests::*;

#[idempotent(key = header, ttl = "1h", in_flight = wait("2h"), policy = CREATE_ORDER)]
async fn handler(user: User) -> StatusCode {
    StatusCode::OK
}

fn main() {
    let _: RoutePolicy = CREATE_ORDER;
}
