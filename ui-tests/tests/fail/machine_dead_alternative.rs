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
    row = Order, initial = Cart,
    transitions(
        next: {
            Cart => Confirm,
            Cart => Payment if Order::needs_payment,
            Payment => Confirm,
            Payment => Cart,
        },
    ),
)]
enum OrderStatus {
    Cart,
    Payment,
    Confirm,
}

fn main() {}
