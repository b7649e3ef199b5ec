use ui_tests::*;

#[state_transition(machine = OrderStatus, event = pay)]
async fn pay(#[tx] conn: &mut Db, order: i64) -> Result<Transition<()>, OrderError> {
    let _ = conn;
    Ok(().into())
}

fn main() {}
