use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(Created => Paid | Cancelled),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
