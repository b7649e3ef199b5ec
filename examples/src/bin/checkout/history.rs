//! What happened to orders: what the machine has written down.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::Db;

use crate::schema::checkout_history;

/// One thing that happened.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = checkout_history)]
pub(crate) struct HistoryRow {
    pub(crate) order_id: i64,
    pub(crate) event: String,
    pub(crate) target: String,
    /// By the database's clock, in milliseconds since the epoch.
    pub(crate) at: i64,
}

impl HistoryRow {
    /// What happened to these orders, to each from its beginning.
    pub(crate) async fn list(conn: &mut Db, orders: &[i64]) -> QueryResult<Vec<Self>> {
        let rows = checkout_history::table.filter(checkout_history::order_id.eq_any(orders));
        rows.order(checkout_history::id).select(Self::as_select()).load(conn).await
    }

    /// The time of the day, in UTC: `14:05:09`.
    pub(crate) fn time(&self) -> String {
        let seconds = self.at.div_euclid(1_000).rem_euclid(86_400);
        format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }
}
