//! The end row of a transaction, where the lock did not keep others out: a service of another version, say, that takes
//! none. (On SQLite the write lock keeps everybody out.)

use axum::response::IntoResponse;
use diesel_async::SimpleAsyncConnection;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::StatementCache;

use super::cases::app::{Service, insert, key};

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
