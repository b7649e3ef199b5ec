//! The machine of an order: where it can be, and which event moves it from where to where.

use idempotent_runtime::StateMachine;

/// The states of an order.
#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = crate::schema::orders, column = status, id = id,
    history = crate::schema::order_history, history_id = order_id,
    initial = Created,
    transitions(
        pay:     Created => Paying,
        confirm: Paying => Paid,
        decline: Paying => Created,
        cancel:  Created | Paid => Cancelled,
        settle:  Paid => Settled,
        notify:  Settled => Notified,
    )
)]
pub(crate) enum OrderStatus {
    Created,
    Paying,
    Paid,
    Cancelled,
    Settled,
    Notified,
}

impl OrderStatus {
    /// Whether the money has come, and is still ours.
    pub(crate) fn is_paid(self) -> bool {
        matches!(self, Self::Paid | Self::Settled | Self::Notified)
    }
}
