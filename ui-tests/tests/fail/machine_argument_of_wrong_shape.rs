use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    initial = [Created], row = 5, rename_all = snake_case, history = "order_history",
    version, entered =, key = orders::charge_key, terminal(Paid),
    transitions = (pay: Created => Paid),
)]
enum OrderStatus {
    Created,
    Paid,
}

fn main() {}
