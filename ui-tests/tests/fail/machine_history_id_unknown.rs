use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    history = ui_tests::schema::order_history, history_id = orderid, initial = Created,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
