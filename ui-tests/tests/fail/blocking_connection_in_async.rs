use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d")]
async fn consume(#[tx] conn: &mut diesel::SqliteConnection, event: &Event) -> Result<Order, Error> {
    let _ = conn;
    Ok(Order { id: 1 })
}

fn main() {}
