use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = Created,
    transitions(
        to_paid: Created => Paid,
        Cancelled => Paid,
        Created => Cancelled,
        Paid => On_Hold,
        Created => OnHold,
    ),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
    OnHold,
    #[state(name = "on-hold")]
    On_Hold,
}

fn main() {}
