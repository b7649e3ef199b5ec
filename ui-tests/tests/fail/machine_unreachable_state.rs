use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid, refund: Disputed => Refunded),
)]
enum OrderStatus {
    Created,
    Paid,
    Disputed,
    Refunded,
}

fn main() {}
