use ui_tests::*;

#[idempotent(key = order, ttl = "1h")]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<(), Error> {
    Ok(())
}

fn main() {}
