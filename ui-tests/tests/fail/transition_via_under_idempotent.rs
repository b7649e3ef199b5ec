use ui_tests::*;

#[idempotent(key = order, ttl = "1h")]
#[state_transition(machine = OrderStatus, from = Created, via = Paying, to = Paid)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<()>, OrderError> {
    let _ = (conn, key);
    Ok(().into())
}

fn main() {}
