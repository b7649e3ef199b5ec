use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(authorize: { Created => Paid | Failed, Created => Cancelled }),
)]
enum OrderStatus {
    Created,
    Paid,
    Failed,
    Cancelled,
}

fn main() {}
