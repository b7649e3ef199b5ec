use ui_tests::StateMachine;

diesel::table! {
    flags (id) {
        id -> Bool,
        status -> Text,
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = flags, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
