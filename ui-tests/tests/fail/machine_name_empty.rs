use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions("" as pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    #[state(name = "", alias = "")]
    Paid,
}

fn main() {}
