use ui_tests::*;

#[idempotent(http, key = event.id, ttl = "7d")]
async fn consume(#[tx] conn: &mut Db, event: &Event) -> StatusCode {
    let _ = (conn, event);
    StatusCode::OK
}

fn main() {}
