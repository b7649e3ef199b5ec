use ui_tests::*;

#[idempotent(key = "", ttl = "10m")]
async fn job(event: &Event) -> Result<Order, Error> {
    Ok(Order { id: 1 })
}

fn main() {}
