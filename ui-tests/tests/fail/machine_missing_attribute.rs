use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
