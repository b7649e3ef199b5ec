//! Vendure, a shop in TypeScript, at commit 1633446: the processes that it has unless a shop brings its own. Its edges
//! have no names; each is called for where it leads.

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, check};

/// Vendure, commit 1633446, `packages/core/src/config/payment/default-payment-process.ts`: a payment.
const PAYMENT: Facts = Facts {
    states: &["Created", "Authorized", "Settled", "Declined", "Error", "Cancelled"],
    initial: &["Created"],
    edges: &[
        ("to_Authorized", "Created", "Authorized", ""),
        ("to_Settled", "Created", "Settled", ""),
        ("to_Declined", "Created", "Declined", ""),
        ("to_Error", "Created", "Error", ""),
        ("to_Cancelled", "Created", "Cancelled", ""),
        ("to_Settled", "Authorized", "Settled", ""),
        ("to_Error", "Authorized", "Error", ""),
        ("to_Cancelled", "Authorized", "Cancelled", ""),
        ("to_Cancelled", "Settled", "Cancelled", ""),
        ("to_Cancelled", "Declined", "Cancelled", ""),
        ("to_Cancelled", "Error", "Cancelled", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "PascalCase",
    initial = Created,
    transitions(
        Created => Authorized,
        Created | Authorized => Settled,
        Created => Declined,
        Created | Authorized => Error,
        any => Cancelled,
    )
)]
enum Payment {
    Created,
    Authorized,
    Settled,
    Declined,
    Error,
    Cancelled,
}

/// Vendure, commit 1633446, `packages/core/src/config/fulfillment/default-fulfillment-process.ts`: what is sent of an
/// order.
const FULFILLMENT: Facts = Facts {
    states: &["Created", "Pending", "Shipped", "Delivered", "Cancelled"],
    initial: &["Created"],
    edges: &[
        ("to_Pending", "Created", "Pending", ""),
        ("to_Shipped", "Pending", "Shipped", ""),
        ("to_Delivered", "Pending", "Delivered", ""),
        ("to_Cancelled", "Pending", "Cancelled", ""),
        ("to_Delivered", "Shipped", "Delivered", ""),
        ("to_Cancelled", "Shipped", "Cancelled", ""),
        ("to_Cancelled", "Delivered", "Cancelled", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "PascalCase",
    initial = Created,
    transitions(
        Created => Pending,
        Pending => Shipped,
        Pending | Shipped => Delivered,
        any - Created => Cancelled,
    )
)]
enum Fulfillment {
    Created,
    Pending,
    Shipped,
    Delivered,
    Cancelled,
}

/// Vendure, commit 1633446, `packages/core/src/config/refund/default-refund-process.ts`: money that goes back.
const REFUND: Facts = Facts {
    states: &["Pending", "Settled", "Failed"],
    initial: &["Pending"],
    edges: &[("to_Settled", "Pending", "Settled", ""), ("to_Failed", "Pending", "Failed", "")],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "PascalCase",
    initial = Pending,
    transitions(Pending => Settled, Pending => Failed)
)]
enum Refund {
    Pending,
    Settled,
    Failed,
}

#[tokio::test]
async fn a_payment_does_what_vendure_says() {
    check::<Payment>(&PAYMENT).await;
}

#[tokio::test]
async fn a_fulfillment_does_what_vendure_says() {
    check::<Fulfillment>(&FULFILLMENT).await;
}

#[tokio::test]
async fn a_refund_does_what_vendure_says() {
    check::<Refund>(&REFUND).await;
}
