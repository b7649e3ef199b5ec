use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    Paid(i64),
    #[state(external)]
    Refunded { amount: i64 },
}

fn main() {
    let _ = OrderStatus::pay();
}
