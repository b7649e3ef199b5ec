use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d", fingerprint = json)]
async fn job(event: &Event) -> Result<Order, Error> {
    Ok(Order { id: 1 })
}

fn main() {}
