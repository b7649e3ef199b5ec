//! Many at once: barriers, never sleeps.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use futures_util::FutureExt;
use futures_util::future::join_all;
use http::StatusCode;
use idempotent_runtime::{Isolation, StatementCache};
use tokio::sync::Barrier;

use super::app::{Answer, Gates, MODES, Service, insert, key};

/// `n` tasks that send the same request at the same moment.
async fn together(service: &Arc<Service>, n: usize, path: &'static str, key: &str) -> Vec<Answer> {
    let barrier = Arc::new(Barrier::new(n));
    let tasks = (0..n).map(|_| {
        let (service, barrier, key) = (Arc::clone(service), Arc::clone(&barrier), key.to_owned());
        tokio::spawn(async move {
            barrier.wait().await;
            service.post(path, &key, "order").await
        })
    });
    join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

/// One ran; every other answer is the same one, or "in use".
#[track_caller]
fn one_ran(answers: &[Answer]) {
    let bodies: HashSet<_> = answers.iter().filter(|answer| answer.status == 201).map(|answer| &answer.body).collect();
    assert_eq!(bodies.len(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.status == 201 && !answer.replayed()).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!((answer.status, answer.code().as_str()), (409, "idempotency_key_in_use"), "{answer:?}");
        assert!(answer.retry_after() >= 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i01_fifty_at_once_are_one_run() {
    let Some(service) = Service::new().await else { return };
    let service = Arc::new(service);
    for mode in MODES {
        let key = key();
        one_ran(&together(&service, 50, mode, &key).await);
        assert!(service.post(mode, &key, "order").await.replayed());
    }
    assert_eq!((service.runs(), service.effects().await.len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i02_losers_never_enter_the_handler() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let inside = gates.clone();
    let service = Arc::new(service.on_leased(move |_| {
        let gates = inside.clone();
        async move {
            gates.pass().await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    }));
    let key = key();
    let first = tokio::spawn({
        let (service, key) = (Arc::clone(&service), key.clone());
        async move { service.post("/leased", &key, "order").await }
    });
    gates.entered().await;
    for answer in together(&service, 20, "/leased", &key).await {
        answer.expect(409, "idempotency_key_in_use");
    }
    gates.let_go();
    assert_eq!((first.await.unwrap().status, service.runs()), (201, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i10_a_repeat_while_a_long_handler_runs_runs_nothing() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let inside = gates.clone();
    let service = Arc::new(service.on_tx(move |conn, _| {
        let gates = inside.clone();
        async move {
            insert(conn, "order").await;
            gates.pass().await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    }));
    let key = key();
    let send = |key: String| {
        let service = Arc::clone(&service);
        tokio::spawn(async move { service.post("/tx", &key, "order").await })
    };
    let first = send(key.clone());
    gates.entered().await;
    let second = send(key.clone());
    if super::database::NAME == "sqlite" {
        // The second waits for the writer, and then replays.
        gates.let_go();
        assert!(second.await.unwrap().replayed());
    } else {
        // It is told at once, while the first still holds its transaction open.
        let busy = second.await.unwrap().expect(409, "idempotency_key_in_use");
        assert_eq!(busy.retry_after(), 1);
        gates.let_go();
    }
    assert_eq!(first.await.unwrap().status, 201);
    assert_eq!((service.runs(), service.effects().await.len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i05_two_services_on_one_database_never_both_win() {
    let Some(one) = Service::new().await else { return };
    let two = one.another(|builder| builder).await;
    let (one, two) = (Arc::new(one), Arc::new(two));
    for mode in MODES {
        for _ in 0..20 {
            let key = key();
            let (mut answers, more) = tokio::join!(together(&one, 4, mode, &key), together(&two, 4, mode, &key));
            answers.extend(more);
            one_ran(&answers);
        }
    }
    assert_eq!(one.runs() + two.runs(), 40);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i85_a_transactional_and_a_leased_handler_under_one_key_run_once_in_all() {
    let Some(service) = Service::new().await else { return };
    let service = Arc::new(service);
    for _ in 0..40 {
        let key = key();
        let before = service.runs();
        let (one, two) = tokio::join!(service.post("/tx", &key, "order"), service.post("/leased", &key, "order"));
        let ran = [&one, &two].iter().filter(|answer| answer.status == 201).count();
        assert_eq!(ran, 1, "{one:?} {two:?}");
        // A body that ran in a transaction which lost to the other was rolled back with all it wrote.
        assert!((1..=2).contains(&(service.runs() - before)));
        let effects = service.effects().await.len();
        assert_eq!(effects, usize::from(one.status == 201), "the transactional run left its effect only if it won");
        service.sql("DELETE FROM effects").await;
    }
}

/// The races of I82 and I85 where the statements are not prepared yet, and where they never are.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i86_fresh_connections_and_no_statement_cache_change_nothing() {
    for cache in [StatementCache::On, StatementCache::Off] {
        let Some(service) = Service::with(8, |builder| builder.statement_cache(cache)).await else { return };
        for round in 0..10 {
            // Each pod has connections that have prepared nothing.
            let pods = [
                Arc::new(service.another(|builder| builder.statement_cache(cache)).await),
                Arc::new(service.another(|builder| builder.statement_cache(cache)).await),
            ];
            let key = key();
            let (mut answers, more) =
                tokio::join!(together(&pods[0], 4, "/tx", &key), together(&pods[1], 4, "/tx", &key));
            answers.extend(more);
            one_ran(&answers);
            assert_eq!(service.effects().await.len(), round + 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i76_serializable_transactions_that_meet_are_run_again() {
    let strict = |builder: idempotent_runtime::Builder<super::database::Db>| builder.isolation(Isolation::Serializable);
    let Some(service) = Service::with(16, strict).await else { return };
    // Each reads what the others write: without retries most of them fail with 40001.
    let service = Arc::new(service.on_tx(|conn, _| {
        async move {
            use diesel::prelude::*;
            use diesel_async::RunQueryDsl;
            let seen: Result<i64, _> = super::app::effects::table.count().get_result(conn).await;
            let written = match seen {
                Ok(seen) => {
                    diesel::insert_into(super::app::effects::table)
                        .values(super::app::effects::what.eq(format!("after {seen}")))
                        .execute(conn)
                        .await
                }
                Err(error) => Err(error),
            };
            // Maps the error to an answer of its own, as handlers do.
            match written {
                Ok(_) => StatusCode::CREATED.into_response(),
                Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            }
        }
        .boxed()
    }));
    let barrier = Arc::new(Barrier::new(8));
    let tasks = (0..8).map(|_| {
        let (service, barrier) = (Arc::clone(&service), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            service.post("/tx", &key(), "order").await
        })
    });
    for answer in join_all(tasks).await {
        assert_eq!(answer.unwrap().status, 201);
    }
    let distinct: HashSet<_> = service.effects().await.into_iter().collect();
    assert_eq!(distinct.len(), 8, "as if one had run after the other");
}

/// Under these isolations the look of a transaction can be older than its lock: only the end row protects.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i82_stricter_isolation_changes_nothing() {
    for isolation in [Isolation::RepeatableRead, Isolation::Serializable] {
        let Some(service) = Service::with(16, |builder| builder.isolation(isolation)).await else { return };
        let service = Arc::new(service);
        for round in 0..20 {
            let key = key();
            one_ran(&together(&service, 8, "/tx", &key).await);
            assert_eq!(service.effects().await.len(), round + 1);
        }
    }
}

/// Fifty at once, each with a key of its own; all run.
async fn fifty_run(keys: impl Fn(usize) -> String) {
    let Some(service) = Service::with(50, |builder| builder).await else { return };
    let service = Arc::new(service);
    let barrier = Arc::new(Barrier::new(50));
    let tasks = (0..50).map(|n| {
        let (service, barrier, key) = (Arc::clone(&service), Arc::clone(&barrier), keys(n));
        tokio::spawn(async move {
            barrier.wait().await;
            service.post(MODES[n % 2], &key, "order").await.status
        })
    });
    for status in join_all(tasks).await {
        assert_eq!(status.unwrap(), 201);
    }
    assert_eq!((service.runs(), service.effects().await.len()), (50, 25));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i74_fifty_writers_are_all_served() {
    fifty_run(|_| key()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i75_fifty_neighbouring_keys_at_once_all_run() {
    fifty_run(|n| format!("neighbouring-key-{n:04}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i78_a_pool_of_one_connection_is_enough() {
    let Some(service) = Service::with(1, |builder| builder).await else { return };
    let service = Arc::new(service);
    for mode in MODES {
        let key = key();
        let answers = tokio::time::timeout(Duration::from_secs(60), together(&service, 10, mode, &key)).await;
        one_ran(&answers.expect("nobody waits for a second connection"));
    }
}
