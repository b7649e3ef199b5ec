use ui_tests::*;

#[state_transition(machine = OrderStatus, event = pay)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<(), OrderError> {
    let _ = conn;
    Ok(())
}

fn main() {}
