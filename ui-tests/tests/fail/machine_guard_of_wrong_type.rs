use ui_tests::StateMachine;

struct Order {
    total: i64,
}

impl Order {
    fn total(&self) -> i64 {
        self.total
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    row = Order, initial = Created,
    transitions(pay: Created => Paid if Order::total),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
