//! The machine of an order: where it can be, and which event moves it from where to where. The page has a button for
//! each event that is possible.

use idempotent_runtime::StateMachine;

/// The states of an order.
#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = crate::schema::checkout_orders, column = status, id = id,
    history = crate::schema::checkout_history, history_id = order_id,
    initial = Created,
    transitions(
        pay:    Created => Paid,
        ship:   Paid => Shipped,
        cancel: Created | Paid => Cancelled,
    )
)]
pub(crate) enum OrderStatus {
    Created,
    Paid,
    Shipped,
    Cancelled,
}
