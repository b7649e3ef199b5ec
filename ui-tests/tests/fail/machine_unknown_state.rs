use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Creatd,
    terminal = Canceled,
    transitions(pay: Created | Cart => Payed, drop: any - Pain => Cancelled, keep: any | Paid => Created),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {
    let _ = (OrderStatus::pay(), OrderStatus::drop());
}
