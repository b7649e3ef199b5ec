//! Sylius, a shop in PHP, at commit 3466cba: the machines of an order, its payments and its parcels. Each is a file in
//! `src/Sylius/Bundle/CoreBundle/Resources/config/app/workflow/`.

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, check};

/// Sylius, commit 3466cba, `sylius_order.yaml`: the order itself, from the cart on.
const ORDER: Facts = Facts {
    states: &["cart", "new", "cancelled", "fulfilled"],
    initial: &["cart"],
    edges: &[("create", "cart", "new", ""), ("cancel", "new", "cancelled", ""), ("fulfill", "new", "fulfilled", "")],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Cart,
    transitions(create: Cart => New, cancel: New => Cancelled, fulfill: New => Fulfilled)
)]
enum Order {
    Cart,
    New,
    Cancelled,
    Fulfilled,
}

/// Sylius, commit 3466cba, `sylius_order_payment.yaml`: how much of an order is paid, over all of its payments. A second
/// part of the money is an event of its own, though the state stays.
const ORDER_PAYMENT: Facts = Facts {
    states: &[
        "cart",
        "awaiting_payment",
        "partially_authorized",
        "authorized",
        "cancelled",
        "partially_paid",
        "paid",
        "partially_refunded",
        "refunded",
    ],
    initial: &["cart"],
    edges: &[
        ("request_payment", "cart", "awaiting_payment", ""),
        ("partially_authorize", "awaiting_payment", "partially_authorized", ""),
        ("partially_authorize", "partially_authorized", "partially_authorized", ""),
        ("authorize", "awaiting_payment", "authorized", ""),
        ("authorize", "partially_authorized", "authorized", ""),
        ("cancel", "awaiting_payment", "cancelled", ""),
        ("cancel", "authorized", "cancelled", ""),
        ("cancel", "partially_authorized", "cancelled", ""),
        ("partially_pay", "awaiting_payment", "partially_paid", ""),
        ("partially_pay", "partially_paid", "partially_paid", ""),
        ("partially_pay", "partially_authorized", "partially_paid", ""),
        ("pay", "awaiting_payment", "paid", ""),
        ("pay", "partially_paid", "paid", ""),
        ("pay", "authorized", "paid", ""),
        ("partially_refund", "paid", "partially_refunded", ""),
        ("partially_refund", "partially_paid", "partially_refunded", ""),
        ("partially_refund", "partially_refunded", "partially_refunded", ""),
        ("refund", "paid", "refunded", ""),
        ("refund", "partially_paid", "refunded", ""),
        ("refund", "partially_refunded", "refunded", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Cart,
    transitions(
        request_payment: Cart => AwaitingPayment,
        partially_authorize: AwaitingPayment | PartiallyAuthorized => PartiallyAuthorized,
        authorize: AwaitingPayment | PartiallyAuthorized => Authorized,
        cancel: AwaitingPayment | Authorized | PartiallyAuthorized => Cancelled,
        partially_pay: AwaitingPayment | PartiallyPaid | PartiallyAuthorized => PartiallyPaid,
        pay: AwaitingPayment | PartiallyPaid | Authorized => Paid,
        partially_refund: Paid | PartiallyPaid | PartiallyRefunded => PartiallyRefunded,
        refund: Paid | PartiallyPaid | PartiallyRefunded => Refunded,
    )
)]
enum OrderPayment {
    Cart,
    AwaitingPayment,
    PartiallyAuthorized,
    Authorized,
    Cancelled,
    PartiallyPaid,
    Paid,
    PartiallyRefunded,
    Refunded,
}

/// Sylius, commit 3466cba, `sylius_order_shipping.yaml`: how much of an order is on its way.
const ORDER_SHIPPING: Facts = Facts {
    states: &["cart", "ready", "cancelled", "partially_shipped", "shipped"],
    initial: &["cart"],
    edges: &[
        ("request_shipping", "cart", "ready", ""),
        ("cancel", "ready", "cancelled", ""),
        ("partially_ship", "ready", "partially_shipped", ""),
        ("ship", "ready", "shipped", ""),
        ("ship", "partially_shipped", "shipped", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Cart,
    transitions(
        request_shipping: Cart => Ready,
        cancel: Ready => Cancelled,
        partially_ship: Ready => PartiallyShipped,
        ship: Ready | PartiallyShipped => Shipped,
    )
)]
enum OrderShipping {
    Cart,
    Ready,
    Cancelled,
    PartiallyShipped,
    Shipped,
}

/// Sylius, commit 3466cba, `sylius_payment.yaml`: one payment.
const PAYMENT: Facts = Facts {
    states: &["cart", "new", "processing", "authorized", "completed", "failed", "cancelled", "refunded"],
    initial: &["cart"],
    edges: &[
        ("create", "cart", "new", ""),
        ("process", "new", "processing", ""),
        ("authorize", "new", "authorized", ""),
        ("authorize", "processing", "authorized", ""),
        ("complete", "new", "completed", ""),
        ("complete", "processing", "completed", ""),
        ("complete", "authorized", "completed", ""),
        ("fail", "new", "failed", ""),
        ("fail", "processing", "failed", ""),
        ("fail", "authorized", "failed", ""),
        ("cancel", "new", "cancelled", ""),
        ("cancel", "processing", "cancelled", ""),
        ("cancel", "authorized", "cancelled", ""),
        ("refund", "completed", "refunded", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Cart,
    transitions(
        create: Cart => New,
        process: New => Processing,
        authorize: New | Processing => Authorized,
        complete: New | Processing | Authorized => Completed,
        fail: New | Processing | Authorized => Failed,
        cancel: New | Processing | Authorized => Cancelled,
        refund: Completed => Refunded,
    )
)]
enum Payment {
    Cart,
    New,
    Processing,
    Authorized,
    Completed,
    Failed,
    Cancelled,
    Refunded,
}

/// Sylius, commit 3466cba, `sylius_shipment.yaml`: one parcel.
const SHIPMENT: Facts = Facts {
    states: &["cart", "ready", "shipped", "cancelled"],
    initial: &["cart"],
    edges: &[("create", "cart", "ready", ""), ("ship", "ready", "shipped", ""), ("cancel", "ready", "cancelled", "")],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Cart,
    transitions(create: Cart => Ready, ship: Ready => Shipped, cancel: Ready => Cancelled)
)]
enum Shipment {
    Cart,
    Ready,
    Shipped,
    Cancelled,
}

/// Sylius, commit 3466cba, `sylius_payment_request.yaml`: one call to whoever takes the money.
const PAYMENT_REQUEST: Facts = Facts {
    states: &["new", "processing", "completed", "failed", "cancelled"],
    initial: &["new"],
    edges: &[
        ("process", "new", "processing", ""),
        ("complete", "new", "completed", ""),
        ("complete", "processing", "completed", ""),
        ("fail", "new", "failed", ""),
        ("fail", "processing", "failed", ""),
        ("cancel", "new", "cancelled", ""),
        ("cancel", "processing", "cancelled", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = New,
    transitions(
        process: New => Processing,
        complete: New | Processing => Completed,
        fail: New | Processing => Failed,
        cancel: New | Processing => Cancelled,
    )
)]
enum PaymentRequest {
    New,
    Processing,
    Completed,
    Failed,
    Cancelled,
}

#[tokio::test]
async fn an_order_does_what_sylius_says() {
    check::<Order>(&ORDER).await;
}

#[tokio::test]
async fn the_payment_of_an_order_does_what_sylius_says() {
    check::<OrderPayment>(&ORDER_PAYMENT).await;
}

#[tokio::test]
async fn the_shipping_of_an_order_does_what_sylius_says() {
    check::<OrderShipping>(&ORDER_SHIPPING).await;
}

#[tokio::test]
async fn a_payment_does_what_sylius_says() {
    check::<Payment>(&PAYMENT).await;
}

#[tokio::test]
async fn a_shipment_does_what_sylius_says() {
    check::<Shipment>(&SHIPMENT).await;
}

#[tokio::test]
async fn a_payment_request_does_what_sylius_says() {
    check::<PaymentRequest>(&PAYMENT_REQUEST).await;
}
