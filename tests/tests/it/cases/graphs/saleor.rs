//! Saleor, a shop in Python, at commit 723cd4e.

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, OUTCOME, Row, check};

/// Saleor, commit 723cd4e, `saleor/order/__init__.py`, `models.py`, `utils.py`, `tasks.py` and the mutations beside them:
/// an order. What is sent and what comes back is counted after each change, and the count says what the order is; one of
/// the names that are stored has a space where its like have an underscore.
const ORDER: Facts = Facts {
    states: &[
        "draft",
        "unconfirmed",
        "unfulfilled",
        "partially fulfilled",
        "fulfilled",
        "partially_returned",
        "returned",
        "canceled",
        "expired",
    ],
    initial: &["draft", "unconfirmed", "unfulfilled"],
    edges: &[
        ("draft_order_complete", "draft", "unfulfilled", "auto_confirm_on"),
        ("draft_order_complete", "draft", "unconfirmed", "auto_confirm_off"),
        ("order_confirm", "unconfirmed", "unfulfilled", ""),
        ("expire", "unconfirmed", "expired", "overdue_and_unpaid"),
        ("cancel", "unconfirmed", "canceled", "every_fulfilment_closed"),
        ("cancel", "unfulfilled", "canceled", "every_fulfilment_closed"),
        ("cancel", "partially fulfilled", "canceled", "every_fulfilment_closed"),
        ("cancel", "fulfilled", "canceled", "every_fulfilment_closed"),
        ("cancel", "partially_returned", "canceled", "every_fulfilment_closed"),
        ("cancel", "returned", "canceled", "every_fulfilment_closed"),
        ("recalculate", "unfulfilled", "partially fulfilled", OUTCOME),
        ("recalculate", "unfulfilled", "fulfilled", OUTCOME),
        ("recalculate", "unfulfilled", "partially_returned", OUTCOME),
        ("recalculate", "unfulfilled", "returned", OUTCOME),
        ("recalculate", "partially fulfilled", "unfulfilled", OUTCOME),
        ("recalculate", "partially fulfilled", "fulfilled", OUTCOME),
        ("recalculate", "partially fulfilled", "partially_returned", OUTCOME),
        ("recalculate", "partially fulfilled", "returned", OUTCOME),
        ("recalculate", "fulfilled", "unfulfilled", OUTCOME),
        ("recalculate", "fulfilled", "partially fulfilled", OUTCOME),
        ("recalculate", "fulfilled", "partially_returned", OUTCOME),
        ("recalculate", "fulfilled", "returned", OUTCOME),
        ("recalculate", "partially_returned", "unfulfilled", OUTCOME),
        ("recalculate", "partially_returned", "partially fulfilled", OUTCOME),
        ("recalculate", "partially_returned", "fulfilled", OUTCOME),
        ("recalculate", "partially_returned", "returned", OUTCOME),
        ("recalculate", "returned", "unfulfilled", OUTCOME),
        ("recalculate", "returned", "partially fulfilled", OUTCOME),
        ("recalculate", "returned", "fulfilled", OUTCOME),
        ("recalculate", "returned", "partially_returned", OUTCOME),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history, row = Row,
    initial = Draft | Unconfirmed | Unfulfilled,
    transitions(
        draft_order_complete: {
            Draft => Unfulfilled if Row::auto_confirm_on,
            Draft => Unconfirmed if Row::auto_confirm_off,
        },
        order_confirm: Unconfirmed => Unfulfilled,
        expire: Unconfirmed => Expired if Row::overdue_and_unpaid,
        cancel: any - Draft - Expired => Canceled if Row::every_fulfilment_closed,
        recalculate: any - Draft - Unconfirmed - Canceled - Expired =>
            Unfulfilled | PartiallyFulfilled | Fulfilled | PartiallyReturned | Returned,
    )
)]
enum Order {
    Draft,
    Unconfirmed,
    Unfulfilled,
    #[state(name = "partially fulfilled")]
    PartiallyFulfilled,
    Fulfilled,
    PartiallyReturned,
    Returned,
    Canceled,
    Expired,
}

impl Row {
    fn auto_confirm_on(&self) -> bool {
        self.holds(0)
    }

    fn auto_confirm_off(&self) -> bool {
        self.holds(1)
    }

    fn overdue_and_unpaid(&self) -> bool {
        self.holds(2)
    }

    fn every_fulfilment_closed(&self) -> bool {
        self.holds(3)
    }
}

#[tokio::test]
async fn an_order_does_what_saleor_says() {
    check::<Order>(&ORDER).await;
}
