use ui_tests::*;

#[derive(StateMachine, Debug, Clone, Copy)]
#[state_machine(
    table = schema::orders, column = status, id = id, initial = Open,
    transitions(pay: Open => Paid, force: Open => Paid, judge: Paid => Good | Bad)
)]
enum Plain {
    Open,
    Paid,
    Good,
    Bad,
}

#[state_transition(machine = Plain, event = pay)]
async fn pay(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    #[version] seen: i64,
    #[actor] who: &str,
) -> Result<Transition<()>, OrderError> {
    let _ = conn;
    Ok(().into())
}

fn main() {}
