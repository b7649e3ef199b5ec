//! The client is gone: what was begun is ended, and nothing is left open.

use axum::response::IntoResponse;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{Error, Idempotency, Steps, idempotent};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;
use tower::ServiceExt;

use super::app::{Gates, MODES, Service, insert, key, post};
use super::database::Db;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i27_a_client_that_hangs_up_stops_nothing() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let (on_tx, on_leased) = (gates.clone(), gates.clone());
    let service = service
        .on_tx(move |conn, _| {
            let gates = on_tx.clone();
            async move {
                gates.pass().await;
                insert(conn, "order").await;
                StatusCode::CREATED.into_response()
            }
            .boxed()
        })
        .on_leased(move |_| {
            let gates = on_leased.clone();
            async move {
                gates.pass().await;
                StatusCode::CREATED.into_response()
            }
            .boxed()
        });
    for mode in MODES {
        let key = key();
        let request = tokio::spawn(service.router().oneshot(post(mode, &key, "order")));
        gates.entered().await;
        request.abort();
        assert!(request.await.unwrap_err().is_cancelled());
        gates.let_go();
        // The run goes on by itself; a repeat attaches to its end.
        loop {
            let again = service.post(mode, &key, "order").await;
            if again.status == 201 {
                assert!(again.replayed());
                break;
            }
            again.expect(409, "idempotency_key_in_use");
            tokio::task::yield_now().await;
        }
    }
    assert_eq!((service.runs(), service.effects().await.len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i28_i30_dropped_after_any_number_of_polls_nothing_is_lost_and_no_connection_is_left_open() {
    let Some(service) = Service::with(2, |builder| builder).await else { return };
    let service = service.on_stepped(|steps, body| {
        async move {
            steps.tx("insert", async |conn| Ok::<_, Error>(insert(conn, "order").await)).await?;
            steps.run("call", async |_| Ok::<_, Error>(())).await?;
            Ok((StatusCode::CREATED, body).into_response())
        }
        .boxed()
    });
    let modes = ["/tx", "/leased", "/stepped"];
    let mut keys = Vec::new();
    for mode in modes {
        for polls in 0..12 {
            let key = key();
            let request = service.router().oneshot(post(mode, &key, "order"));
            let mut request = pin!(request);
            for _ in 0..polls {
                if request.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            keys.push((mode, key));
        }
    }
    // The same pool serves on, and every key comes to one run.
    for (mode, key) in &keys {
        loop {
            let answer = service.post(mode, key, "order").await;
            if answer.status == 201 {
                break;
            }
            answer.expect(409, "idempotency_key_in_use");
            tokio::task::yield_now().await;
        }
    }
    for n in 0..1_000 {
        assert_eq!(service.post(modes[n % 3], &key(), "order").await.status, 201);
    }
    assert_eq!(service.records().await, 1_036);
    assert_eq!(service.runs(), 1_036, "each key ran once");
    assert_eq!(service.effects().await.len(), 24 + 334 + 333);
    assert!(service.app.engine.drain(Duration::from_secs(10)).await);
}

#[idempotent(name = "tests.dropped", key = id, ttl = "1h", lease = "1s", engine = engine)]
async fn stepped_job(engine: &Idempotency<Db>, #[steps] steps: &mut Steps<Db>, id: &str) -> Result<i64, Error> {
    let effect = steps.tx("insert", async |conn| Ok::<_, Error>(insert(conn, id).await)).await?;
    steps.run("call", async |_| Ok::<_, Error>(())).await?;
    Ok(effect)
}

/// Plain functions run where they are called: dropped anywhere, they leave no transaction open, and end their claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i30_a_job_that_is_dropped_anywhere_leaves_nothing_open() {
    let Some(service) = Service::with(2, |builder| builder).await else { return };
    let engine = &service.app.engine;
    let keys: Vec<_> = (0..60).map(|n| format!("dropped after {n}")).collect();
    for (polls, key) in keys.iter().enumerate() {
        let mut job = pin!(stepped_job(engine, key));
        for _ in 0..polls {
            if job.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    for key in &keys {
        loop {
            match stepped_job(engine, key).await {
                Ok(_) => break,
                Err(error) => assert_eq!(error.code(), "idempotency_key_in_use", "{error}"),
            }
            tokio::task::yield_now().await;
        }
    }
    for n in 0..1_000 {
        stepped_job(engine, &format!("after all, {n}")).await.unwrap();
    }
    let effects = service.effects().await;
    let distinct: std::collections::HashSet<_> = effects.iter().collect();
    assert_eq!((effects.len(), distinct.len()), (1_060, 1_060), "each job once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn draining_waits_for_runs_whose_clients_have_gone() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let inside = gates.clone();
    let service = service.on_leased(move |_| {
        let gates = inside.clone();
        async move {
            gates.pass().await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    let request = tokio::spawn(service.router().oneshot(post("/leased", &key(), "order")));
    gates.entered().await;
    request.abort();
    assert!(!service.app.engine.drain(Duration::from_millis(20)).await);
    gates.let_go();
    assert!(service.app.engine.drain(Duration::from_secs(30)).await);
}
