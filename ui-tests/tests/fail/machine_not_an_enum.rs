use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(table = ui_tests::schema::orders, column = status, id = id)]
struct OrderStatus {
    status: &'static str,
}

fn main() {}
