//! The ends of transactions that PostgreSQL alone has: an end row where the lock did not keep others out, and a COMMIT
//! that answers Ok and rolls back.

use axum::extract::State;
use axum::response::IntoResponse;
use diesel_async::SimpleAsyncConnection;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{StatementCache, idempotent};

use super::cases::app::{App, Service, insert, key, post, read};
use super::database::Db;

/// Nobody took the lock: a service of another version, say, that knows none.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_transaction_that_cannot_write_its_record_writes_nothing() {
    for cache in [StatementCache::On, StatementCache::Off] {
        for answer in [StatusCode::CREATED, StatusCode::UNPROCESSABLE_ENTITY] {
            let Some(service) = Service::with(8, |builder| builder.statement_cache(cache)).await else { return };
            let (pool, key) = (service.app.pool.clone(), key());
            let theirs = format!(
                "INSERT INTO idempotency_keys (namespace, operation, scope, key, fingerprint, owner, token, attempts, \
                 created_at, state, held, lease_until, expires_at) \
                 VALUES ('', '', 'everybody', '{key}', '', '', 1, 1, 0, 1, 0, 0, 9000000000000000000)"
            );
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
