//! State machines: what only `PostgreSQL` can do to a transition.

use diesel_async::SimpleAsyncConnection;
use idempotent_runtime::TransitionError;

use super::cases::machines::{Bench, Status};

#[tokio::test]
async fn a_snapshot_that_is_older_than_the_row_is_retryable_and_never_decides() {
    let Some(bench) = Bench::new().await else { return };
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        for event in [Status::pay(), Status::cancel(), Status::settle()] {
            let id = bench.row("created").await;
            let conn = &mut *bench.conn().await;
            conn.batch_execute(&format!("BEGIN ISOLATION LEVEL {level}; SELECT * FROM orders")).await.unwrap();
            assert!(Status::pay().of(id).execute(&mut *bench.conn().await).await.unwrap().is_applied());
            // The snapshot still shows `created`.
            let fired = inside(conn, event, id).await;
            assert!(matches!(fired, Err(TransitionError::Retryable(_))), "{level}: {fired:?}");
            conn.batch_execute("ROLLBACK").await.unwrap();
        }
    }
}

/// Fires on a connection whose transaction diesel does not know of.
async fn inside(
    conn: &mut super::database::Db,
    event: idempotent_runtime::EventOf<Status>,
    id: i64,
) -> super::cases::machines::Fired {
    use diesel_async::{AnsiTransactionManager, TransactionManager};
    let status = AnsiTransactionManager::transaction_manager_status_mut(conn);
    let depth = diesel::connection::TransactionDepthChange::IncreaseDepth;
    if let diesel::connection::TransactionManagerStatus::Valid(status) = status {
        status.change_transaction_depth(depth).unwrap();
    }
    let fired = event.of(id).execute(conn).await;
    let status = AnsiTransactionManager::transaction_manager_status_mut(conn);
    if let diesel::connection::TransactionManagerStatus::Valid(status) = status {
        status.change_transaction_depth(diesel::connection::TransactionDepthChange::DecreaseDepth).unwrap();
    }
    fired
}
