//! The ledger: one row for each order that was settled.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::Db;
use serde::Serialize;

use crate::order::Order;
use crate::schema::ledger;

/// A row of the ledger.
#[derive(Debug, Serialize, Queryable, Selectable)]
#[diesel(table_name = ledger)]
pub(crate) struct Entry {
    account: String,
    #[serde(rename = "order")]
    order_id: i64,
    amount: i64,
}

/// Books an order; a second row for the same order is refused by the database.
pub(crate) async fn book(conn: &mut Db, account: &str, order: &Order) -> QueryResult<()> {
    let row = (ledger::account.eq(account), ledger::order_id.eq(order.id), ledger::amount.eq(order.amount));
    diesel::insert_into(ledger::table).values(row).execute(conn).await.map(drop)
}

/// What was booked for an account.
pub(crate) async fn list(conn: &mut Db, account: &str) -> QueryResult<Vec<Entry>> {
    let own = ledger::table.filter(ledger::account.eq(account));
    own.order(ledger::order_id).select(Entry::as_select()).load(conn).await
}
