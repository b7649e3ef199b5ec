//! Recovery points: what is recorded is not done again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use futures_util::FutureExt;
use futures_util::future::join_all;
use http::StatusCode;
use idempotent_runtime::{Error, Idempotency, Isolation, Steps, idempotent};

use super::app::{Service, effects, insert, key};
use super::database::{Db, NOW};

fn created(text: String) -> Response {
    (StatusCode::CREATED, text).into_response()
}

/// An error of the handler's own: a 500, which gives the key back.
fn failed() -> Error {
    Error::Unavailable("on purpose".into())
}

/// What a provider was asked for: the keys, in order.
type Asked = Arc<Mutex<Vec<String>>>;

/// Three steps: start, charge, confirm. The body names where an attempt fails, once.
fn paying(service: Service, asked: &Asked) -> Service {
    let asked = Arc::clone(asked);
    let failures = Arc::new(AtomicUsize::new(0));
    service.on_stepped(move |steps, body| {
        let (asked, failures) = (Arc::clone(&asked), Arc::clone(&failures));
        async move {
            let fails = |at: &[u8]| body[..] == *at && failures.fetch_add(1, Ordering::SeqCst) == 0;
            let order: i64 = steps.tx("start", async |conn| Ok::<_, Error>(insert(conn, "start").await)).await?;
            if fails(b"after start") {
                return Err(failed());
            }
            let charge: String = steps
                .run("charge", async |key| {
                    asked.lock().unwrap().push(key.clone());
                    if fails(b"in charge") {
                        return Err(failed());
                    }
                    Ok::<_, Error>(format!("charge of {order}"))
                })
                .await?;
            if fails(b"after charge") {
                return Err(failed());
            }
            steps
                .tx("confirm", async |conn| {
                    insert(conn, "confirm").await;
                    if fails(b"in confirm") {
                        return Err(failed());
                    }
                    Ok::<_, Error>(())
                })
                .await?;
            Ok(created(charge))
        }
        .boxed()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_goes_on_where_the_last_one_failed() {
    for (fails, asked_for) in
        [("after start", 1), ("in charge", 2), ("after charge", 1), ("in confirm", 1), ("nowhere", 1)]
    {
        let Some(service) = Service::new().await else { return };
        let asked = Asked::default();
        let (service, key) = (paying(service, &asked), key());
        let first = service.post("/stepped", &key, fails).await;
        assert_eq!(first.status, if fails == "nowhere" { 201 } else { 500 }, "{fails}");
        let second = service.post("/stepped", &key, fails).await;
        assert_eq!((second.status, second.text()), (201, "charge of 1"), "{fails}");
        assert_eq!(service.effects().await, ["start", "confirm"], "{fails}");
        assert_eq!(service.steps().await, ["start", "charge", "confirm"], "{fails}");
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), asked_for, "{fails}");
        assert!(asked.iter().all(|key| *key == asked[0] && key.len() == 64), "the same key in every attempt");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_a_run_over_goes_on_where_it_was() {
    let Some(service) = Service::new().await else { return };
    let asked = Asked::default();
    let (service, key) = (paying(service, &asked), key());
    service.post("/stepped", &key, "after charge").await;
    // As a crash would leave it.
    service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0").await;
    assert_eq!(service.post("/stepped", &key, "after charge").await.status, 201);
    assert_eq!(service.effects().await, ["start", "confirm"]);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_has_downstream_keys_of_its_own() {
    let Some(service) = Service::new().await else { return };
    let asked = Asked::default();
    let service = paying(service, &asked);
    for user in ["alice", "bob"] {
        for key in ["the-first-key", "the-second-key"] {
            let mut request = super::app::post("/stepped", key, "nowhere");
            request.headers_mut().insert("x-user", user.parse().unwrap());
            assert_eq!(service.send(request).await.status, 201);
        }
    }
    let asked = asked.lock().unwrap();
    let distinct: std::collections::HashSet<_> = asked.iter().collect();
    assert_eq!((asked.len(), distinct.len()), (4, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_has_expired_begins_a_new_life_with_no_steps() {
    let Some(service) = Service::new().await else { return };
    let asked = Asked::default();
    let (service, key) = (paying(service, &asked), key());
    service.post("/stepped", &key, "nowhere").await;
    service.sql(&format!("UPDATE idempotency_keys SET expires_at = {NOW} - 1")).await;
    assert!(!service.post("/stepped", &key, "nowhere").await.replayed());
    assert_eq!(service.effects().await, ["start", "confirm", "start", "confirm"]);
    service.sql(&format!("UPDATE idempotency_keys SET expires_at = {NOW} - 1")).await;
    assert_eq!(service.app.engine.sweep().await.unwrap(), 1);
    assert_eq!(service.steps().await, Vec::<String>::new(), "steps go with their record");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_that_do_not_fit_their_record_are_errors_that_release_nothing() {
    for (second, code) in [
        ("twice", "idempotency_step_repeated"),
        ("other order", "idempotency_step_out_of_order"),
        ("other type", "idempotency_step_undecodable"),
    ] {
        let Some(service) = Service::new().await else { return };
        let attempts = Arc::new(AtomicUsize::new(0));
        let service = service.on_stepped(move |steps, body| {
            let first = attempts.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                if !first && body[..] == *b"other order" {
                    steps.run("b", async |_| Ok::<_, Error>(2)).await?;
                }
                if !first && body[..] == *b"other type" {
                    steps.run("a", async |_| Ok::<_, Error>("text".to_owned())).await?;
                }
                steps.run("a", async |_| Ok::<_, Error>(1)).await?;
                if !first && body[..] == *b"twice" {
                    steps.run("a", async |_| Ok::<_, Error>(1)).await?;
                }
                Err(failed())
            }
            .boxed()
        });
        let key = key();
        assert_eq!(service.post("/stepped", &key, second).await.status, 500);
        assert_eq!(service.state().await, 2, "an ordinary error gives the key back");
        let misfit = service.post("/stepped", &key, second).await;
        assert_eq!((misfit.status, misfit.text()), (500, code));
        assert_eq!(service.state().await, 0, "and this one does not");
        service.post("/stepped", &key, second).await.expect(409, "idempotency_key_in_use");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poisonous_request_is_held_after_its_last_attempt() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_stepped(|_, _| async { Err(failed()) }.boxed());
    let key = key();
    for _ in 0..3 {
        assert_eq!(service.post("/stepped", &key, "poison").await.status, 500);
        service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0").await;
    }
    service.post("/stepped", &key, "poison").await.expect(409, "idempotency_outcome_unknown");
    assert_eq!(service.runs(), 3);
    let held = service.app.engine.held(10).await.unwrap();
    assert!(service.app.engine.resolve(&held[0], idempotent_runtime::Resolution::Release).await.unwrap());
    for _ in 0..3 {
        assert_eq!(service.post("/stepped", &key, "poison").await.status, 500, "with all its attempts anew");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_stays_when_an_operator_gives_the_key_back() {
    let Some(service) = Service::new().await else { return };
    let asked = Asked::default();
    let (service, key) = (paying(service, &asked), key());
    service.post("/stepped", &key, "after charge").await;
    service.sql("UPDATE idempotency_keys SET state = 0, held = 1, lease_until = 0").await;
    let held = service.app.engine.held(10).await.unwrap();
    assert!(service.app.engine.resolve(&held[0], idempotent_runtime::Resolution::Release).await.unwrap());
    assert_eq!(service.post("/stepped", &key, "after charge").await.status, 201);
    assert_eq!(service.effects().await, ["start", "confirm"]);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i19_the_next_transaction_of_a_zombie_rolls_back() {
    let Some(mut service) = Service::new().await else { return };
    service.app.lease = Duration::from_secs(5);
    let pool = service.app.pool.clone();
    let service = service.on_stepped(move |steps, _| {
        let pool = pool.clone();
        async move {
            steps.tx("start", async |conn| Ok::<_, Error>(insert(conn, "start").await)).await?;
            // Paused for longer than its lease, while another took over.
            {
                use diesel_async::SimpleAsyncConnection;
                let steal = format!("UPDATE idempotency_keys SET token = token + 1, lease_until = {NOW} + 60000");
                pool.get().await.unwrap().batch_execute(&steal).await.unwrap();
            }
            let late = steps.tx("confirm", async |conn| Ok::<_, Error>(insert(conn, "confirm").await)).await;
            assert!(matches!(late, Err(Error::LeaseLost)), "{late:?}");
            assert!(steps.lease().is_lost());
            let late = steps.run("charge", async |_| Ok::<_, Error>("charged".to_owned())).await;
            assert!(matches!(late, Err(Error::LeaseLost)), "{late:?}");
            Ok(created("late".into()))
        }
        .boxed()
    });
    service.post("/stepped", &key(), "order").await.expect(409, "idempotency_key_in_use");
    assert_eq!(service.effects().await, ["start"]);
    assert_eq!(service.steps().await, ["start"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_step_that_meets_another_transaction_is_run_again() {
    let strict = |builder: idempotent_runtime::Builder<Db>| builder.isolation(Isolation::Serializable);
    let Some(service) = Service::with(16, strict).await else { return };
    let service = Arc::new(service.on_stepped(|steps, _| {
        async move {
            let seen: i64 = steps
                .tx("count", async |conn: &mut Db| {
                    let seen: i64 = effects::table.count().get_result(conn).await.map_err(|_| failed())?;
                    let row = effects::what.eq(format!("after {seen}"));
                    diesel::insert_into(effects::table).values(row).execute(conn).await.map_err(|_| failed())?;
                    Ok::<_, Error>(seen)
                })
                .await?;
            Ok(created(seen.to_string()))
        }
        .boxed()
    }));
    let barrier = Arc::new(tokio::sync::Barrier::new(8));
    let tasks = (0..8).map(|_| {
        let (service, barrier) = (Arc::clone(&service), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            service.post("/stepped", &key(), "order").await
        })
    });
    for answer in join_all(tasks).await {
        let answer = answer.unwrap();
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    let distinct: std::collections::HashSet<_> = service.effects().await.into_iter().collect();
    assert_eq!((distinct.len(), service.runs()), (8, 8), "the step ran again, not the handler");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i78_steps_need_no_second_connection() {
    let Some(mut service) = Service::with(1, |builder| builder).await else { return };
    service.app.lease = Duration::from_millis(100);
    let asked = Asked::default();
    let service = Arc::new(paying(service, &asked));
    let requests = (0..10).map(|_| {
        let service = Arc::clone(&service);
        tokio::spawn(async move { service.post("/stepped", &key(), "nowhere").await.status })
    });
    let statuses = tokio::time::timeout(Duration::from_secs(60), join_all(requests)).await;
    for status in statuses.expect("nobody waits for a second connection") {
        assert_eq!(status.unwrap(), 201);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_steps_transaction_leaves_nothing_open() {
    let Some(service) = Service::with(1, |builder| builder).await else { return };
    let service = service.on_stepped(|steps, _| {
        async move {
            steps
                .tx("start", async |conn| {
                    insert(conn, "undone").await;
                    assert!(std::env::args().count() == 0, "on purpose");
                    Ok::<_, Error>(())
                })
                .await?;
            Ok(created(String::new()))
        }
        .boxed()
    });
    service.crash(super::app::post("/stepped", &key(), "")).await;
    assert_eq!(service.effects().await, Vec::<String>::new());
    assert_eq!(service.state().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_need_a_key_whatever_the_method() {
    let Some(service) = Service::new().await else { return };
    for method in ["GET", "PUT", "DELETE", "POST"] {
        let request = http::Request::builder().method(method).uri("/stepped").body("".into()).unwrap();
        service.send(request).await.expect(400, "idempotency_key_missing");
    }
    assert_eq!(service.runs(), 0);
}

/// Says how many leases are live when its step has committed.
#[idempotent(name = "jobs.long", key = id, ttl = "7d", lease = "1h", engine = engine)]
async fn run_long_step(
    engine: &Idempotency<Db>,
    service: &Service,
    #[steps] steps: &mut Steps<Db>,
    id: &str,
) -> Result<i64, Error> {
    steps
        .tx("long", async |conn| {
            // As if it had taken longer than the lease.
            let lapse = "UPDATE idempotency_keys SET lease_until = 1 WHERE operation = 'jobs.long'";
            assert_eq!(diesel::sql_query(lapse).execute(conn).await.unwrap(), 1);
            Ok::<_, Error>(())
        })
        .await?;
    let live =
        diesel::dsl::sql::<diesel::sql_types::BigInt>("(SELECT count(*) FROM idempotency_keys WHERE lease_until > 1)");
    Ok(diesel::select(live).get_result(&mut *service.conn().await).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_outlasts_the_lease_renews_it_as_it_commits() {
    let Some(service) = Service::new().await else { return };
    assert_eq!(run_long_step(&service.app.engine, &service, "job").await.unwrap(), 1);
}

#[idempotent(name = "jobs.unread", key = id, ttl = "7d", lease = "10s", arguments = id, engine = engine)]
async fn run_unread(engine: Idempotency<Db>, id: String) -> Result<(), Error> {
    assert!(id.starts_with("fine"), "on purpose");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_cannot_be_resumed_are_in_nobodys_way() {
    let Some(service) = Service::new().await else { return };
    let engine = service.app.engine.clone();
    for n in 0..120 {
        run_unread(engine.clone(), format!("fine {n:03}")).await.unwrap();
    }
    service
        .sql(
            "UPDATE idempotency_keys SET state = 0, lease_until = 0, arguments = 'no JSON', created_at = created_at - 60000 \
             WHERE operation = 'jobs.unread'",
        )
        .await;
    for id in ["bad", "fine at last"] {
        let ran =
            futures_util::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(run_unread(engine.clone(), id.into())));
        assert_eq!(ran.await.is_ok(), id != "bad");
    }
    service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0 WHERE created_at > 1").await;
    let resumed = engine.resume("jobs.unread", |id: String| run_unread(engine.clone(), id)).await;
    assert_eq!(resumed.unwrap(), 1, "the newest, behind 120 that cannot be read and one that panics");
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Job {
    id: String,
    fails: bool,
}

#[idempotent(name = "jobs.run", key = job.id, ttl = "7d", lease = "10s", arguments = job, max_attempts = 4, engine = engine)]
async fn run_job(engine: Idempotency<Db>, #[steps] steps: &mut Steps<Db>, job: Job) -> Result<i64, Error> {
    let effect = steps.tx("work", async |conn| Ok::<_, Error>(insert(conn, &job.id).await)).await?;
    if job.fails && steps.attempt() < 3 {
        return Err(failed());
    }
    Ok(effect)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_job_is_finished_by_the_service_itself() {
    let Some(service) = Service::new().await else { return };
    let engine = service.app.engine.clone();
    let job = |id: &str| Job { id: id.into(), fails: true };
    run_job(engine.clone(), job("abandoned")).await.unwrap_err();
    run_job(engine.clone(), job("released")).await.unwrap_err();
    service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0 WHERE key = 'abandoned'").await;
    let resume = || async { engine.resume("jobs.run", |job: Job| run_job(engine.clone(), job)).await.unwrap() };
    let others = AtomicUsize::new(0);
    let other = engine.resume("jobs.other", |_: Job| async {
        others.fetch_add(1, Ordering::SeqCst);
        Ok::<_, Error>(())
    });
    assert_eq!((other.await.unwrap(), AtomicUsize::load(&others, Ordering::SeqCst)), (0, 0), "not its calls");
    let elsewhere = service.another(|builder| builder.namespace("elsewhere")).await;
    let foreign = elsewhere.app.engine.resume("jobs.run", |job: Job| run_job(engine.clone(), job));
    assert_eq!((foreign.await.unwrap(), service.state_of("abandoned").await), (0, 0), "nor those of other services");
    assert_eq!(resume().await, 0, "the second attempt fails too, and is released");
    service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0 WHERE key = 'abandoned'").await;
    assert_eq!(resume().await, 1);
    assert_eq!(resume().await, 0, "there is nothing left to do");
    assert_eq!(service.effects().await, ["abandoned", "released"], "the recorded step is not repeated");
    assert_eq!(run_job(engine.clone(), job("abandoned")).await.unwrap(), 1, "the stored result");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completer_works_until_its_guard_is_dropped() {
    let Some(service) = Service::new().await else { return };
    let engine = service.app.engine.clone();
    run_job(engine.clone(), Job { id: "a".into(), fails: true }).await.unwrap_err();
    service.sql("UPDATE idempotency_keys SET attempts = 2, state = 0, lease_until = 0").await;
    let again = engine.clone();
    let completer =
        engine.completer("jobs.run", Duration::from_millis(10), move |job: Job| run_job(again.clone(), job));
    while service.state().await != 1 {
        tokio::task::yield_now().await;
    }
    drop(completer);
    assert_eq!(service.effects().await, ["a"]);
}
