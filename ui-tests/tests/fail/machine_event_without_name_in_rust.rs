use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(
        "OP_PAY/SUCCESS": Created => Paid,
        self: Paid => Created,
        Paid: Paid => Cancelled,
    ),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
