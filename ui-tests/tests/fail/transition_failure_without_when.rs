use ui_tests::*;

#[state_transition(machine = OrderStatus, from = Created, via = Paying, to = Paid, failure = Created)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<()>, OrderError> {
    let _ = (conn, key);
    Ok(().into())
}

fn main() {}
