//! Kill Bill, a billing system in Java, at commit cb60779. One file has a machine for each operation on a payment:
//! `payment/src/main/resources/org/killbill/billing/payment/PaymentStates.xml`. An event is an operation with its result.

#![allow(clippy::enum_variant_names, reason = "the states are stored with the name of their machine")]

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, check};

/// Kill Bill, commit cb60779, `PaymentStates.xml`: an amount is reserved.
const AUTHORIZE: Facts = Facts {
    states: &["AUTH_INIT", "AUTH_SUCCESS", "AUTH_FAILED", "AUTH_PENDING", "AUTH_ERRORED"],
    initial: &["AUTH_INIT"],
    edges: &[
        ("OP_AUTHORIZE/SUCCESS", "AUTH_INIT", "AUTH_SUCCESS", ""),
        ("OP_AUTHORIZE/FAILURE", "AUTH_INIT", "AUTH_FAILED", ""),
        ("OP_AUTHORIZE/PENDING", "AUTH_INIT", "AUTH_PENDING", ""),
        ("OP_AUTHORIZE/EXCEPTION", "AUTH_INIT", "AUTH_ERRORED", ""),
        ("OP_AUTHORIZE/SUCCESS", "AUTH_PENDING", "AUTH_SUCCESS", ""),
        ("OP_AUTHORIZE/FAILURE", "AUTH_PENDING", "AUTH_FAILED", ""),
        ("OP_AUTHORIZE/EXCEPTION", "AUTH_PENDING", "AUTH_ERRORED", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "SCREAMING_SNAKE_CASE",
    initial = AuthInit,
    transitions(
        "OP_AUTHORIZE/SUCCESS" as success: AuthInit | AuthPending => AuthSuccess,
        "OP_AUTHORIZE/FAILURE" as failure: AuthInit | AuthPending => AuthFailed,
        "OP_AUTHORIZE/PENDING" as pending: AuthInit => AuthPending,
        "OP_AUTHORIZE/EXCEPTION" as exception: AuthInit | AuthPending => AuthErrored,
    )
)]
enum Authorize {
    AuthInit,
    AuthSuccess,
    AuthFailed,
    AuthPending,
    AuthErrored,
}

/// Kill Bill, commit cb60779, `PaymentStates.xml`: what was reserved is taken.
const CAPTURE: Facts = Facts {
    states: &["CAPTURE_INIT", "CAPTURE_SUCCESS", "CAPTURE_FAILED", "CAPTURE_PENDING", "CAPTURE_ERRORED"],
    initial: &["CAPTURE_INIT"],
    edges: &[
        ("OP_CAPTURE/SUCCESS", "CAPTURE_INIT", "CAPTURE_SUCCESS", ""),
        ("OP_CAPTURE/FAILURE", "CAPTURE_INIT", "CAPTURE_FAILED", ""),
        ("OP_CAPTURE/PENDING", "CAPTURE_INIT", "CAPTURE_PENDING", ""),
        ("OP_CAPTURE/EXCEPTION", "CAPTURE_INIT", "CAPTURE_ERRORED", ""),
        ("OP_CAPTURE/SUCCESS", "CAPTURE_PENDING", "CAPTURE_SUCCESS", ""),
        ("OP_CAPTURE/FAILURE", "CAPTURE_PENDING", "CAPTURE_FAILED", ""),
        ("OP_CAPTURE/EXCEPTION", "CAPTURE_PENDING", "CAPTURE_ERRORED", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "SCREAMING_SNAKE_CASE",
    initial = CaptureInit,
    transitions(
        "OP_CAPTURE/SUCCESS" as success: CaptureInit | CapturePending => CaptureSuccess,
        "OP_CAPTURE/FAILURE" as failure: CaptureInit | CapturePending => CaptureFailed,
        "OP_CAPTURE/PENDING" as pending: CaptureInit => CapturePending,
        "OP_CAPTURE/EXCEPTION" as exception: CaptureInit | CapturePending => CaptureErrored,
    )
)]
enum Capture {
    CaptureInit,
    CaptureSuccess,
    CaptureFailed,
    CapturePending,
    CaptureErrored,
}

/// Kill Bill, commit cb60779, `PaymentStates.xml`: an amount is reserved and taken at once.
const PURCHASE: Facts = Facts {
    states: &["PURCHASE_INIT", "PURCHASE_SUCCESS", "PURCHASE_FAILED", "PURCHASE_PENDING", "PURCHASE_ERRORED"],
    initial: &["PURCHASE_INIT"],
    edges: &[
        ("OP_PURCHASE/SUCCESS", "PURCHASE_INIT", "PURCHASE_SUCCESS", ""),
        ("OP_PURCHASE/FAILURE", "PURCHASE_INIT", "PURCHASE_FAILED", ""),
        ("OP_PURCHASE/PENDING", "PURCHASE_INIT", "PURCHASE_PENDING", ""),
        ("OP_PURCHASE/EXCEPTION", "PURCHASE_INIT", "PURCHASE_ERRORED", ""),
        ("OP_PURCHASE/SUCCESS", "PURCHASE_PENDING", "PURCHASE_SUCCESS", ""),
        ("OP_PURCHASE/FAILURE", "PURCHASE_PENDING", "PURCHASE_FAILED", ""),
        ("OP_PURCHASE/EXCEPTION", "PURCHASE_PENDING", "PURCHASE_ERRORED", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "SCREAMING_SNAKE_CASE",
    initial = PurchaseInit,
    transitions(
        "OP_PURCHASE/SUCCESS" as success: PurchaseInit | PurchasePending => PurchaseSuccess,
        "OP_PURCHASE/FAILURE" as failure: PurchaseInit | PurchasePending => PurchaseFailed,
        "OP_PURCHASE/PENDING" as pending: PurchaseInit => PurchasePending,
        "OP_PURCHASE/EXCEPTION" as exception: PurchaseInit | PurchasePending => PurchaseErrored,
    )
)]
enum Purchase {
    PurchaseInit,
    PurchaseSuccess,
    PurchaseFailed,
    PurchasePending,
    PurchaseErrored,
}

/// Kill Bill, commit cb60779, `PaymentStates.xml`: what was taken goes back.
const REFUND: Facts = Facts {
    states: &["REFUND_INIT", "REFUND_SUCCESS", "REFUND_FAILED", "REFUND_PENDING", "REFUND_ERRORED"],
    initial: &["REFUND_INIT"],
    edges: &[
        ("OP_REFUND/SUCCESS", "REFUND_INIT", "REFUND_SUCCESS", ""),
        ("OP_REFUND/FAILURE", "REFUND_INIT", "REFUND_FAILED", ""),
        ("OP_REFUND/PENDING", "REFUND_INIT", "REFUND_PENDING", ""),
        ("OP_REFUND/EXCEPTION", "REFUND_INIT", "REFUND_ERRORED", ""),
        ("OP_REFUND/SUCCESS", "REFUND_PENDING", "REFUND_SUCCESS", ""),
        ("OP_REFUND/FAILURE", "REFUND_PENDING", "REFUND_FAILED", ""),
        ("OP_REFUND/EXCEPTION", "REFUND_PENDING", "REFUND_ERRORED", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "SCREAMING_SNAKE_CASE",
    initial = RefundInit,
    transitions(
        "OP_REFUND/SUCCESS" as success: RefundInit | RefundPending => RefundSuccess,
        "OP_REFUND/FAILURE" as failure: RefundInit | RefundPending => RefundFailed,
        "OP_REFUND/PENDING" as pending: RefundInit => RefundPending,
        "OP_REFUND/EXCEPTION" as exception: RefundInit | RefundPending => RefundErrored,
    )
)]
enum Refund {
    RefundInit,
    RefundSuccess,
    RefundFailed,
    RefundPending,
    RefundErrored,
}

/// Kill Bill, commit cb60779, `PaymentStates.xml`: an amount is given that was never taken.
const CREDIT: Facts = Facts {
    states: &["CREDIT_INIT", "CREDIT_SUCCESS", "CREDIT_FAILED", "CREDIT_PENDING", "CREDIT_ERRORED"],
    initial: &["CREDIT_INIT"],
    edges: &[
        ("OP_CREDIT/SUCCESS", "CREDIT_INIT", "CREDIT_SUCCESS", ""),
        ("OP_CREDIT/FAILURE", "CREDIT_INIT", "CREDIT_FAILED", ""),
        ("OP_CREDIT/PENDING", "CREDIT_INIT", "CREDIT_PENDING", ""),
        ("OP_CREDIT/EXCEPTION", "CREDIT_INIT", "CREDIT_ERRORED", ""),
        ("OP_CREDIT/SUCCESS", "CREDIT_PENDING", "CREDIT_SUCCESS", ""),
        ("OP_CREDIT/FAILURE", "CREDIT_PENDING", "CREDIT_FAILED", ""),
        ("OP_CREDIT/EXCEPTION", "CREDIT_PENDING", "CREDIT_ERRORED", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "SCREAMING_SNAKE_CASE",
    initial = CreditInit,
    transitions(
        "OP_CREDIT/SUCCESS" as success: CreditInit | CreditPending => CreditSuccess,
        "OP_CREDIT/FAILURE" as failure: CreditInit | CreditPending => CreditFailed,
        "OP_CREDIT/PENDING" as pending: CreditInit => CreditPending,
        "OP_CREDIT/EXCEPTION" as exception: CreditInit | CreditPending => CreditErrored,
    )
)]
enum Credit {
    CreditInit,
    CreditSuccess,
    CreditFailed,
    CreditPending,
    CreditErrored,
}

/// Kill Bill, commit cb60779, `PaymentStates.xml`: what was reserved is let go.
const VOID: Facts = Facts {
    states: &["VOID_INIT", "VOID_SUCCESS", "VOID_FAILED", "VOID_PENDING", "VOID_ERRORED"],
    initial: &["VOID_INIT"],
    edges: &[
        ("OP_VOID/SUCCESS", "VOID_INIT", "VOID_SUCCESS", ""),
        ("OP_VOID/FAILURE", "VOID_INIT", "VOID_FAILED", ""),
        ("OP_VOID/PENDING", "VOID_INIT", "VOID_PENDING", ""),
        ("OP_VOID/EXCEPTION", "VOID_INIT", "VOID_ERRORED", ""),
        ("OP_VOID/SUCCESS", "VOID_PENDING", "VOID_SUCCESS", ""),
        ("OP_VOID/FAILURE", "VOID_PENDING", "VOID_FAILED", ""),
        ("OP_VOID/EXCEPTION", "VOID_PENDING", "VOID_ERRORED", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "SCREAMING_SNAKE_CASE",
    initial = VoidInit,
    transitions(
        "OP_VOID/SUCCESS" as success: VoidInit | VoidPending => VoidSuccess,
        "OP_VOID/FAILURE" as failure: VoidInit | VoidPending => VoidFailed,
        "OP_VOID/PENDING" as pending: VoidInit => VoidPending,
        "OP_VOID/EXCEPTION" as exception: VoidInit | VoidPending => VoidErrored,
    )
)]
enum Void {
    VoidInit,
    VoidSuccess,
    VoidFailed,
    VoidPending,
    VoidErrored,
}

/// Kill Bill, commit cb60779, `PaymentStates.xml`: the bank takes it back; it is told, so that nothing is pending.
const CHARGEBACK: Facts = Facts {
    states: &["CHARGEBACK_INIT", "CHARGEBACK_SUCCESS", "CHARGEBACK_FAILED", "CHARGEBACK_ERRORED"],
    initial: &["CHARGEBACK_INIT"],
    edges: &[
        ("OP_CHARGEBACK/SUCCESS", "CHARGEBACK_INIT", "CHARGEBACK_SUCCESS", ""),
        ("OP_CHARGEBACK/FAILURE", "CHARGEBACK_INIT", "CHARGEBACK_FAILED", ""),
        ("OP_CHARGEBACK/EXCEPTION", "CHARGEBACK_INIT", "CHARGEBACK_ERRORED", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, rename_all = "SCREAMING_SNAKE_CASE",
    initial = ChargebackInit,
    transitions(
        "OP_CHARGEBACK/SUCCESS" as success: ChargebackInit => ChargebackSuccess,
        "OP_CHARGEBACK/FAILURE" as failure: ChargebackInit => ChargebackFailed,
        "OP_CHARGEBACK/EXCEPTION" as exception: ChargebackInit => ChargebackErrored,
    )
)]
enum Chargeback {
    ChargebackInit,
    ChargebackSuccess,
    ChargebackFailed,
    ChargebackErrored,
}

#[tokio::test]
async fn an_authorization_does_what_kill_bill_says() {
    check::<Authorize>(&AUTHORIZE).await;
    assert_eq!(Authorize::success().name(), "OP_AUTHORIZE/SUCCESS");
}

#[tokio::test]
async fn a_capture_does_what_kill_bill_says() {
    check::<Capture>(&CAPTURE).await;
}

#[tokio::test]
async fn a_purchase_does_what_kill_bill_says() {
    check::<Purchase>(&PURCHASE).await;
}

#[tokio::test]
async fn a_refund_does_what_kill_bill_says() {
    check::<Refund>(&REFUND).await;
}

#[tokio::test]
async fn a_credit_does_what_kill_bill_says() {
    check::<Credit>(&CREDIT).await;
}

#[tokio::test]
async fn a_void_does_what_kill_bill_says() {
    check::<Void>(&VOID).await;
}

#[tokio::test]
async fn a_chargeback_does_what_kill_bill_says() {
    check::<Chargeback>(&CHARGEBACK).await;
}
