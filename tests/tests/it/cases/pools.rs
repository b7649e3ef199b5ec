//! Pools other than deadpool's, and connections in a transaction that a user's test began.

use axum::response::IntoResponse;
use diesel_async::AsyncConnection;
use idempotent_runtime::{Idempotency, Scope};

use super::app::{MODES, Service, key};

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_of_bb8_serves_as_well() {
    let Some(mut service) = Service::new().await else { return };
    service.app.engine = Idempotency::builder(service.database.bb8().await, Scope::shared()).build();
    for mode in MODES {
        let key = key();
        assert_eq!(service.post(mode, &key, "order").await.status, 201);
        assert!(service.post(mode, &key, "order").await.replayed());
    }
    assert_eq!(service.effects().await, ["order"]);
}

/// One connection, in a transaction that is never committed: how users of diesel test.
#[tokio::test(flavor = "multi_thread")]
async fn inside_a_test_transaction_everything_works_and_nothing_stays() {
    let Some(service) = Service::new().await else { return };
    let mut tested = service.another(|builder| builder).await;
    let pool = service.database.pool(1);
    pool.get().await.unwrap().begin_test_transaction().await.unwrap();
    tested.app.engine = Idempotency::builder(pool.clone(), Scope::shared()).build();
    tested.app.pool = pool;
    for mode in MODES {
        let key = key();
        assert_eq!(tested.post(mode, &key, "order").await.status, 201);
        assert!(tested.post(mode, &key, "order").await.replayed());
        tested.post(mode, &key, "other").await.expect(409, "idempotency_key_reused");
    }
    let tested = tested.on_tx(|conn, _| {
        use futures_util::FutureExt;
        async move {
            super::app::insert(conn, "undone").await;
            http::StatusCode::BAD_GATEWAY.into_response()
        }
        .boxed()
    });
    assert_eq!(tested.post("/tx", &key(), "order").await.status, 502);
    assert_eq!(tested.effects().await, ["order"]);
    drop(tested);
    assert_eq!((service.effects().await.len(), service.records().await), (0, 0));
}
