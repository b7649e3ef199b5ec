//! Leases: renewed while the handler runs, lost only to another, and stopped with it.

use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use diesel::prelude::*;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::Lease;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::app::{Gates, Service, idempotency_keys, key};
use super::database::NOW;

const LEASE: Duration = Duration::from_millis(300);

async fn lease_until(service: &Service) -> i64 {
    idempotency_keys::table.select(idempotency_keys::lease_until).get_result(&mut service.conn().await).await.unwrap()
}

fn waiting(service: Service, gates: &Gates) -> Arc<Service> {
    let gates = gates.clone();
    Arc::new(service.on_leased(move |_| {
        let gates = gates.clone();
        async move {
            gates.pass().await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    }))
}

fn send(service: &Arc<Service>, path: &'static str, key: &str) -> tokio::task::JoinHandle<super::app::Answer> {
    let (service, key) = (Arc::clone(service), key.to_owned());
    tokio::spawn(async move { service.post(path, &key, "order").await })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i18_a_handler_that_outlives_its_lease_keeps_it() {
    let Some(mut service) = Service::new().await else { return };
    service.app.lease = LEASE;
    let gates = Gates::new();
    let (service, key) = (waiting(service, &gates), key());
    let first = send(&service, "/leased", &key);
    gates.entered().await;
    let begun = Instant::now();
    while begun.elapsed() < LEASE * 4 {
        let busy = service.post("/leased", &key, "order").await.expect(409, "idempotency_key_in_use");
        assert_eq!(busy.retry_after(), 1);
    }
    gates.let_go();
    assert_eq!(first.await.unwrap().status, 201);
    assert!(service.post("/leased", &key, "order").await.replayed());
    assert_eq!(service.runs(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i19_i22_a_holder_that_lost_its_lease_is_told_and_its_answer_is_refused() {
    let Some(mut service) = Service::new().await else { return };
    service.app.lease = LEASE;
    let entered = Arc::new(Semaphore::new(0));
    let inside = Arc::clone(&entered);
    let service = Arc::new(service.on_leased(move |body| {
        let inside = Arc::clone(&inside);
        async move {
            inside.add_permits(1);
            if Lease::current().is_some_and(|lease| lease.is_lost()) {
                return StatusCode::IM_A_TEAPOT.into_response();
            }
            if &body[..] == b"zombie" {
                // Until the heartbeat, with its old fence, has met another's.
                Lease::current().unwrap().lost().await;
            }
            (StatusCode::CREATED, "a late answer").into_response()
        }
        .boxed()
    }));
    let key = key();
    let zombie = {
        let (service, key) = (Arc::clone(&service), key.clone());
        tokio::spawn(async move { service.post("/leased", &key, "zombie").await })
    };
    // The claim is known to its holder, whose fence another's differs from.
    entered.acquire().await.unwrap().forget();
    // Another has taken over, and still runs.
    service.sql(&format!("UPDATE idempotency_keys SET token = token + 1, lease_until = {NOW} + 60000")).await;
    zombie.await.unwrap().expect(409, "idempotency_key_in_use");
    assert_eq!(service.state().await, 0, "the successor's claim is untouched");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i23_every_way_out_stops_the_heartbeat() {
    for way in ["fine", "error", "panic"] {
        let Some(mut service) = Service::new().await else { return };
        service.app.lease = LEASE;
        let service = Arc::new(service.on_leased(|body| {
            async move {
                tokio::time::sleep(LEASE).await;
                assert_ne!(&body[..], b"panic", "on purpose");
                if &body[..] == b"error" { StatusCode::BAD_GATEWAY } else { StatusCode::CREATED }.into_response()
            }
            .boxed()
        }));
        let request = {
            let (service, key) = (Arc::clone(&service), key());
            tokio::spawn(async move { service.post("/leased", &key, way).await })
        };
        assert_eq!(request.await.is_err(), way == "panic");
        assert_eq!(service.state().await, if way == "fine" { 1 } else { 2 });
        let left = lease_until(&service).await;
        let ended = Instant::now();
        while ended.elapsed() < LEASE {
            assert_eq!(lease_until(&service).await, left, "{way}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_busy_pool_is_no_lost_lease_and_a_lapsed_one_is_revived() {
    let Some(mut service) = Service::with(1, |builder| builder).await else { return };
    service.app.lease = LEASE;
    let pool = service.app.pool.clone();
    let service = Arc::new(service.on_leased(move |_| {
        let pool = pool.clone();
        async move {
            {
                let _the_only_connection = pool.get().await.unwrap();
                tokio::time::sleep(LEASE * 3).await;
            }
            assert!(!Lease::current().unwrap().is_lost());
            StatusCode::CREATED.into_response()
        }
        .boxed()
    }));
    let key = key();
    assert_eq!(service.post("/leased", &key, "order").await.status, 201);
    assert!(service.post("/leased", &key, "order").await.replayed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_absent_store_is_no_lost_lease() {
    let Some(mut service) = Service::new().await else { return };
    service.app.lease = LEASE;
    let pool = service.app.pool.clone();
    let service = service.on_leased(move |_| {
        let pool = pool.clone();
        async move {
            let sql = async |sql: &str| pool.get().await.unwrap().batch_execute(sql).await.unwrap();
            sql("ALTER TABLE idempotency_keys RENAME TO hidden_keys").await;
            tokio::time::sleep(LEASE * 2).await;
            assert!(!Lease::current().unwrap().is_lost());
            sql("ALTER TABLE hidden_keys RENAME TO idempotency_keys").await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    let key = key();
    assert_eq!(service.post("/leased", &key, "order").await.status, 201);
    assert!(service.post("/leased", &key, "order").await.replayed());
    assert_eq!(service.runs(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i13_i67_a_function_that_names_no_lease_has_one() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let (service, key) = (waiting(service, &gates), key());
    let first = send(&service, "/leased", &key);
    gates.entered().await;
    let until = lease_until(&service).await;
    let now: i64 = diesel::select(diesel::dsl::sql::<diesel::sql_types::BigInt>(NOW))
        .get_result(&mut service.conn().await)
        .await
        .unwrap();
    assert!((1..=30_000).contains(&(until - now)), "by the database's clock (I67): {}", until - now);
    gates.let_go();
    assert_eq!(first.await.unwrap().status, 201);
}
