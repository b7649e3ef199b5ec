use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state(initial)]
#[state_machine(table = ui_tests::schema::orders, column = status, id = id, initial = Created, transitions(pay: Created => Paid))]
enum OrderStatus {
    Created,
    #[state_machine(terminal)]
    Paid,
}

fn main() {}
