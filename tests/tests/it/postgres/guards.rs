//! The ends of transactions that PostgreSQL alone has: an end row where the lock did not keep others out, and a COMMIT
//! that answers Ok and rolls back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::State;
use axum::response::IntoResponse;
use diesel::prelude::*;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{Isolation, StatementCache, idempotent};

use super::cases::app::{App, Service, effects, insert, key, post, read};
use super::database::Db;

/// Nobody took the lock: a service of another version, say, that knows none. `stood`: whether there was a record before,
/// of which nothing is left to keep.
async fn lose_a_race(cache: StatementCache, answer: StatusCode, stood: bool) {
    let Some(service) = Service::with(8, |builder| builder.statement_cache(cache)).await else { return };
    let (pool, key) = (service.app.pool.clone(), key());
    let record = |expires_at: i64| {
        format!(
            "INSERT INTO idempotency_keys (namespace, operation, scope, key, fingerprint, owner, token, attempts, \
             created_at, state, held, lease_until, expires_at) \
             VALUES ('', '', 'everybody', '{key}', '', '', 1, 1, 0, 1, 0, 0, {expires_at}) \
             ON CONFLICT (namespace, operation, scope, key) DO UPDATE SET expires_at = excluded.expires_at"
        )
    };
    if stood {
        service.sql(&record(1)).await;
    }
    let theirs = record(9_000_000_000_000_000_000);
    let service = service.on_tx(move |conn, _| {
        let (pool, theirs) = (pool.clone(), theirs.clone());
        async move {
            insert(conn, "ours").await;
            pool.get().await.unwrap().batch_execute(&theirs).await.unwrap();
            answer.into_response()
        }
        .boxed()
    });
    service.post("/tx", &key, "order").await.expect(409, "idempotency_key_reused");
    assert_eq!((service.effects().await.len(), service.runs(), service.records().await), (0, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_transaction_that_cannot_write_its_record_writes_nothing() {
    for cache in [StatementCache::On, StatementCache::Off] {
        for answer in [StatusCode::CREATED, StatusCode::UNPROCESSABLE_ENTITY] {
            for stood in [false, true] {
                lose_a_race(cache, answer, stood).await;
            }
        }
    }
}

/// Stores nothing, so that its transaction ends without a record.
#[idempotent(key = header, ttl = "1h", store = |_| false, engine = app.engine)]
async fn unkept(State(app): State<App>, #[tx] conn: &mut Db) -> StatusCode {
    swallow_an_error(conn).await;
    StatusCode::OK
}

async fn swallow_an_error(conn: &mut Db) {
    insert(conn, "lost").await;
    let _ = conn.batch_execute("SELECT * FROM no_such_table").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_success_that_cannot_be_committed_is_no_success() {
    for cache in [StatementCache::On, StatementCache::Off] {
        let Some(service) = Service::with(8, |builder| builder.statement_cache(cache)).await else { return };
        let service = service.on_tx(|conn, _| {
            async move {
                swallow_an_error(conn).await;
                StatusCode::OK.into_response()
            }
            .boxed()
        });
        // Without a key, and so without a record.
        let put = http::Request::put("/tx").body("".into()).unwrap();
        service.send(put).await.expect(500, "idempotency_not_committed");
        let router = axum::Router::new().route("/", axum::routing::post(unkept)).with_state(service.app.clone());
        let answer = read(tower::ServiceExt::oneshot(router, post("/", &key(), "")).await.unwrap()).await;
        answer.expect(500, "idempotency_not_committed");
        assert_eq!((service.effects().await.len(), service.records().await), (0, 0));
    }
}

/// The error of a statement that returns rows comes with its rows, where no instrumentation sees it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_serialization_failure_of_a_select_is_run_again() {
    let strict = |builder: idempotent_runtime::Builder<Db>| builder.isolation(Isolation::RepeatableRead);
    for put in [false, true] {
        let Some(service) = Service::with(8, strict).await else { return };
        insert(&mut *service.conn().await, "row").await;
        let (pool, met) = (service.app.pool.clone(), Arc::new(AtomicBool::new(false)));
        let service = service.on_tx(move |conn, _| {
            let (pool, met) = (pool.clone(), Arc::clone(&met));
            async move {
                let seen: i64 = effects::table.count().get_result(conn).await.unwrap();
                if !met.swap(true, Ordering::SeqCst) {
                    pool.get().await.unwrap().batch_execute("UPDATE effects SET what = 'changed'").await.unwrap();
                }
                let locked: Result<String, _> = effects::table.select(effects::what).for_update().first(conn).await;
                match locked {
                    Ok(what) => (StatusCode::CREATED, format!("{seen} {what}")).into_response(),
                    Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
                }
            }
            .boxed()
        });
        // With a record and without one.
        let request = if put { http::Request::put("/tx").body("".into()).unwrap() } else { post("/tx", &key(), "") };
        let answer = service.send(request).await;
        assert_eq!((answer.status, &answer.body[..]), (201, &b"1 changed"[..]));
        assert_eq!(service.runs(), 2);
    }
}

/// What fails by itself and unseen may have met another: it is run again, but not for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_fails_unseen_by_itself_is_run_a_few_times() {
    for (isolation, runs) in [(Isolation::ReadCommitted, 1), (Isolation::RepeatableRead, 4)] {
        let Some(service) = Service::with(8, |builder| builder.isolation(isolation)).await else { return };
        let service = service.on_tx(|conn, _| {
            async move {
                let row = (effects::id.eq(1), effects::what.eq("one"));
                for _ in 0..2 {
                    let id: Result<i64, _> =
                        diesel::insert_into(effects::table).values(row).returning(effects::id).get_result(conn).await;
                    if id.is_err() {
                        return StatusCode::UNPROCESSABLE_ENTITY.into_response();
                    }
                }
                StatusCode::CREATED.into_response()
            }
            .boxed()
        });
        let key = key();
        assert_eq!(service.post("/tx", &key, "").await.status, 422);
        assert_eq!(service.runs(), runs, "{isolation:?}");
        assert!(service.post("/tx", &key, "").await.replayed(), "the answer is kept, the writes are not");
        assert_eq!((service.effects().await.len(), service.runs()), (0, runs));
    }
}
