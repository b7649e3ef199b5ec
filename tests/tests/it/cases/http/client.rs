//! The client is gone: what was begun is ended.

use std::task::{Context, Waker};
use std::time::Duration;

use axum::response::IntoResponse;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::Error;

use super::app::{Gates, MODES, Service, insert, key, post};

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
        let request = tokio::spawn(service.sending(post(mode, &key, "order")));
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
            let mut request = service.sending(post(mode, &key, "order"));
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
    let request = tokio::spawn(service.sending(post("/leased", &key(), "order")));
    gates.entered().await;
    request.abort();
    assert!(!service.app.engine.drain(Duration::from_millis(20)).await);
    gates.let_go();
    assert!(service.app.engine.drain(Duration::from_secs(30)).await);
}
