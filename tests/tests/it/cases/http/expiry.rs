//! Expiry, leases and the sweep, by the database's clock.

use std::time::Duration;

use axum::response::IntoResponse;
use futures_util::FutureExt;
use http::StatusCode;

use super::app::{MODES, Service, key};
use super::database::NOW;

#[tokio::test(flavor = "multi_thread")]
async fn i69_expired_is_absent_on_every_path_before_any_sweep() {
    let Some(mut service) = Service::new().await else { return };
    service.app.ttl = Duration::from_secs(1);
    service.app.lease = Duration::from_secs(1);
    for mode in MODES {
        let key = key();
        assert_eq!(service.post(mode, &key, "one").await.status, 201);
        assert!(service.post(mode, &key, "one").await.replayed());
        service.sql(&format!("UPDATE idempotency_keys SET expires_at = {NOW} - 100")).await;
        let again = service.post(mode, &key, "another body").await;
        assert_eq!((again.status, again.replayed()), (201, false));
        assert!(service.post(mode, &key, "another body").await.replayed());
    }
    assert_eq!(service.runs(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn i16_the_lease_is_seconds_where_the_ttl_is_days() {
    let Some(mut service) = Service::new().await else { return };
    service.app.ttl = Duration::from_secs(3 * 86_400);
    service.app.lease = Duration::from_secs(5);
    service.post("/leased", &key(), "one").await;
    service.post("/tx", &key(), "one").await;
    let near = |column: &str, expected: i64| {
        format!(
            "SELECT 1 / (CASE WHEN ABS({column} - {NOW} - {expected}) < 60000 THEN 1 ELSE 0 END) FROM idempotency_keys"
        )
    };
    // A row outside would divide by zero; SQLite answers NULL instead, so that the rows are counted as well.
    use super::app::idempotency_keys as keys;
    use diesel::prelude::*;
    use diesel_async::RunQueryDsl;
    let rows: Vec<(i64, i64)> =
        keys::table.select((keys::expires_at, keys::lease_until)).load(&mut service.conn().await).await.unwrap();
    assert_eq!(rows.len(), 2);
    for (expires_at, lease_until) in rows {
        let apart = expires_at - lease_until;
        assert!((3 * 86_400_000 - 60_000..=3 * 86_400_000).contains(&apart), "{apart}");
    }
    service.sql(&near("expires_at", 3 * 86_400_000)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i15_an_abandoned_claim_is_taken_over_after_its_lease_and_not_before() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|_| async { StatusCode::BAD_GATEWAY.into_response() }.boxed());
    let key = key();
    service.post("/leased", &key, "one").await;
    // As a crash would leave it.
    service.sql(&format!("UPDATE idempotency_keys SET state = 0, lease_until = {NOW} + 7500")).await;
    let busy = service.post("/leased", &key, "one").await.expect(409, "idempotency_key_in_use");
    assert!((1..=8).contains(&busy.retry_after()), "the remaining lease: {busy:?}");
    service.sql(&format!("UPDATE idempotency_keys SET lease_until = {NOW} - 1")).await;
    let service = service.on_leased(|_| async { StatusCode::CREATED.into_response() }.boxed());
    let after = service.post("/leased", &key, "one").await;
    assert_eq!((after.status, after.replayed()), (201, false));
    assert!(service.post("/leased", &key, "one").await.replayed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_claim_is_never_taken_over() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|_| async { StatusCode::BAD_GATEWAY.into_response() }.boxed());
    let key = key();
    service.post("/leased", &key, "one").await;
    service.sql("UPDATE idempotency_keys SET state = 0, held = 1, lease_until = 0, expires_at = 0").await;
    service.post("/leased", &key, "one").await.expect(409, "idempotency_outcome_unknown");
    service.post("/tx", &key, "one").await.expect(409, "idempotency_key_reused");
    assert_eq!(service.app.engine.sweep().await.unwrap(), 0);
    assert_eq!(service.records().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_abandoned_ten_times_is_held() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|_| async { StatusCode::BAD_GATEWAY.into_response() }.boxed());
    let key = key();
    for _ in 0..10 {
        assert_eq!(service.post("/leased", &key, "one").await.status, 502);
        service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0").await;
    }
    service.post("/leased", &key, "one").await.expect(409, "idempotency_outcome_unknown");
    assert_eq!(service.runs(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_deletes_what_has_expired_and_nothing_that_may_still_run() {
    let Some(service) = Service::new().await else { return };
    let insert = |name: &str, state: i64, held: i64, lease: &str, expires: &str| {
        format!(
            "INSERT INTO idempotency_keys (namespace, operation, scope, key, fingerprint, owner, token, attempts, \
             created_at, state, held, lease_until, expires_at) VALUES ('', '', '', '{name}', '', '', 1, 1, 0, {state}, {held}, {lease}, {expires});"
        )
    };
    let (past, future) = (format!("{NOW} - 1000"), format!("{NOW} + 100000"));
    let mut rows = String::new();
    rows += &insert("gone: completed", 1, 0, &past, &past);
    rows += &insert("gone: released", 2, 0, &past, &past);
    rows += &insert("gone: abandoned", 0, 0, &past, &past);
    rows += &insert("kept: completed", 1, 0, &past, &future);
    rows += &insert("kept: released", 2, 0, &past, &future);
    rows += &insert("kept: running", 0, 0, &future, &past);
    rows += &insert("kept: held", 0, 1, &past, &past);
    service.sql(&rows).await;
    assert_eq!(service.app.engine.sweep().await.unwrap(), 3);
    use super::app::idempotency_keys as keys;
    use diesel::prelude::*;
    use diesel_async::RunQueryDsl;
    let left: Vec<String> = keys::table.select(keys::key).load(&mut service.conn().await).await.unwrap();
    assert!(left.len() == 4 && left.iter().all(|key| key.starts_with("kept")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_sweeps_at_once_delete_each_record_once() {
    let Some(service) = Service::new().await else { return };
    let values: Vec<_> = (0..2_500).map(|n| format!("('', '', '', 'k{n}', '', '', 1, 1, 0, 1, 0, 0, 1)")).collect();
    let rows = format!(
        "INSERT INTO idempotency_keys (namespace, operation, scope, key, fingerprint, owner, token, attempts, \
         created_at, state, held, lease_until, expires_at) VALUES {}",
        values.join(", ")
    );
    service.sql(&rows).await;
    let sweeps = (0..4).map(|_| {
        let engine = service.app.engine.clone();
        tokio::spawn(async move { engine.sweep().await.unwrap() })
    });
    let deleted: usize = futures_util::future::join_all(sweeps).await.into_iter().map(Result::unwrap).sum();
    assert_eq!((deleted, service.records().await), (2_500, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweeper_stops_with_its_guard() {
    let Some(service) = Service::new().await else { return };
    let expired = |key: &str| {
        format!(
            "INSERT INTO idempotency_keys (namespace, operation, scope, key, fingerprint, owner, token, attempts, \
             created_at, state, held, lease_until, expires_at) VALUES ('', '', '', '{key}', '', '', 1, 1, 0, 1, 0, 0, 1)"
        )
    };
    service.sql(&expired("while it sweeps")).await;
    let rest = Duration::from_millis(5);
    let sweeper = service.app.engine.sweeper_every(rest);
    while service.records().await > 0 {
        tokio::task::yield_now().await;
    }
    drop(sweeper);
    // One that was under way ends.
    tokio::time::sleep(rest * 20).await;
    service.sql(&expired("after it has stopped")).await;
    tokio::time::sleep(rest * 20).await;
    assert_eq!(service.records().await, 1);
}
