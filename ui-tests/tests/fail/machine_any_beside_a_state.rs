use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid, cancel: any - Cancelled | Paid => Cancelled, stop: Paid - Created => Cancelled),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
