use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created, terminal = Paid,
    transitions(pay: any => Paid, reset: any - Created => Created),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
