use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(
        "order/pay" as pay: Created => Paid,
        "order/settle" as pay: Created => Cancelled,
        "order/drop" as drop: Paid => Cancelled,
        "order/drop" as abort: Created => Cancelled,
    ),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
