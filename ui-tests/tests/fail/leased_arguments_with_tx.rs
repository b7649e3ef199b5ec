use ui_tests::*;

#[idempotent(key = event.id, ttl = "72h", on_crash = hold, max_attempts = 3, arguments = event.id)]
async fn consume(#[tx] conn: &mut Db, event: &Event) -> Result<Order, Error> {
    Ok(Order { id: 1 })
}

fn main() {}
