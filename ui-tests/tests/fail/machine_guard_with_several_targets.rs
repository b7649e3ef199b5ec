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
    transitions(authorize: Created => Paid | Failed if Order::needs_payment),
)]
enum OrderStatus {
    Created,
    Paid,
    Failed,
}

fn main() {}
