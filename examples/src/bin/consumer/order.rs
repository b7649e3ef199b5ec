//! What is known of an order: where it is, and what was booked for it.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::Db;
use idempotent_runtime::StateMachine;

use crate::event::Event;
use crate::schema::{inbox_ledger as ledger, inbox_orders as orders};

/// Where an order can be. No event moves it back, in whatever order the events arrive.
#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = crate::schema::inbox_orders, column = status, id = id,
    history = crate::schema::inbox_order_history, history_id = order_id,
    initial = Placed,
    transitions(
        pay:    Placed => Paid,
        refund: Paid => Refunded,
    )
)]
pub(crate) enum OrderStatus {
    Placed,
    Paid,
    Refunded,
}

/// The amount of an order, if there is one.
pub(crate) async fn amount(conn: &mut Db, id: i64) -> QueryResult<Option<i64>> {
    orders::table.find(id).select(orders::amount).first(conn).await.optional()
}

/// Writes a new order.
pub(crate) async fn insert(conn: &mut Db, event: &Event) -> QueryResult<()> {
    let row =
        (orders::id.eq(event.order), orders::amount.eq(event.amount.units()), orders::status.eq(OrderStatus::Placed));
    diesel::insert_into(orders::table).values(row).execute(conn).await.map(drop)
}

/// Books money that came or went. Nothing in the table keeps an event from being booked twice: the inbox does.
pub(crate) async fn book(conn: &mut Db, event: &Event, amount: i64) -> QueryResult<()> {
    let row = (ledger::order_id.eq(event.order), ledger::event_id.eq(event.id.as_str()), ledger::amount.eq(amount));
    diesel::insert_into(ledger::table).values(row).execute(conn).await.map(drop)
}
