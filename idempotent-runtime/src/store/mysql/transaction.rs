//! Transactions of ours, begun and ended in one round trip each, with autocommit off in between.

use diesel::QueryResult;
use diesel::connection::{TransactionDepthChange, TransactionManagerStatus, ValidTransactionManagerStatus};
use diesel_async::{SimpleAsyncConnection, TransactionManager};

use super::texts::{COMMIT, ROLL_BACK, begin_sql, held_open};
use super::{Conn, Manager};
use crate::claim::{Address, Claim};
use crate::store::{Isolation, depth};

/// Begins a transaction of ours, or a savepoint inside the caller's.
pub(super) async fn begin(conn: &mut Conn, isolation: Option<Isolation>) -> QueryResult<()> {
    match depth(conn)? {
        0 => begin_with(conn, &begin_sql(isolation)).await,
        _ => Manager::begin_transaction(conn).await,
    }
}

/// The same, unless an open transaction holds the row of a claim.
pub(super) async fn begin_unless_held(conn: &mut Conn, claim: &Claim, isolation: Isolation) -> QueryResult<()> {
    if depth(conn)? > 0 {
        return Manager::begin_transaction(conn).await;
    }
    let Address { namespace, operation, scope, key } = &claim.address;
    let address = [namespace.as_bytes(), operation.as_bytes(), scope.as_bytes(), key.as_str().as_bytes()];
    begin_with(conn, &(begin_sql(Some(isolation)) + &held_open(address))).await
}

/// Begins in one round trip, and tells diesel's transaction manager, so that transactions of the body are savepoints.
async fn begin_with(conn: &mut Conn, sql: &str) -> QueryResult<()> {
    Manager::transaction_manager_status_mut(conn).set_in_error();
    let begun = conn.batch_execute(sql).await;
    if begun.is_err() {
        conn.batch_execute(ROLL_BACK).await?;
    }
    *Manager::transaction_manager_status_mut(conn) = TransactionManagerStatus::default();
    begun?;
    let status = Manager::transaction_manager_status_mut(conn);
    if let TransactionManagerStatus::Valid(valid) = status {
        ValidTransactionManagerStatus::change_transaction_depth(valid, TransactionDepthChange::IncreaseDepth)?;
    }
    Ok(())
}

/// Commits the innermost transaction; an error says that it has ended otherwise, or cannot end so.
pub(super) async fn commit(conn: &mut Conn) -> QueryResult<()> {
    if depth(conn)? != 1 {
        return Manager::commit_transaction(conn).await;
    }
    end_with(conn, COMMIT).await
}

pub(super) async fn roll_back(conn: &mut Conn) -> QueryResult<()> {
    if depth(conn)? != 1 {
        return Manager::rollback_transaction(conn).await;
    }
    end_with(conn, ROLL_BACK).await
}

/// Ends the outermost transaction in one round trip. Where that fails it is rolled back; where that fails too, the
/// connection is one that its pool discards.
async fn end_with(conn: &mut Conn, sql: &str) -> QueryResult<()> {
    Manager::transaction_manager_status_mut(conn).set_in_error();
    let ended = conn.batch_execute(sql).await;
    if ended.is_err() {
        conn.batch_execute(ROLL_BACK).await?;
    }
    *Manager::transaction_manager_status_mut(conn) = TransactionManagerStatus::default();
    ended
}

/// Rolls back until the connection is as deep as it was. What the server has rolled back by itself has no savepoints
/// left to go back to: then the whole of our transaction is ended at once.
pub(super) async fn roll_back_to(conn: &mut Conn, base: u32) -> QueryResult<()> {
    if base == 0 && depth(conn).is_ok_and(|depth| depth == 0) {
        return Ok(());
    }
    if base == 0 {
        return end_with(conn, ROLL_BACK).await;
    }
    while depth(conn)? > base {
        Manager::rollback_transaction(conn).await?;
    }
    Ok(())
}
