//! Transactions of ours, begun and ended in one round trip each, with autocommit off in between.

use diesel::QueryResult;
use diesel::connection::{TransactionDepthChange, TransactionManagerStatus, ValidTransactionManagerStatus};

use super::texts::{COMMIT, ROLL_BACK, begin_sql, held_open};
use crate::claim::Claim;
use crate::store::Isolation;
use crate::store::wire::{Wire, depth, end_with};

/// Begins a transaction of ours, or a savepoint inside the caller's.
pub(super) async fn begin(conn: &mut impl Wire, isolation: Option<Isolation>) -> QueryResult<()> {
    match depth(conn)? {
        0 => begin_with(conn, &begin_sql(isolation)).await,
        _ => conn.begin().await,
    }
}

/// The same, unless an open transaction holds the row of a claim.
pub(super) async fn begin_unless_held(conn: &mut impl Wire, claim: &Claim, isolation: Isolation) -> QueryResult<()> {
    if depth(conn)? > 0 {
        return conn.begin().await;
    }
    let address = claim.address.parts().map(str::as_bytes);
    begin_with(conn, &(begin_sql(Some(isolation)) + &held_open(address))).await
}

/// Begins in one round trip, and tells diesel's transaction manager, so that transactions of the body are savepoints.
async fn begin_with(conn: &mut impl Wire, sql: &str) -> QueryResult<()> {
    conn.status().set_in_error();
    let begun = conn.batch(sql).await;
    if begun.is_err() {
        conn.batch(ROLL_BACK).await?;
    }
    *conn.status() = TransactionManagerStatus::default();
    begun?;
    let status = conn.status();
    if let TransactionManagerStatus::Valid(valid) = status {
        ValidTransactionManagerStatus::change_transaction_depth(valid, TransactionDepthChange::IncreaseDepth)?;
    }
    Ok(())
}

/// Commits the innermost transaction; an error says that it has ended otherwise, or cannot end so.
pub(super) async fn commit(conn: &mut impl Wire) -> QueryResult<()> {
    if depth(conn)? != 1 {
        return conn.commit().await;
    }
    end_with(conn, COMMIT, ROLL_BACK).await
}

pub(super) async fn roll_back(conn: &mut impl Wire) -> QueryResult<()> {
    if depth(conn)? != 1 {
        return conn.roll_back().await;
    }
    end_with(conn, ROLL_BACK, ROLL_BACK).await
}

/// Rolls back until the connection is as deep as it was. What the server has rolled back by itself has no savepoints
/// left to go back to: then the whole of our transaction is ended at once.
pub(super) async fn roll_back_to(conn: &mut impl Wire, base: u32) -> QueryResult<()> {
    if base == 0 && depth(conn).is_ok_and(|depth| depth == 0) {
        return Ok(());
    }
    if base == 0 {
        return end_with(conn, ROLL_BACK, ROLL_BACK).await;
    }
    while depth(conn)? > base {
        conn.roll_back().await?;
    }
    Ok(())
}
