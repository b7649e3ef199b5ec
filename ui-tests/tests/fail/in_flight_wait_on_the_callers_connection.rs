use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d", in_flight = wait("5s"))]
async fn job(#[tx] conn: &mut Db, event: &Event) -> Result<Order, Error> {
    Ok(Order { id: 1 })
}

fn main() {}
