//! Medusa, a shop in TypeScript, at commit 59e6747.

use idempotent_runtime::StateMachine;

use super::schema::{history, orders};
use super::{Facts, check};

/// Medusa, commit 59e6747, `packages/modules/order/src/services/order-module-service.ts`: an order, as its service lets
/// it be changed. What is canceled is canceled once more for the asking, and nothing there leads to `requires_action`.
const ORDER: Facts = Facts {
    states: &["pending", "completed", "draft", "archived", "canceled", "requires_action"],
    initial: &["pending", "draft"],
    edges: &[
        ("archive", "completed", "archived", ""),
        ("archive", "canceled", "archived", ""),
        ("archive", "draft", "archived", ""),
        ("complete", "pending", "completed", ""),
        ("complete", "draft", "completed", ""),
        ("complete", "completed", "completed", ""),
        ("complete", "archived", "completed", ""),
        ("complete", "requires_action", "completed", ""),
        ("cancel", "pending", "canceled", ""),
        ("cancel", "draft", "canceled", ""),
        ("cancel", "completed", "canceled", ""),
        ("cancel", "archived", "canceled", ""),
        ("cancel", "requires_action", "canceled", ""),
        ("cancel", "canceled", "canceled", ""),
    ],
};

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = orders, column = status, id = id, history = history,
    initial = Pending | Draft,
    transitions(
        archive: Completed | Canceled | Draft => Archived,
        complete: { any - Canceled => Completed, Completed => Completed },
        cancel: { any => Canceled, Canceled => Canceled },
    )
)]
enum Order {
    Pending,
    Completed,
    Draft,
    Archived,
    Canceled,
    #[state(external)]
    RequiresAction,
}

#[tokio::test]
async fn an_order_does_what_medusa_says() {
    check::<Order>(&ORDER).await;
}
