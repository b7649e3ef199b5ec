//! `in_flight = wait(…)`: a repeat waits for the first run to end.
//!
//! With one seat, of two repeats at once one is refused: then the other waits. That is how the tests know.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::routing::post as route;
use bytes::Bytes;
use diesel_async::pooled_connection::deadpool::Pool;
use http::StatusCode;
use idempotent_runtime::{Builder, Error, Idempotency, Steps, idempotent};
use tokio::task::{JoinHandle, JoinSet};
use tower::ServiceExt;

use super::app::{Answer, Gates, Service, insert, key, post, read};
use super::database::Db;

#[derive(Clone)]
struct Desk {
    engine: Idempotency<Db>,
    pool: Pool<Db>,
    gates: Gates,
    /// What the next runs answer with; 201 after them.
    answers: Arc<Mutex<VecDeque<StatusCode>>>,
    runs: Arc<AtomicUsize>,
}

const MODES: [&str; 3] = ["/tx", "/leased", "/stepped"];

#[idempotent(key = header, ttl = "1h", in_flight = wait("80s"), engine = desk.engine)]
async fn in_a_transaction(State(desk): State<Desk>, #[tx] conn: &mut Db, body: Bytes) -> (StatusCode, Bytes) {
    insert(conn, "effect").await;
    desk.run(body).await
}

#[idempotent(key = header, ttl = "1h", in_flight = wait("80s"), engine = desk.engine)]
async fn under_a_lease(State(desk): State<Desk>, body: Bytes) -> (StatusCode, Bytes) {
    let answer = desk.run(body).await;
    insert(&mut desk.pool.get().await.unwrap(), "effect").await;
    answer
}

#[idempotent(key = header, ttl = "1h", in_flight = wait("80s"), engine = desk.engine)]
async fn in_steps(
    State(desk): State<Desk>,
    #[steps] steps: &mut Steps<Db>,
    body: Bytes,
) -> Result<(StatusCode, Bytes), Error> {
    let answer = desk.run(body).await;
    steps.tx("insert", async |conn| Ok::<_, Error>(insert(conn, "effect").await)).await?;
    Ok(answer)
}

#[idempotent(key = header, ttl = "1h", in_flight = wait("300ms"), engine = desk.engine)]
async fn briefly_in_a_transaction(State(desk): State<Desk>, #[tx] _conn: &mut Db, body: Bytes) -> (StatusCode, Bytes) {
    desk.run(body).await
}

#[idempotent(key = header, ttl = "1h", in_flight = wait("300ms"), engine = desk.engine)]
async fn briefly_under_a_lease(State(desk): State<Desk>, body: Bytes) -> (StatusCode, Bytes) {
    desk.run(body).await
}

#[idempotent(name = "tests.waiting", key = id, ttl = "1h", in_flight = wait("80s"), engine = desk.engine)]
async fn job(desk: &Desk, id: &str) -> Result<usize, Error> {
    desk.run(Bytes::new()).await;
    Ok(desk.runs())
}

impl Desk {
    fn over(service: &Service) -> Self {
        let (engine, pool) = (service.app.engine.clone(), service.app.pool.clone());
        Self { engine, pool, gates: Gates::new(), answers: Arc::default(), runs: Arc::default() }
    }

