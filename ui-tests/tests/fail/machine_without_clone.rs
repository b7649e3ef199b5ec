use ui_tests::StateMachine;

#[derive(StateMachine, Debug)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
