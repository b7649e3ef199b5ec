//! Orders of events that a race meets once in a thousand times, forced.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};

use axum::response::IntoResponse;
use diesel_async::AsyncConnection;
use futures_util::FutureExt;
use futures_util::future::join_all;
use http::StatusCode;
use tests::Pause;

use super::app::{MODES, Service, insert, key};
use super::database::{CLAIMING, Db};

/// Every request has found nothing (SQLite), or is about to look (PostgreSQL), when the first one claims.
#[tokio::test(flavor = "multi_thread", worker_threads = 16)]
async fn i03_all_have_looked_before_any_claims() {
    const N: usize = 8;
    for mode in MODES {
        let Some(plain) = Service::new().await else { return };
        let barrier = Arc::new(Barrier::new(N));
        let pool = plain.database.pool_with(N, move |conn: &mut Db| {
            let (barrier, mut first) = (Arc::clone(&barrier), true);
            conn.set_instrumentation(Pause::before(CLAIMING, move || {
                if std::mem::take(&mut first) {
                    barrier.wait();
                }
            }));
        });
        let mut paused = Service::over(Arc::clone(&plain.database), plain.app.pool.clone(), |builder| builder).await;
        paused.app.engine = idempotent_runtime::Idempotency::builder(pool, idempotent_runtime::Scope::shared()).build();
        let (paused, key) = (Arc::new(paused), key());
        let requests = (0..N).map(|_| {
            let (service, key) = (Arc::clone(&paused), key.clone());
            tokio::spawn(async move { service.post(mode, &key, "order").await })
        });
        let answers: Vec<_> = join_all(requests).await.into_iter().map(Result::unwrap).collect();
        let ran = answers.iter().filter(|answer| answer.status == 201 && !answer.replayed()).count();
        assert_eq!(ran, 1, "{answers:?}");
        for answer in answers.into_iter().filter(|answer| answer.status != 201) {
            answer.expect(409, "idempotency_key_in_use");
        }
        assert_eq!(paused.runs(), 1);
    }
}

/// The loser is held up until the winner has answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i06_a_loser_that_was_held_up_until_the_winner_had_finished_replays() {
    for mode in MODES {
        let Some(winner) = Service::new().await else { return };
        let (arrived, has_arrived) = mpsc::channel();
        let (go, may_go) = mpsc::channel::<()>();
        let (channels, once) = (Arc::new(std::sync::Mutex::new((arrived, may_go))), Arc::new(AtomicBool::new(true)));
        let pool = winner.database.pool_with(1, move |conn: &mut Db| {
            let (channels, once) = (Arc::clone(&channels), Arc::clone(&once));
            conn.set_instrumentation(Pause::before(CLAIMING, move || {
                if once.swap(false, Ordering::SeqCst) {
                    let channels = channels.lock().unwrap();
                    channels.0.send(()).unwrap();
                    channels.1.recv().unwrap();
                }
            }));
        });
        let mut loser = Service::over(Arc::clone(&winner.database), winner.app.pool.clone(), |builder| builder).await;
        loser.app.engine = idempotent_runtime::Idempotency::builder(pool, idempotent_runtime::Scope::shared()).build();
        let (loser, key) = (Arc::new(loser), key());
        let held_up = tokio::spawn({
            let (loser, key) = (Arc::clone(&loser), key.clone());
            async move { loser.post(mode, &key, "order").await }
        });
        tokio::task::block_in_place(|| has_arrived.recv().unwrap());
        let first = winner.post(mode, &key, "order").await;
        assert_eq!((first.status, first.replayed()), (201, false));
        go.send(()).unwrap();
        let second = held_up.await.unwrap();
        assert_eq!((second.status, second.replayed(), &second.body), (201, true, &first.body));
        assert_eq!(loser.runs(), 0);
    }
}

/// PostgreSQL: each waits for a row that the other has locked. The one that the server ends answers 500 of its own,
/// and is run again all the same. (SQLite has one writer at a time.)
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i76_a_deadlock_that_a_handler_maps_to_an_answer_is_run_again() {
    use super::app::effects;
    use diesel::prelude::*;
    use diesel_async::RunQueryDsl;

    let Some(service) = Service::new().await else { return };
    if super::database::NAME == "sqlite" {
        return;
    }
    let ids = {
        let conn = &mut *service.conn().await;
        [insert(conn, "a").await, insert(conn, "b").await]
    };
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let meet = Arc::new([AtomicBool::new(true), AtomicBool::new(true)]);
    let service = Arc::new(service.on_tx(move |conn, body| {
        let (barrier, meet) = (Arc::clone(&barrier), Arc::clone(&meet));
        async move {
            let which = usize::from(&body[..] == b"backwards");
            let order = if which == 0 { [0, 1] } else { [1, 0] };
            for (n, row) in order.into_iter().enumerate() {
                let update = diesel::update(effects::table.find(ids[row])).set(effects::what.eq("updated"));
                if update.execute(conn).await.is_err() {
                    return StatusCode::INTERNAL_SERVER_ERROR.into_response();
                }
                if n == 0 && meet[which].swap(false, Ordering::SeqCst) {
                    barrier.wait().await;
                }
            }
            StatusCode::CREATED.into_response()
        }
        .boxed()
    }));
    let send = |body: &'static str| {
        let service = Arc::clone(&service);
        tokio::spawn(async move { service.post("/tx", &key(), body).await })
    };
    let (one, two) = (send("forwards"), send("backwards"));
    assert_eq!((one.await.unwrap().status, two.await.unwrap().status), (201, 201));
    assert_eq!(service.runs(), 3, "one of them ran twice");
}