    async fn run(&self, body: Bytes) -> (StatusCode, Bytes) {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.gates.pass().await;
        (self.answers.lock().unwrap().pop_front().unwrap_or(StatusCode::CREATED), body)
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    fn send(&self, mode: &str, key: &str, body: &'static str) -> impl Future<Output = Answer> + Send + 'static {
        let router = Router::new()
            .route("/tx", route(in_a_transaction))
            .route("/leased", route(under_a_lease))
            .route("/stepped", route(in_steps))
            .route("/brief/tx", route(briefly_in_a_transaction))
            .route("/brief/leased", route(briefly_under_a_lease))
            .with_state(self.clone());
        let request = post(mode, key, body);
        async move {
            let answer = async { read(router.oneshot(request).await.unwrap()).await };
            tokio::time::timeout(Duration::from_secs(90), answer).await.expect("an answer within 90 s")
        }
    }

    fn spawn(&self, mode: &str, key: &str, body: &'static str) -> JoinHandle<Answer> {
        tokio::spawn(self.send(mode, key, body))
    }

    /// As many repeats as there are seats, all of which wait; one more was refused.
    async fn all_seats_taken(&self, seats: usize, mode: &str, key: &str) -> JoinSet<Answer> {
        let mut asked = JoinSet::new();
        for _ in 0..=seats {
            asked.spawn(self.send(mode, key, "order"));
        }
        asked.join_next().await.unwrap().unwrap().expect(409, "idempotency_key_in_use");
        asked
    }
}

/// A service with so many connections and seats.
async fn desk(connections: usize, seats: usize) -> Option<(Service, Desk)> {
    let service = Service::with(connections, |builder: Builder<Db>| builder.waiters(seats)).await?;
    let desk = Desk::over(&service);
    Some((service, desk))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_wait_beside_a_pool_of_one_connection_and_get_the_answer_of_the_first() {
    for mode in MODES {
        let Some((service, desk)) = desk(1, 10).await else { return };
        let key = key();
        let first = desk.spawn(mode, &key, "order");
        desk.gates.entered().await;
        let waiting = desk.all_seats_taken(10, mode, &key).await;
        desk.gates.let_go();
        let first = first.await.unwrap();
        assert_eq!((first.status, first.replayed()), (201, false));
        for answer in waiting.join_all().await {
            assert_eq!((answer.status, answer.replayed(), &answer.body), (201, true, &first.body), "{mode}");
        }
        assert_eq!((desk.runs(), service.effects().await.len()), (1, 1), "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn when_the_first_fails_one_of_those_who_wait_runs_and_the_rest_get_its_answer() {
    for mode in MODES {
        let Some((_service, desk)) = desk(2, 5).await else { return };
        desk.answers.lock().unwrap().push_back(StatusCode::BAD_GATEWAY);
        let key = key();
        let first = desk.spawn(mode, &key, "order");
        desk.gates.entered().await;
        let waiting = desk.all_seats_taken(5, mode, &key).await;
        desk.gates.let_go();
        assert_eq!(first.await.unwrap().status, 502);
        desk.gates.entered().await;
        desk.gates.let_go();
        let answers = waiting.join_all().await;
        assert!(answers.iter().all(|answer| answer.status == 201), "{mode}: {answers:?}");
        assert_eq!(answers.iter().filter(|answer| answer.replayed()).count(), 4, "{mode}");
        assert_eq!(desk.runs(), 2, "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_wait_ends_in_time() {
    for mode in ["/brief/tx", "/brief/leased"] {
        let Some((_service, desk)) = desk(1, 8).await else { return };
        let key = key();
        let first = desk.spawn(mode, &key, "order");
        desk.gates.entered().await;
        let begun = Instant::now();
        let refused = desk.send(mode, &key, "order").await.expect(409, "idempotency_key_in_use");
        assert!(begun.elapsed() >= Duration::from_millis(300), "{mode}: {:?}", begun.elapsed());
        assert!(refused.retry_after() >= 1);
        desk.gates.let_go();
        assert_eq!(first.await.unwrap().status, 201);
        assert!(desk.send(mode, &key, "order").await.replayed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i40_another_body_is_a_mismatch_and_does_not_wait() {
    for mode in MODES {
        let Some((_service, desk)) = desk(1, 8).await else { return };
        let key = key();
        let first = desk.spawn(mode, &key, "order");
        desk.gates.entered().await;
        desk.send(mode, &key, "another order").await.expect(409, "idempotency_key_reused");
        desk.gates.let_go();
        assert_eq!(first.await.unwrap().status, 201);
        desk.send(mode, &key, "another order").await.expect(409, "idempotency_key_reused");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_client_that_hangs_up_waits_no_longer() {
    for mode in MODES {
        let Some((service, desk)) = desk(2, 1).await else { return };
        desk.answers.lock().unwrap().push_back(StatusCode::BAD_GATEWAY);
        let key = key();
        let first = desk.spawn(mode, &key, "order");
        desk.gates.entered().await;
        // The request that is left of the two is the one that waits.
        let mut waiting = desk.all_seats_taken(1, mode, &key).await;
        waiting.shutdown().await;
        desk.gates.let_go();
        assert_eq!(first.await.unwrap().status, 502);
        assert!(service.app.engine.drain(Duration::from_secs(30)).await);
        assert_eq!(desk.runs(), 1, "{mode}: the key is free again, and nobody took it");
    }
}

/// Another engine is another process: it knows of the run by its record only.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_of_another_process_is_waited_for_too() {
    for mode in MODES {
        let Some((service, desk)) = desk(2, 8).await else { return };
        let elsewhere = Desk::over(&service.another(|builder| builder.waiters(1)).await);
        for answer in [StatusCode::CREATED, StatusCode::BAD_GATEWAY] {
            desk.answers.lock().unwrap().push_back(answer);
            let key = key();
            let first = desk.spawn(mode, &key, "order");
            desk.gates.entered().await;
            // SQLite's claim of a transaction waits for the writer by itself, and nobody is refused.
            let sqlite = std::any::type_name::<Db>().contains("Sqlite");
            let mut waiting = match sqlite && mode == "/tx" {
                true => JoinSet::from_iter([elsewhere.send(mode, &key, "order")]),
                false => elsewhere.all_seats_taken(1, mode, &key).await,
            };
            if mode != "/tx" {
                elsewhere.send(mode, &key, "another order").await.expect(409, "idempotency_key_reused");
            }
            desk.gates.let_go();
            assert_eq!(first.await.unwrap().status, answer);
            if answer != StatusCode::CREATED {
                elsewhere.gates.let_go();
            }
            let waited = waiting.join_next().await.unwrap().unwrap();
            assert_eq!((waited.status, waited.replayed()), (201, answer == StatusCode::CREATED), "{mode}");
        }
        assert_eq!((desk.runs(), elsewhere.runs()), (2, 1), "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_job_is_waited_for_as_well() {
    let Some((_service, desk)) = desk(1, 8).await else { return };
    let run = |desk: &Desk| {
        let desk = desk.clone();
        tokio::spawn(async move { job(&desk, "the only one").await })
    };
    let first = run(&desk);
    desk.gates.entered().await;
    let second = run(&desk);
    desk.gates.let_go();
    assert_eq!((first.await.unwrap().unwrap(), second.await.unwrap().unwrap()), (1, 1));
    assert_eq!(desk.runs(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_keys_and_repeats_at_once_come_to_one_run_each() {
    for mode in MODES {
        let Some((service, desk)) = desk(3, 64).await else { return };
        let mut asked = JoinSet::new();
        let keys: Vec<String> = (0..12).map(|_| key()).collect();
        for _ in 0..5 {
            for key in &keys {
                asked.spawn(desk.send(mode, key, "order"));
                desk.gates.let_go();
            }
        }
        let answers = asked.join_all().await;
        assert!(answers.iter().all(|answer| answer.status == 201), "{mode}: {answers:?}");
        assert_eq!(answers.iter().filter(|answer| !answer.replayed()).count(), 12, "{mode}");
        assert_eq!((desk.runs(), service.effects().await.len()), (12, 12), "{mode}");
    }
}
