//! Spree, a shop in Ruby, at commit cee28a2.

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, check};

/// Spree, commit cee28a2, `spree/core/app/models/concerns/spree/payment_session_transitions.rb`: a customer's way through
/// the pages of whoever takes the money. Its updates name the states that they leave; who changes no row has lost.
const PAYMENT_SESSION: Facts = Facts {
    states: &["pending", "processing", "completed", "failed", "canceled", "expired"],
    initial: &["pending"],
    edges: &[
        ("process", "pending", "processing", ""),
        ("complete", "pending", "completed", ""),
        ("complete", "processing", "completed", ""),
        ("fail", "pending", "failed", ""),
        ("fail", "processing", "failed", ""),
        ("cancel", "pending", "canceled", ""),
        ("cancel", "processing", "canceled", ""),
        ("expire", "pending", "expired", ""),
        ("expire", "processing", "expired", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Pending,
    transitions(
        process: Pending => Processing,
        complete: Pending | Processing => Completed,
        fail: Pending | Processing => Failed,
        cancel: Pending | Processing => Canceled,
        expire: Pending | Processing => Expired,
    )
)]
enum PaymentSession {
    Pending,
    Processing,
    Completed,
    Failed,
    Canceled,
    Expired,
}

#[tokio::test]
async fn a_payment_session_does_what_spree_says() {
    check::<PaymentSession>(&PAYMENT_SESSION).await;
}
