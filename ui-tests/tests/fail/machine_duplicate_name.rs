use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid, cancel: any => Cancelled),
)]
enum OrderStatus {
    Created,
    #[state(alias = "created", alias = "paid")]
    Paid,
    #[state(name = "paid")]
    Cancelled,
}

fn main() {}
