//! Solidus, a shop in Ruby, at commit 1f5bf5c. Its machines are in `core/app/models/spree/core/state_machines/`.

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, Row, check};

/// Solidus, commit 1f5bf5c, `order/class_methods.rb`, with the steps of `checkout_flow` in
/// `core/app/models/spree/order.rb`: the checkout, and what follows it. An order that needs no payment skips that step.
const ORDER: Facts = Facts {
    states: &[
        "cart",
        "address",
        "delivery",
        "payment",
        "confirm",
        "complete",
        "canceled",
        "returned",
        "awaiting_return",
        "resumed",
    ],
    initial: &["cart"],
    edges: &[
        ("next", "cart", "address", ""),
        ("next", "address", "delivery", ""),
        ("next", "delivery", "payment", "payment_required"),
        ("next", "delivery", "confirm", ""),
        ("next", "payment", "confirm", ""),
        ("complete", "confirm", "complete", ""),
        ("cancel", "complete", "canceled", "allow_cancel"),
        ("return", "complete", "returned", "all_inventory_units_returned"),
        ("return", "awaiting_return", "returned", "all_inventory_units_returned"),
        ("resume", "canceled", "resumed", "canceled"),
        ("authorize_return", "complete", "awaiting_return", ""),
        ("payment_failed", "confirm", "payment", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, row = Row,
    initial = Cart,
    transitions(
        next: {
            Cart => Address,
            Address => Delivery,
            Delivery => Payment if Row::payment_required,
            Delivery => Confirm,
            Payment => Confirm,
        },
        complete: Confirm => Complete,
        cancel: Complete => Canceled if Row::allow_cancel,
        return: Complete | AwaitingReturn => Returned if Row::all_inventory_units_returned,
        resume: Canceled => Resumed if Row::canceled,
        authorize_return: Complete => AwaitingReturn,
        payment_failed: Confirm => Payment,
    )
)]
enum Order {
    Cart,
    Address,
    Delivery,
    Payment,
    Confirm,
    Complete,
    Canceled,
    Returned,
    AwaitingReturn,
    Resumed,
}

impl Row {
    fn payment_required(&self) -> bool {
        self.holds(0)
    }

    fn allow_cancel(&self) -> bool {
        self.holds(1)
    }

    fn all_inventory_units_returned(&self) -> bool {
        self.holds(2)
    }

    fn canceled(&self) -> bool {
        self.holds(3)
    }
}

/// Solidus, commit 1f5bf5c, `payment.rb`: a payment, which is processed anew when more is taken after it was completed.
const PAYMENT: Facts = Facts {
    states: &["checkout", "processing", "pending", "completed", "failed", "void", "invalid"],
    initial: &["checkout"],
    edges: &[
        ("started_processing", "checkout", "processing", ""),
        ("started_processing", "pending", "processing", ""),
        ("started_processing", "completed", "processing", ""),
        ("started_processing", "processing", "processing", ""),
        ("failure", "pending", "failed", ""),
        ("failure", "processing", "failed", ""),
        ("pend", "checkout", "pending", ""),
        ("pend", "processing", "pending", ""),
        ("complete", "processing", "completed", ""),
        ("complete", "pending", "completed", ""),
        ("complete", "checkout", "completed", ""),
        ("void", "pending", "void", ""),
        ("void", "processing", "void", ""),
        ("void", "completed", "void", ""),
        ("void", "checkout", "void", ""),
        ("invalidate", "checkout", "invalid", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Checkout,
    transitions(
        started_processing: Checkout | Pending | Completed | Processing => Processing,
        failure: Pending | Processing => Failed,
        pend: Checkout | Processing => Pending,
        complete: Processing | Pending | Checkout => Completed,
        void: Pending | Processing | Completed | Checkout => Void,
        invalidate: Checkout => Invalid,
    )
)]
enum Payment {
    Checkout,
    Processing,
    Pending,
    Completed,
    Failed,
    Void,
    Invalid,
}

/// Solidus, commit 1f5bf5c, `return_authorization.rb`: the permission to send something back.
const RETURN_AUTHORIZATION: Facts = Facts {
    states: &["authorized", "canceled"],
    initial: &["authorized"],
    edges: &[("cancel", "authorized", "canceled", "can_cancel_return_items")],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, row = Row,
    initial = Authorized,
    transitions(cancel: Authorized => Canceled if Row::can_cancel_return_items)
)]
enum ReturnAuthorization {
    Authorized,
    Canceled,
}

impl Row {
    fn can_cancel_return_items(&self) -> bool {
        self.holds(0)
    }
}

/// Solidus, commit 1f5bf5c, `reimbursement.rb`: what is given for what came back. It may fail many times.
const REIMBURSEMENT: Facts = Facts {
    states: &["pending", "errored", "reimbursed"],
    initial: &["pending"],
    edges: &[
        ("errored", "pending", "errored", ""),
        ("errored", "errored", "errored", ""),
        ("reimbursed", "pending", "reimbursed", ""),
        ("reimbursed", "errored", "reimbursed", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Pending,
    transitions(errored: Pending | Errored => Errored, reimbursed: Pending | Errored => Reimbursed)
)]
enum Reimbursement {
    Pending,
    Errored,
    Reimbursed,
}

/// Solidus, commit 1f5bf5c, `return_item/acceptance_status.rb`: whether what came back is taken, by rules or by hand.
const RETURN_ITEM_ACCEPTANCE: Facts = Facts {
    states: &["pending", "accepted", "manual_intervention_required", "rejected"],
    initial: &["pending"],
    edges: &[
        ("attempt_accept", "accepted", "accepted", ""),
        ("attempt_accept", "pending", "accepted", "eligible_for_return"),
        ("attempt_accept", "pending", "manual_intervention_required", "requires_manual_intervention"),
        ("attempt_accept", "pending", "rejected", ""),
        ("accept", "accepted", "accepted", ""),
        ("accept", "pending", "accepted", ""),
        ("accept", "manual_intervention_required", "accepted", ""),
        ("reject", "accepted", "rejected", ""),
        ("reject", "pending", "rejected", ""),
        ("reject", "manual_intervention_required", "rejected", ""),
        ("require_manual_intervention", "accepted", "manual_intervention_required", ""),
        ("require_manual_intervention", "pending", "manual_intervention_required", ""),
        ("require_manual_intervention", "manual_intervention_required", "manual_intervention_required", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, row = Row,
    initial = Pending,
    transitions(
        attempt_accept: {
            Accepted => Accepted,
            Pending => Accepted if Row::eligible_for_return,
            Pending => ManualInterventionRequired if Row::requires_manual_intervention,
            Pending => Rejected,
        },
        accept: Accepted | Pending | ManualInterventionRequired => Accepted,
        reject: Accepted | Pending | ManualInterventionRequired => Rejected,
        require_manual_intervention:
            Accepted | Pending | ManualInterventionRequired => ManualInterventionRequired,
    )
)]
enum ReturnItemAcceptance {
    Pending,
    Accepted,
    ManualInterventionRequired,
    Rejected,
}

impl Row {
    fn eligible_for_return(&self) -> bool {
        self.holds(0)
    }

    fn requires_manual_intervention(&self) -> bool {
        self.holds(1)
    }
}

#[tokio::test]
async fn an_order_does_what_solidus_says() {
    check::<Order>(&ORDER).await;
    assert_eq!(Order::r#return().name(), "return");
}

#[tokio::test]
async fn a_payment_does_what_solidus_says() {
    check::<Payment>(&PAYMENT).await;
}

#[tokio::test]
async fn a_return_authorization_does_what_solidus_says() {
    check::<ReturnAuthorization>(&RETURN_AUTHORIZATION).await;
}

#[tokio::test]
async fn a_reimbursement_does_what_solidus_says() {
    check::<Reimbursement>(&REIMBURSEMENT).await;
}

#[tokio::test]
async fn the_acceptance_of_a_returned_item_does_what_solidus_says() {
    check::<ReturnItemAcceptance>(&RETURN_ITEM_ACCEPTANCE).await;
}
