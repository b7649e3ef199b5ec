use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created, terminal = Cancelled,
    transitions(pay: Created => Paid, reopen: Created | Cancelled => Created, stay: Cancelled => Cancelled, cancel: any => Cancelled),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
