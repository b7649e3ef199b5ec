use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, colum = status, id = id,
    initial = Created,
    expires(after = "0m", to = Expired),
    transitions(
        pay: Created => Payed,
        cancel: Created => Cancelled,
        cancel: Paid => Cancelled,
        expire: Created => Expired if Order::is_old,
    ),
)]
enum OrderStatus {
    Created,
    Paid,
    #[state(name = "paid")]
    Cancelled,
    Expired,
}

fn main() {
    let _ = (OrderStatus::pay(), OrderStatus::cancel(), OrderStatus::expire());
    let _: Result<OrderStatus, _> = "paid".parse();
}
