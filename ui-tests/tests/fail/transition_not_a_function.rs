use ui_tests::*;

#[state_transition(machine = OrderStatus, event = pay)]
struct Pay;

fn main() {}
