//! The machine of an order: which event moves it from where to where.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::Db;
use examples::problem::Problem;

use crate::history;
use crate::order::Order;
use crate::schema::orders;
use crate::status::Status;

/// What can happen to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A payment begins.
    Pay,
    /// The provider has charged.
    Confirm,
    /// The provider has refused.
    Decline,
    /// The order is called off.
    Cancel,
    /// The money is booked.
    Settle,
    /// The customer is told.
    Notify,
}

/// One line of the table below.
struct Edge {
    name: &'static str,
    sources: &'static [Status],
    target: Status,
    /// Where the event has nothing left to do.
    done: &'static [Status],
}

impl Event {
    const ALL: [Self; 6] = [Self::Pay, Self::Confirm, Self::Decline, Self::Cancel, Self::Settle, Self::Notify];

    const fn edge(self) -> Edge {
        use Status::{Cancelled, Created, Notified, Paid, Paying, Settled};
        match self {
            Self::Pay => Edge { name: "pay", sources: &[Created], target: Paying, done: &[Paid, Settled, Notified] },
            Self::Confirm => {
                Edge { name: "confirm", sources: &[Paying], target: Paid, done: &[Paid, Settled, Notified] }
            }
            Self::Decline => Edge { name: "decline", sources: &[Paying], target: Created, done: &[] },
            Self::Cancel => Edge { name: "cancel", sources: &[Created, Paid], target: Cancelled, done: &[Cancelled] },
            Self::Settle => Edge { name: "settle", sources: &[Paid], target: Settled, done: &[Settled, Notified] },
            Self::Notify => Edge { name: "notify", sources: &[Settled], target: Notified, done: &[Notified] },
        }
    }

    /// The names of the events that are possible in a state.
    fn possible_in(status: Status) -> Vec<&'static str> {
        let edges = Self::ALL.into_iter().map(Self::edge);
        edges.filter(|edge| edge.sources.contains(&status)).map(|edge| edge.name).collect()
    }
}

/// What came of an event.
#[derive(Debug)]
pub(crate) enum Transition {
    /// The order has moved, just now.
    Applied(Order),
    /// The order was there, or further on, before.
    AlreadyApplied(Order),
}

impl Transition {
    /// The order as it is now.
    pub(crate) fn order(self) -> Order {
        let (Self::Applied(order) | Self::AlreadyApplied(order)) = self;
        order
    }
}

/// Moves an order that is locked in the transaction of `conn`, and appends to its history.
///
/// The UPDATE is guarded by the state that was read under the lock, so the history has the state that was left.
pub(crate) async fn fire(conn: &mut Db, order: Order, event: Event) -> Result<Transition, Problem> {
    let edge = event.edge();
    if edge.done.contains(&order.status) {
        return Ok(Transition::AlreadyApplied(order));
    }
    if !edge.sources.contains(&order.status) {
        let needed = edge.sources.iter().map(|status| format!("`{}`", status.name())).collect::<Vec<_>>().join(" or ");
        return Err(conflict(&order, &format!("`{}` needs {needed}", edge.name)));
    }
    let unmoved = orders::table.filter(orders::id.eq(order.id)).filter(orders::status.eq(order.status.name()));
    let moved = diesel::update(unmoved)
        .set(orders::status.eq(edge.target.name()))
        .returning(Order::as_returning())
        .get_result(conn)
        .await?;
    history::append(conn, order.id, edge.name, Some(order.status), edge.target).await?;
    Ok(Transition::Applied(moved))
}

/// The answer to a request that an order's state does not permit: "order 42 is `cancelled`; `pay` needs `created`;
/// possible now: none".
pub(crate) fn conflict(order: &Order, rule: &str) -> Problem {
    let allowed = Event::possible_in(order.status);
    let possible = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
    let current = order.status.name();
    let message = format!("order {} is `{current}`; {rule}; possible now: {possible}", order.id);
    Problem::StateConflict { current, allowed, message }
}
