use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    history_id = order_id, initial = Created,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
