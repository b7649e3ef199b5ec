use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    intial = Created, states = 3,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    #[state(initial)]
    Created,
    Paid,
}

fn main() {}
