//! What happened to an order: what the machine has written down, as we show it.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::Db;
use serde::Serialize;

use crate::schema::order_history;

/// One thing that happened. The first row of an order, its birth, comes from no state.
#[derive(Debug, Serialize, Queryable, Selectable)]
#[diesel(table_name = order_history)]
pub(crate) struct HistoryRow {
    event: String,
    #[serde(rename = "from")]
    source: Option<String>,
    #[serde(rename = "to")]
    target: String,
    /// By the database's clock, in milliseconds since the epoch.
    at: i64,
}

/// The history of an order, from its beginning.
pub(crate) async fn list(conn: &mut Db, order: i64) -> QueryResult<Vec<HistoryRow>> {
    let rows = order_history::table.filter(order_history::order_id.eq(order));
    rows.order(order_history::id).select(HistoryRow::as_select()).load(conn).await
}
