use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d")]
fn consume(#[tx] conn: &mut Db, event: &Event) -> Result<Order, Error> {
    let _ = conn;
    Ok(Order { id: 1 })
}

fn main() {}
