//! Nothing to complain of under every lint.
#![deny(warnings, clippy::all, clippy::pedantic)]

use ui_tests::{StateMachine, schema};

/// Where an order is.
#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = schema::orders,
    column = status, id = id,
    history = schema::order_history, history_id = order_id,
    version = version, entered = entered_at, key = charge_key,
    initial = Created,
    terminal = Refunded,
    expires(after = "30m", to = Expired),
    transitions(
        pay: Created => Paid,
        cancel: Created | Paid => Cancelled,
        abort: any - Paid - Cancelled => Cancelled,
        touch: Paid => Paid,
        refund: Paid | Cancelled => Refunded,
        Created => Expired,
    ),
)]
pub enum OrderStatus {
    /// Not paid yet.
    Created,
    /// Paid for.
    #[state(name = "paid in full", alias = "paid", alias = "PAID")]
    Paid,
    /// Given up.
    Cancelled,
    /// Paid back.
    Refunded,
    /// Forgotten.
    Expired,
}

/// What a guard looks at.
#[derive(Debug)]
struct Checkout {
    total: i64,
}

impl Checkout {
    fn needs_payment(&self) -> bool {
        self.total > 0
    }
}

fn is_free(checkout: &Checkout) -> bool {
    checkout.total == 0
}

/// The steps of a checkout, with names that lints look at.
#[derive(StateMachine, Debug, Clone, PartialEq, Eq)]
#[state_machine(
    table = schema::orders, column = status, id = id,
    row = Checkout,
    rename_all = "SCREAMING_SNAKE_CASE",
    transitions(
        new: Cart => Delivery,
        next: {
            Delivery => Payment if Checkout::needs_payment,
            Delivery => Confirm if is_free,
            Payment => Confirm,
        },
        from_str: Confirm => Success | Failed,
        to_owned: Failed => Cart,
        "OP_VOID/SUCCESS" as VOID: Success => Failed,
        Success => HTTPError,
        return: any => Cart,
    ),
)]
enum Step {
    #[state(initial)]
    Cart,
    Delivery,
    Payment,
    Confirm,
    Success,
    Failed,
    HTTPError,
    #[state(external)]
    Disputed,
    #[state(other)]
    Unknown(String),
}

fn main() {
    assert_eq!(OrderStatus::Paid.to_string(), "paid in full");
    assert_eq!("PAID".parse(), Ok(OrderStatus::Paid));
    assert_eq!(OrderStatus::GRAPH.edges.len(), 9);
    assert_eq!(
        OrderStatus::GRAPH.expiry.as_ref().map(|expiry| (expiry.after_ms, expiry.from)),
        Some((1_800_000, &[0][..]))
    );
    assert_eq!(OrderStatus::to_expired().name(), "to_expired");

    let other: Step = "lost".parse().unwrap_or(Step::Cart);
    assert_eq!(other, Step::Unknown("lost".into()));
    assert_eq!(other.name(), "lost");
    assert_eq!(Step::HTTPError.name(), "HTTP_ERROR");
    assert_eq!(Step::VOID().name(), "OP_VOID/SUCCESS");
    assert_eq!(Step::r#return().name(), "return");
    assert_eq!(Step::to_HTTP_ERROR().name(), "to_HTTP_ERROR");
    let guards: Vec<_> = Step::GRAPH.edges.iter().filter_map(|edge| edge.guard).collect();
    assert_eq!(guards, ["Checkout::needs_payment", "is_free"]);
    let passes = |edge, total| Step::passes(edge, &Checkout { total });
    assert!(passes(0, 0) && passes(1, 5) && !passes(1, 0) && passes(2, 0) && !passes(2, 5));
    let chosen: Vec<_> = Step::GRAPH.edges.iter().map(|edge| edge.chosen).collect();
    assert_eq!(
        chosen,
        [false, false, false, false, true, true, false, false, false, false, false, false, false, false, false, false]
    );
}
