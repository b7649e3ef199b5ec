//! State machines: what only `SQLite` can do to a transition.

use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use idempotent_runtime::TransitionError;

use super::cases::machines::schema::orders;
use super::cases::machines::{Bench, Status};

#[tokio::test]
async fn a_deferred_transaction_that_has_read_an_older_state_is_retryable_and_never_decides() {
    let Some(bench) = Bench::new().await else { return };
    for event in [Status::pay(), Status::cancel(), Status::settle()] {
        let id = bench.row("created").await;
        let conn = &mut *bench.conn().await;
        let fired = conn
            .transaction(async |conn| {
                // A reading transaction from here on.
                let _: i64 = orders::table.count().get_result(conn).await?;
                assert!(Status::pay().of(id).execute(&mut *bench.conn().await).await?.is_applied());
                event.of(id).execute(conn).await
            })
            .await;
        assert!(matches!(fired, Err(TransitionError::Retryable(_))), "{fired:?}");
    }
}
