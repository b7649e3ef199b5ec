//! Connections that die at the worst moment. (SQLite has none.)

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::response::IntoResponse;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{Error, Idempotency, Scope};
use tests::proxy::Proxy;

use super::cases::app::{Service, insert, key};

/// A service whose engine reaches the server through a proxy, and the proxy.
async fn behind_a_proxy(connections: usize) -> Option<(Service, Proxy)> {
    let mut service = Service::new().await?;
    let proxy = Proxy::to(service.database.server()).await;
    let pool = service.database.pool_through(&proxy, connections);
    service.app.engine = Idempotency::builder(pool, Scope::shared()).build();
    Some((service, proxy))
}

/// Cuts the answer to a COMMIT that is sent together with one INSERT before it: 27 bytes say that the INSERT is done, and
/// the next ones, that the transaction is. Both have to be prepared.
fn cut_the_answer_to_commit(proxy: &Proxy) {
    proxy.cut_answer_after(30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i84_a_commit_whose_answer_is_lost_is_decided_by_the_record() {
    let Some((service, proxy)) = behind_a_proxy(1).await else { return };
    let cuts = Arc::new(AtomicBool::new(false));
    let (cutter, cut) = (proxy.clone(), Arc::clone(&cuts));
    let service = service.on_tx(move |conn, _| {
        let (cutter, cut) = (cutter.clone(), Arc::clone(&cut));
        async move {
            let id = insert(conn, "order").await;
            if cut.swap(false, Ordering::SeqCst) {
                cut_the_answer_to_commit(&cutter);
            }
            (StatusCode::CREATED, format!("order {id}")).into_response()
        }
        .boxed()
    });
    // The only connection prepares its statements.
    service.post("/tx", &key(), "").await;
    cuts.store(true, Ordering::SeqCst);
    let key = key();
    let answer = service.post("/tx", &key, "").await;
    assert_eq!((answer.status, answer.text()), (201, "order 2"), "not a 500, and not a second order");
    assert_eq!(service.post("/tx", &key, "").await.body, answer.body);
    assert_eq!((service.effects().await.len(), service.runs()), (2, 2), "it was not run again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i84_the_commit_of_a_step_is_decided_by_its_record() {
    let Some((service, proxy)) = behind_a_proxy(1).await else { return };
    let (cuts, runs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (cutter, cut, ran) = (proxy.clone(), Arc::clone(&cuts), Arc::clone(&runs));
    let service = service.on_stepped(move |steps, _| {
        let (cutter, cut, ran) = (cutter.clone(), Arc::clone(&cut), Arc::clone(&ran));
        async move {
            let id: i64 = steps
                .tx("start", async |conn| {
                    ran.fetch_add(1, Ordering::SeqCst);
                    let id = insert(conn, "start").await;
                    if cut.swap(false, Ordering::SeqCst) {
                        cut_the_answer_to_commit(&cutter);
                    }
                    Ok::<_, Error>(id)
                })
                .await?;
            Ok((StatusCode::CREATED, id.to_string()).into_response())
        }
        .boxed()
    });
    // The only connection prepares its statements.
    service.post("/stepped", &key(), "").await;
    cuts.store(true, Ordering::SeqCst);
    let answer = service.post("/stepped", &key(), "").await;
    assert_eq!((answer.status, answer.text()), (201, "2"));
    assert_eq!((service.effects().await.len(), service.runs()), (2, 2));
    assert_eq!(runs.load(Ordering::SeqCst), 2, "the step is not run again");
}

/// A small generator (xorshift), so that a failure names the seed that repeats it.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(sides)).unwrap_or(0)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_cut_at_random_bytes_lose_nothing_and_repeat_nothing() {
    let Some((mut service, proxy)) = behind_a_proxy(4).await else { return };
    service.app.lease = Duration::from_millis(300);
    let service = Arc::new(service.on_stepped(|steps, _| {
        async move {
            let one: i64 = steps.tx("start", async |conn| Ok::<_, Error>(insert(conn, "start").await)).await?;
            let two: i64 = steps.tx("confirm", async |conn| Ok::<_, Error>(insert(conn, "confirm").await)).await?;
            Ok((StatusCode::CREATED, format!("{one} {two}")).into_response())
        }
        .boxed()
    }));
    let seed = u64::from(std::process::id()) | 1;
    let mut dice = Dice(seed);
    let mut answers = HashMap::new();
    for n in 0..120 {
        let mode = ["/tx", "/leased", "/stepped"][n % 3];
        let key = key();
        // A handler of a test panics where its own statement fails: that is one more way to go.
        match dice.roll(2) {
            0 => proxy.cut_answer_after(dice.roll(900)),
            _ => proxy.cut_request_after(dice.roll(900)),
        }
        let begun = tokio::time::Instant::now();
        let answer = loop {
            let request = {
                let (service, key) = (Arc::clone(&service), key.clone());
                tokio::spawn(async move { service.post(mode, &key, "order").await })
            };
            match request.await {
                Ok(answer) if answer.status == 201 => break answer,
                Ok(answer) => assert!([409, 500, 503].contains(&answer.status), "seed {seed}: {answer:?}"),
                Err(panicked) => assert!(panicked.is_panic()),
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "seed {seed}: {mode} {key} is stuck");
        };
        answers.insert((mode, key), answer.body);
    }
    // The last cut may still be to come, and is not for those who look.
    proxy.cut_no_more();
    for ((mode, key), body) in answers {
        let again = service.post(mode, &key, "order").await;
        assert_eq!((again.status, again.replayed(), again.body), (201, true, body), "seed {seed}: {mode} {key}");
    }
    let effects = service.effects().await;
    let count = |what: &str| effects.iter().filter(|effect| *effect == what).count();
    assert_eq!((count("order"), count("start"), count("confirm")), (40, 40, 40), "seed {seed}");
}
