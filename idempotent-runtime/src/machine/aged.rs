//! Rows that have been in a state for long, and what ends by itself.

use std::time::Duration;

use super::ask::{Ask, Sources};
use super::error::TransitionError;
use super::firing::{Session, driver};
use super::many::FireMany;
use super::row::LoadRow;
use super::row_id::RowName;
use super::sql::Sql;
use super::{IdType, StateMachine};
use crate::connection::Connection;

/// A row that has been in its state for long.
///
/// ```
/// # use idempotent_runtime::{StateMachine, TransitionError, doc::{OrderStatus, Sqlite as Db}};
/// # async fn list(conn: &mut Db) -> Result<(), TransitionError> {
/// let hour = std::time::Duration::from_secs(3_600);
/// for stuck in OrderStatus::Created.for_at_least(hour, 100, conn).await? {
///     println!("order {} since {:?}", stuck.id, stuck.age);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aged {
    /// Its id, as text.
    pub id: String,
    /// The key of the work that is under way, in a `via` state.
    pub key: Option<String>,
    /// For how long it has been there.
    pub age: Duration,
}

/// The rows in one of these states for at least `age`, the oldest first.
pub(crate) async fn aged<M: StateMachine, C: Connection>(
    from: &[&str],
    age: Duration,
    limit: u32,
    conn: &mut C,
) -> Result<Vec<Aged>, TransitionError> {
    let sql = Sql::of::<M>(driver::<C>().database());
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let Some(aged) = sql.aged(from, age, i64::from(limit)) else { return Ok(Vec::new()) };
    let rows = Session { conn, sql: &sql }.rows(aged).await?;
    let read = |(id, _, _, key, age): (Option<String>, _, _, _, Option<i64>)| {
        let age = Duration::from_millis(u64::try_from(age.unwrap_or(0)).unwrap_or(0));
        Some(Aged { id: id?, key, age })
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

/// Ends what is to end by itself: at most `limit` rows, in one transaction; says how many. Rows that moved on since they
/// were looked for are left alone.
pub(crate) async fn expire<M, C>(limit: u32, conn: &mut C) -> Result<usize, TransitionError>
where
    M: StateMachine<Row: LoadRow<C>>,
    C: Connection,
{
    let graph = M::GRAPH;
    let Some(expiry) = &graph.expiry else { return Ok(0) };
    let from: Vec<&str> = expiry.from.iter().flat_map(|state| graph.stored_names(*state)).collect();
    let age = Duration::from_millis(expiry.after_ms.unsigned_abs());
    let rows = aged::<M, C>(&from, age, limit, conn).await?;
    let ids: Vec<Named> = rows.iter().filter_map(|row| M::IdType::named(&row.id).map(Named)).collect();
    if ids.is_empty() {
        return Ok(0);
    }
    let ask = Ask { event: None, from: Sources::At(expiry.from), to: &[] };
    let expired = FireMany::<M, Named>::new(ask, ids).aged(expiry.to, expiry.after_ms).run(conn).await?;
    Ok(expired.moved.len())
}

/// The name of a row that was read.
#[derive(Debug, Clone)]
pub(crate) struct Named(RowName);

impl<ST> super::RowId<ST> for Named {
    fn row_name(&self) -> RowName {
        self.0.clone()
    }
}
