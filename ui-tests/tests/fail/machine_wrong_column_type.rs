use ui_tests::StateMachine;

diesel::table! {
    orders (id) {
        id -> BigInt,
        status -> Integer,
        version -> Text,
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, version = version,
    initial = Created,
    transitions(pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
