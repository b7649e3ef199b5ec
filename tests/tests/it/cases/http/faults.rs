//! The store is away, slow, or says what it should not.

use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use diesel_async::SimpleAsyncConnection;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{Idempotency, Scope};

use super::app::{MODES, Service, insert, key};
use super::database::Database;

#[tokio::test(flavor = "multi_thread")]
async fn i07_a_store_that_is_away_means_that_nothing_runs() {
    let Some(mut service) = Service::new().await else { return };
    service.app.engine = Idempotency::builder(Database::unreachable(), Scope::shared()).build();
    for mode in MODES {
        let refused = service.post(mode, &key(), "order").await.expect(503, "idempotency_unavailable");
        assert_eq!(refused.retry_after(), 1);
        assert!(!refused.text().contains("nowhere") && !refused.text().contains("127.0.0.1"), "{refused:?}");
    }
    assert_eq!(service.runs(), 0);
    assert!(service.app.engine.migrate().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn i07_missing_tables_mean_that_nothing_runs() {
    let Some(service) = Service::new().await else { return };
    service.sql("DROP TABLE idempotency_steps; DROP TABLE idempotency_keys").await;
    for mode in MODES {
        service.post(mode, &key(), "order").await.expect(503, "idempotency_unavailable");
    }
    assert_eq!(service.runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn i31_an_answer_reaches_its_caller_though_the_store_went_away_and_no_repeat_runs() {
    let Some(service) = Service::new().await else { return };
    let pool = service.app.pool.clone();
    let service = service.on_leased(move |_| {
        let pool = pool.clone();
        async move {
            let hide = "ALTER TABLE idempotency_keys RENAME TO hidden_keys";
            pool.get().await.unwrap().batch_execute(hide).await.unwrap();
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    let key = key();
    assert_eq!(service.post("/leased", &key, "order").await.status, 201);
    service.post("/leased", &key, "order").await.expect(503, "idempotency_unavailable");
    service.sql("ALTER TABLE hidden_keys RENAME TO idempotency_keys").await;
    loop {
        let again = service.post("/leased", &key, "order").await;
        if again.status == 201 {
            assert!(again.replayed());
            break;
        }
        again.expect(409, "idempotency_key_in_use");
        tokio::task::yield_now().await;
    }
    assert_eq!(service.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i09_i19_a_holder_whose_claim_was_taken_over_answers_with_what_its_successor_stored() {
    let Some(service) = Service::new().await else { return };
    let first = Arc::new(tokio::sync::Mutex::new(true));
    let successor = Arc::new(std::sync::OnceLock::<Arc<Service>>::new());
    let (is_first, other) = (Arc::clone(&first), Arc::clone(&successor));
    let key = key();
    let same_key = key.clone();
    let service = Arc::new(service.on_leased(move |_| {
        let (is_first, other, key) = (Arc::clone(&is_first), Arc::clone(&other), same_key.clone());
        async move {
            if std::mem::take(&mut *is_first.lock().await) {
                let service = other.get().unwrap();
                service.sql("UPDATE idempotency_keys SET lease_until = 0").await;
                let theirs = service.post("/leased", &key, "order").await;
                assert_eq!((theirs.text(), theirs.replayed()), ("successor", false));
                return (StatusCode::CREATED, "zombie").into_response();
            }
            (StatusCode::CREATED, "successor").into_response()
        }
        .boxed()
    }));
    assert!(successor.set(Arc::clone(&service)).is_ok());
    let zombie = service.post("/leased", &key, "order").await;
    assert_eq!((zombie.text(), zombie.replayed()), ("successor", true));
    assert_eq!(service.post("/leased", &key, "order").await.text(), "successor");
    assert_eq!(service.runs(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn i81_a_transaction_of_the_handlers_own_is_a_part_of_ours() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_tx(|conn, body| {
        async move {
            use diesel_async::AsyncConnection;
            let inner = conn.transaction(async |conn| {
                insert(conn, "inner").await;
                Ok::<_, diesel::result::Error>(())
            });
            inner.await.unwrap();
            let undone = conn.transaction(async |conn| {
                insert(conn, "undone").await;
                Err::<(), _>(diesel::result::Error::RollbackTransaction)
            });
            undone.await.unwrap_err();
            assert_ne!(&body[..], b"crash", "on purpose, before our COMMIT");
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    service.crash(super::app::post("/tx", &key(), "crash")).await;
    assert_eq!(service.effects().await, Vec::<String>::new(), "nothing of it stays");
    assert_eq!(service.records().await, 0);
    assert_eq!(service.post("/tx", &key(), "fine").await.status, 201);
    assert_eq!(service.effects().await, ["inner"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn i73_an_error_that_the_handler_swallows_keeps_nothing_half_done() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_tx(|conn, _| {
        async move {
            insert(conn, "before").await;
            let _ = conn.batch_execute("SELECT * FROM no_such_table").await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    let answer = service.post("/tx", &key(), "order").await;
    if super::database::NAME == "postgres" {
        // The transaction is aborted: success was said of something that cannot commit.
        answer.expect(500, "idempotency_not_committed");
        assert_eq!((service.effects().await.len(), service.records().await), (0, 0));
    } else {
        assert_eq!((answer.status, service.effects().await.len(), service.records().await), (201, 1, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_after_a_failed_statement_is_stored_and_keeps_no_writes() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_tx(|conn, _| {
        async move {
            insert(conn, "before").await;
            let failed = conn.batch_execute("SELECT * FROM no_such_table").await;
            assert!(failed.is_err());
            StatusCode::UNPROCESSABLE_ENTITY.into_response()
        }
        .boxed()
    });
    let key = key();
    assert_eq!(service.post("/tx", &key, "order").await.status, 422);
    let again = service.post("/tx", &key, "order").await;
    assert_eq!((again.status, again.replayed()), (422, true));
    assert_eq!((service.effects().await.len(), service.runs()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_the_handler_leaves_open_is_rolled_back() {
    let Some(service) = Service::with(1, |builder| builder).await else { return };
    let service = service.on_tx(|conn, _| {
        async move {
            use diesel_async::{AsyncConnection, TransactionManager};
            type Manager = <super::database::Db as AsyncConnection>::TransactionManager;
            Manager::begin_transaction(conn).await.unwrap();
            insert(conn, "left open").await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    service.post("/tx", &key(), "order").await.expect(500, "idempotency_not_committed");
    assert_eq!((service.effects().await.len(), service.records().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn i14_a_lease_longer_than_the_ttl_is_refused_and_nothing_runs() {
    let Some(mut service) = Service::new().await else { return };
    for (ttl, lease) in [(1, 2), (0, 0), (u64::MAX, 1)] {
        service.app.ttl = Duration::from_secs(ttl);
        service.app.lease = Duration::from_secs(lease);
        service.post("/leased", &key(), "").await.expect(500, "idempotency_misconfigured");
    }
    assert_eq!(service.runs(), 0);
}
