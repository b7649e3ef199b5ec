use ui_tests::StateMachine;

struct Order {
    total: i64,
}

impl Order {
    fn needs_payment(&self) -> bool {
        self.total > 0
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    row = Order, initial = Created,
    transitions(pay: { Created => Paid if |order: &Order| order.total > 0, Created => Cancelled if !Order::needs_payment }),
)]
enum OrderStatus {
    Created,
    Paid,
    Cancelled,
}

fn main() {}
