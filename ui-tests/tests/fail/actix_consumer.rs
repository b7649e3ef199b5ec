use ui_tests::*;

#[idempotent(actix, key = event.id, ttl = "7d")]
async fn consume(#[tx] conn: &mut Db, event: &Event) -> Result<i64, Error> {
    let _ = (conn, event);
    Ok(1)
}

fn main() {}
