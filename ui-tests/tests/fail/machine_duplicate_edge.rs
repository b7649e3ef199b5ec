use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(
        pay: Created => Paid,
        cancel: { Created | Paid => Cancelled, any => Cancelled },
        Paid => Created,
        Created | Paid => Created,
    ),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
