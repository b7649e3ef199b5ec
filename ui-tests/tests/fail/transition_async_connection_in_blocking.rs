use ui_tests::*;

#[state_transition(machine = OrderStatus, event = pay)]
fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<Transition<()>, OrderError> {
    let _ = conn;
    Ok(().into())
}

fn main() {}
