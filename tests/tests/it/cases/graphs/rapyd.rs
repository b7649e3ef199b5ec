//! Rapyd, a payment service, by its documentation.

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, check};

/// Rapyd, docs.rapyd.net, the diagram of an order and the nine rows of its table. It names the states, and not what leads
/// from one to the other: the events are called so here.
const ORDER: Facts = Facts {
    states: &["created", "pending", "paid", "fulfilled", "canceled", "partial", "returned"],
    initial: &["created"],
    edges: &[
        ("pay_requested", "created", "pending", ""),
        ("paid", "pending", "paid", ""),
        ("fulfil", "paid", "fulfilled", ""),
        ("cancel", "pending", "canceled", ""),
        ("part_deliver", "paid", "partial", ""),
        ("fulfil", "partial", "fulfilled", ""),
        ("return_part", "partial", "returned", ""),
        ("return_full", "fulfilled", "returned", ""),
        ("cancel_returned", "returned", "canceled", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Created,
    transitions(
        pay_requested: Created => Pending,
        paid: Pending => Paid,
        fulfil: Paid | Partial => Fulfilled,
        cancel: Pending => Canceled,
        part_deliver: Paid => Partial,
        return_part: Partial => Returned,
        return_full: Fulfilled => Returned,
        cancel_returned: Returned => Canceled,
    )
)]
enum Order {
    Created,
    Pending,
    Paid,
    Fulfilled,
    Canceled,
    Partial,
    Returned,
}

#[tokio::test]
async fn an_order_does_what_rapyd_says() {
    check::<Order>(&ORDER).await;
}
