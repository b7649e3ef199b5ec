//! Records that are held: nobody runs them again until somebody has decided.

use std::sync::Arc;

use axum::response::IntoResponse;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{Answer, HeldRecord, Idempotency, Resolution, Scope};

use super::app::{Service, key, post};

/// A service whose handler panics on `panic`.
async fn panicking() -> Option<Arc<Service>> {
    Some(Arc::new(Service::new().await?.on_leased(|body| {
        async move {
            assert_ne!(&body[..], b"panic", "on purpose");
            (StatusCode::CREATED, "ran").into_response()
        }
        .boxed()
    })))
}

/// Leaves a record as a crash in the handler leaves it.
async fn crash(service: &Arc<Service>, key: &str) {
    service.crash(post("/held", key, "panic")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_holds_where_that_was_asked_for() {
    let Some(service) = panicking().await else { return };
    let key = key();
    crash(&service, &key).await;
    service.post("/held", &key, "panic").await.expect(409, "idempotency_outcome_unknown");
    service.post("/held", &key, "other").await.expect(409, "idempotency_key_reused");
    assert_eq!(service.runs(), 1);
    assert_eq!(service.app.engine.sweep().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_gives_the_key_back_also_where_crashes_hold() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|_| async { StatusCode::BAD_GATEWAY.into_response() }.boxed());
    let key = key();
    for _ in 0..2 {
        assert_eq!(service.post("/held", &key, "order").await.status, 502);
    }
    assert_eq!(service.runs(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_completes_releases_or_keeps_holding() {
    let Some(service) = panicking().await else { return };
    let engine = &service.app.engine;
    let (completed, released) = (key(), key());
    crash(&service, &completed).await;
    crash(&service, &released).await;
    // Two of one millisecond come in any order.
    let first = "UPDATE idempotency_keys SET created_at = created_at - 1000 WHERE key = ";
    service.sql(&format!("{first}'{completed}'")).await;
    let held = engine.held(10).await.unwrap();
    assert_eq!(held.iter().map(HeldRecord::key).collect::<Vec<_>>(), [&completed, &released]);
    assert!(
        held.iter().all(|record| record.attempts() == 1 && record.scope() == "everybody" && record.claimed_at() > 0)
    );
    assert!(engine.resolve(&held[0], Resolution::KeepHolding).await.unwrap());
    assert_eq!(engine.held(10).await.unwrap().len(), 2);

    let answer = Answer::of("found at the provider").unwrap();
    assert!(engine.resolve(&held[0], Resolution::Completed(answer.clone())).await.unwrap());
    let replayed = service.post("/held", &completed, "panic").await;
    assert_eq!((replayed.status, replayed.replayed(), replayed.text()), (200, true, "\"found at the provider\""));

    assert!(engine.resolve(&held[1], Resolution::Release).await.unwrap());
    crash(&service, &released).await;
    assert_eq!(service.runs(), 3, "it ran again");
    // Decisions about an attempt that is over change nothing.
    assert!(!engine.resolve(&held[1], Resolution::Completed(answer)).await.unwrap());
    assert_eq!(engine.held(10).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_is_asked_and_its_word_holds() {
    for resolution in ["completed", "release", "keep"] {
        let Some(service) = panicking().await else { return };
        let key = key();
        crash(&service, &key).await;
        let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let mut service = service.twin();
        service.app.engine = Idempotency::builder(service.app.pool.clone(), Scope::shared())
            .reconcile(move |record: HeldRecord| {
                seen.lock().unwrap().push((record.key().to_owned(), record.downstream_key("charge")));
                async move {
                    match resolution {
                        "completed" => Resolution::Completed(Answer::of("done").unwrap()),
                        "release" => Resolution::Release,
                        _ => Resolution::KeepHolding,
                    }
                }
            })
            .build();
        let service = service.on_leased(|_| async { (StatusCode::CREATED, "ran again").into_response() }.boxed());
        let answer = service.post("/held", &key, "panic").await;
        match resolution {
            "completed" => assert_eq!((answer.replayed(), answer.text()), (true, "\"done\"")),
            "release" => assert_eq!((answer.status, answer.replayed(), answer.text()), (201, false, "ran again")),
            _ => drop(answer.expect(409, "idempotency_outcome_unknown")),
        }
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 1);
        assert!(asked[0].0 == key && asked[0].1.len() == 64);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_about_a_holder_that_came_back_changes_nothing() {
    use super::database::NOW;
    let Some(service) = panicking().await else { return };
    let engine = &service.app.engine;
    crash(&service, &key()).await;
    let held = engine.held(10).await.unwrap();
    // It was only paused: its heartbeat has revived the lease since.
    service.sql(&format!("UPDATE idempotency_keys SET lease_until = {NOW} + 60000")).await;
    assert!(!engine.resolve(&held[0], Resolution::Release).await.unwrap());
    assert!(!engine.resolve(&held[0], Resolution::Completed(Answer::of("done").unwrap())).await.unwrap());
    assert_eq!(service.state().await, 0);
}
