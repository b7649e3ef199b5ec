use ui_tests::StateMachine;

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = ui_tests::schema::orders, column = status, id = id,
    entered = entered_at, initial = Created,
    expires(after = "30m", to = Expired, from = Created | Paid | Created),
    transitions(pay: Created => Paid, Created => Expired),
)]
enum OrderStatus {
    Created,
    Paid,
    Expired,
}

fn main() {}
