#[state_machine(
    table = crate::schema::orders,
    column = status, id = id,
    history = crate::schema::order_history, history_id = order_id,
    version = version, entered = entered_at, key = charge_key,
    initial = Created,
    terminal = Cancelled,
    expires(after = "30m", to = Cancelled, from = Created),
    transitions(
        pay:    Created => Paid,
        cancel: Created | Paid => Cancelled,
        touch:  Paid => Paid,
    ),
)]
pub enum OrderStatus {
    Created,
    #[state(name = "paid in full", alias = "paid", alias = "PAID")]
    Paid,
    Cancelled,
}
