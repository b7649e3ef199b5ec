use ui_tests::*;

#[state_transition(machine = OrderStatus, event = pay)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<()>, OrderError> {
    let _ = (conn, key);
    Ok(().into())
}

fn main() {}
