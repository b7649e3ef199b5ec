use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
