use ui_tests::*;

#[derive(StateMachine, Debug, Clone, Copy)]
#[state_machine(
    table = schema::orders, column = status, id = id, initial = Open,
    transitions(begin: Open => Paying, confirm: Paying => Paid)
)]
enum Plain {
    Open,
    Paying,
    Paid,
}

#[state_transition(machine = Plain, from = Open, via = Paying, to = Paid)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<()>, OrderError> {
    let _ = (conn, key);
    Ok(().into())
}

fn main() {}
