use ui_tests::*;

#[state_transition(machine = OrderStatus, from = Craeted, to = Paid)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<Transition<()>, OrderError> {
    let _ = conn;
    Ok(().into())
}

fn main() {}
