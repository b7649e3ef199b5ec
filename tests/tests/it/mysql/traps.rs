//! What only `MySQL` and `MariaDB` do to a transaction.

use std::sync::Arc;

use axum::response::IntoResponse;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{TransitionError, transaction};
use tokio::sync::Barrier;

use super::cases::app::{Service, insert, key};
use super::cases::machines::{Bench, Status};
use super::database::Db;

/// Two transactions that update two rows in opposite order; the server ends one of them, and rolls it back.
async fn deadlock(conn: &mut Db, first: i64, second: i64, barrier: &Barrier) -> Result<(), diesel::result::Error> {
    diesel::sql_query(format!("UPDATE pairs SET n = n + 1 WHERE id = {first}")).execute(conn).await?;
    barrier.wait().await;
    diesel::sql_query(format!("UPDATE pairs SET n = n + 1 WHERE id = {second}")).execute(conn).await.map(drop)
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

async fn number(conn: &mut Db, sql: &str) -> i64 {
    diesel::sql_query(sql).get_result::<Number>(conn).await.unwrap().n
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i83_nothing_survives_of_a_handler_that_swallows_a_deadlock_and_goes_on_writing() {
    let Some(service) = Service::new().await else { return };
    service
        .sql("CREATE TABLE pairs (id BIGINT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO pairs VALUES (1, 0), (2, 0)")
        .await;
    let barrier = Arc::new(Barrier::new(2));
    let service = service.on_tx({
        let barrier = Arc::clone(&barrier);
        move |conn, _| {
            let barrier = Arc::clone(&barrier);
            async move {
                insert(conn, "before").await;
                let _ = deadlock(conn, 1, 2, &barrier).await;
                // In autocommit by now, if nobody took care.
                insert(conn, "after").await;
                StatusCode::CREATED.into_response()
            }
            .boxed()
        }
    });
    let service = Arc::new(service);
    let other = {
        let service = Arc::clone(&service);
        let barrier = Arc::clone(&barrier);
        tokio::spawn(async move {
            let conn = &mut *service.conn().await;
            // The heavier transaction, so that the server ends the handler's.
            conn.batch_execute("SET autocommit = 0; START TRANSACTION").await.unwrap();
            for n in 0..200 {
                diesel::sql_query(format!("INSERT INTO pairs VALUES ({}, 0)", n + 10)).execute(conn).await.unwrap();
            }
            deadlock(conn, 2, 1, &barrier).await.unwrap();
            conn.batch_execute("COMMIT; SET autocommit = 1").await.unwrap();
            // The handler runs once more, and needs a partner.
            barrier.wait().await;
        })
    };
    assert_eq!(service.post("/tx", &key(), "x").await.status, 201);
    other.await.unwrap();
    assert_eq!(service.effects().await, ["before", "after"]);
}

#[tokio::test]
async fn a_connection_goes_back_to_its_pool_in_autocommit() {
    let Some(service) = Service::with(1, |builder| builder).await else { return };
    let service = service.on_tx(|conn, body| {
        async move {
            insert(conn, "effect").await;
            match &*body {
                b"refused" => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
                b"failed" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
                _ => StatusCode::CREATED.into_response(),
            }
        }
        .boxed()
    });
    for body in ["done", "refused", "failed"] {
        service.post("/tx", &key(), body).await;
        let conn = &mut *service.conn().await;
        assert_eq!(number(conn, "SELECT CAST(@@autocommit AS SIGNED) AS n").await, 1, "{body}");
    }
    for undone in [false, true] {
        let conn = &mut *service.conn().await;
        let done: Result<(), diesel::result::Error> = transaction(conn, async |conn| {
            insert(conn, "more").await;
            if undone { Err(diesel::result::Error::RollbackTransaction) } else { Ok(()) }
        })
        .await;
        assert_eq!(done.is_err(), undone);
        assert_eq!(number(conn, "SELECT CAST(@@autocommit AS SIGNED) AS n").await, 1);
    }
    assert_eq!(service.effects().await, ["effect", "more"]);
}

#[derive(QueryableByName)]
struct Stored {
    #[diesel(sql_type = Text)]
    status: String,
}

/// After a guarded update has hit no row, a plain read of the same transaction still shows the old state: only a locking
/// read tells the truth.
#[tokio::test]
async fn a_snapshot_that_is_older_than_the_row_does_not_decide() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    let fired = transaction(conn, async |conn| {
        // The snapshot begins here, under REPEATABLE READ.
        assert_eq!(number(conn, "SELECT COUNT(*) AS n FROM orders").await, 1);
        for event in [Status::pay(), Status::settle()] {
            assert!(event.of(id).execute(&mut *bench.conn().await).await?.is_applied());
        }
        let seen = diesel::sql_query(format!("SELECT status FROM orders WHERE id = {id}"));
        assert_eq!(seen.get_result::<Stored>(conn).await?.status, "created");
        Status::pay().of(id).execute(conn).await
    })
    .await;
    let Err(TransitionError::Conflict { actual, passed, .. }) = fired else { panic!("{fired:?}") };
    assert_eq!((actual.as_str(), passed), ("settled", true));
}
