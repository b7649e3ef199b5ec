use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    expires(after = "30m", to = Cancelled),
    transitions(pay: Created => Paid, Created => Cancelled),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
