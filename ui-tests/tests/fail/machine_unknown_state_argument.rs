use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    #[state(intial)]
    Created,
    #[state(terminal = true, name = paid, alias = "a", alias = "b", terminal, terminal, colour = "red")]
    Paid,
}

fn main() {}
