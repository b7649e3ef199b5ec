use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(
        pay: Created -> Paid,
        cancel Created => Cancelled,
        drop: OrderStatus::Paid => Cancelled,
        stop: Created => ,
        fail: {},
        lose: Created => Cancelled Paid,
        5,
        Created,
    ),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {
    let _ = (OrderStatus::pay(), OrderStatus::drop(), OrderStatus::stop());
}
