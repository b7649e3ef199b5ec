use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid, lose: Paid => Unknown),
)]
enum OrderStatus {
    Created,
    Paid,
    #[state(other, initial, alias = "x")]
    Unknown(String),
    #[state(other)]
    Stranger(String),
}

fn main() {}
