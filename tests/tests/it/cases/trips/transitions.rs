//! Transitions of a machine with a history, beside the statements of one written by hand.

use std::sync::Arc;

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType};
use diesel_async::{AsyncConnection, RunQueryDsl};
use tests::wire::Wire;

use super::Row;
use super::database::{Database, NOW};
use super::machines::{Bench, Status, insert};

/// What the transitions cost; `None` if there is no server.
pub(crate) async fn transitions() -> Option<Vec<Row>> {
    let database = Arc::new(Database::fresh().await?);
    let (pool, wire) = database.counted().await;
    let bench = Bench::over(database, pool).await;
    of_transitions(&bench, &wire).await;
    Some(of_transitions(&bench, &wire).await)
}

async fn of_transitions(bench: &Bench, wire: &Wire) -> Vec<Row> {
    let conn = &mut *bench.conn().await;
    let [first, second, third] = [
        insert(conn, Some("created")).await.unwrap(),
        insert(conn, Some("created")).await.unwrap(),
        insert(conn, Some("created")).await.unwrap(),
    ];
    let update = format!(
        "UPDATE orders SET status = 'paid', version = version + 1, entered_at = {NOW} \
         WHERE id = ? AND status = 'created'"
    );
    let append =
        format!("INSERT INTO history (row_id, event, source, target, at) VALUES (?, 'pay', 'created', 'paid', {NOW})");
    let by_hand = conn.transaction(async |conn| {
        assert_eq!(ByHand { text: &update, id: first }.execute(conn).await?, 1);
        ByHand { text: &append, id: first }.execute(conn).await
    });
    let (by_hand, appended) = wire.of(by_hand).await;
    appended.unwrap();
    let (from_one, paid) = wire.of(Status::pay().of(second).execute(conn)).await;
    assert!(paid.unwrap().is_applied());
    let (from_several, cancelled) = wire.of(Status::cancel().of(third).execute(conn)).await;
    assert!(cancelled.unwrap().is_applied());
    vec![
        ("transition by hand", by_hand),
        ("transition from one state", from_one),
        ("transition from several states", from_several),
    ]
}

/// A statement about a row, with `?` for its id. It is kept prepared, as diesel's own updates are not.
struct ByHand<'t> {
    text: &'t str,
    id: i64,
}

impl<DB: Backend + HasSqlType<BigInt>> QueryFragment<DB> for ByHand<'_>
where
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        for (place, piece) in self.text.split('?').enumerate() {
            if place > 0 {
                pass.push_bind_param::<BigInt, _>(&self.id)?;
            }
            pass.push_sql(piece);
        }
        Ok(())
    }
}

impl QueryId for ByHand<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
