use ui_tests::*;

#[state_transition(machine = 7, form = Created, to = Paid, reclaim = "5m")]
fn pay(#[tx] conn: &Db, order: i64) -> Result<Transition<()>, OrderError> {
    let _ = conn;
    Ok(().into())
}

fn main() {}
