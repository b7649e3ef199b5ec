//! State machines: what only `PostgreSQL` can do to a transition.

use std::sync::Arc;

use diesel_async::SimpleAsyncConnection;
use idempotent_runtime::{TransitionError, transaction};
use tokio::sync::Barrier;

use super::cases::machines::{Bench, Status};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_taken_in_opposite_order_are_retryable_and_never_a_conflict() {
    let Some(bench) = Bench::new().await else { return };
    let (a, b) = (bench.row("created").await, bench.row("created").await);
    let barrier = Arc::new(Barrier::new(2));
    let taking = [[a, b], [b, a]].map(|[first, second]| {
        let (pool, barrier) = (bench.pool.clone(), Arc::clone(&barrier));
        tokio::spawn(async move {
            transaction(&mut *pool.get().await.unwrap(), async |conn| {
                let _ = Status::pay().of(first).execute(conn).await?;
                barrier.wait().await;
                Status::pay().of(second).execute(conn).await
            })
            .await
        })
    });
    let [one, other] = taking;
    let answers = [one.await.unwrap(), other.await.unwrap()];
    let retryable = answers.iter().filter(|answer| matches!(answer, Err(TransitionError::Retryable(_)))).count();
    let applied = answers.iter().filter(|answer| matches!(answer, Ok(fired) if fired.is_applied())).count();
    assert_eq!((retryable, applied), (1, 1), "{answers:?}");
}

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
