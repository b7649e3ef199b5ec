//! The client kit against the program, over a line that keeps breaking.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use idempotent_runtime::client::{FileJournal, IdempotentClient, Outcome, RetryPolicy};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::answer::Answer;
use crate::ask::list;
use crate::database::Database;
use crate::program::Setup;
use crate::proxy::Proxy;

const CALLS: u64 = 1_000;
const AT_ONCE: usize = 16;
const SEED: u64 = 42;

/// Tries again quickly, and does not give up.
fn stubborn() -> IdempotentClient {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let policy = RetryPolicy::default()
        .attempts(100)
        .within(Duration::from_secs(120))
        .pauses(Duration::from_millis(2), Duration::from_millis(100));
    IdempotentClient::new(http).retries(policy)
}

fn order(item: &str) -> Value {
    json!({ "item": item, "amount": 2000, "currency": "usd" })
}

#[tokio::test(flavor = "multi_thread")]
async fn i79_a_thousand_calls_over_a_bad_line_are_a_thousand_orders() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let line = Proxy::to(orders.address(), SEED).await;
    let (url, client) = (format!("http://{}/orders", line.address), stubborn());
    let (next, replays) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));

    let mut callers = Vec::new();
    for _ in 0..AT_ONCE {
        let (url, client, next, replays) = (url.clone(), client.clone(), Arc::clone(&next), Arc::clone(&replays));
        callers.push(tokio::spawn(async move {
            let mut made = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= CALLS {
                    return made;
                }
                let item = format!("book {number}");
                let outcome = client.post(&url).bearer_auth("alice").json(&order(&item)).send().await.expect("a call");
                let response = match outcome {
                    Outcome::New(response) => response,
                    Outcome::Replayed(response) => {
                        replays.fetch_add(1, Ordering::Relaxed);
                        response
                    }
                    Outcome::Unknown(unknown) => panic!("{unknown}"),
                };
                let answer = Answer::read(response).await.expect("a whole answer").expect(201).json();
                assert_eq!(answer["item"], item.as_str(), "its own order");
                made.push((answer["id"].as_i64().expect("an id"), item));
            }
        }));
    }
    let mut answered = BTreeSet::new();
    for caller in callers {
        answered.extend(caller.await.expect("its calls"));
    }

    let stored = list("/orders", "alice", &orders).await;
    assert_eq!(stored.len(), 1_000, "one order for each call");
    let stored = stored
        .iter()
        .map(|order| (order["id"].as_i64().expect("an id"), order["item"].as_str().expect("an item").to_owned()));
    assert_eq!(stored.collect::<BTreeSet<_>>(), answered, "each was told of its own");
    let broken = &line.broken;
    for (breaks, least) in [(&broken.in_request, 30), (&broken.after_request, 10), (&broken.in_answer, 30)] {
        let breaks = breaks.load(Ordering::Relaxed);
        assert!(breaks >= least, "only {breaks}: {broken:?}");
    }
    let replays = replays.load(Ordering::Relaxed);
    assert!(replays >= 30, "only {replays} answers were replays: {broken:?}");
}

#[tokio::test]
async fn a_restarted_client_finds_what_it_ordered() {
    let (database, folder) = (Database::new(), new_folder());
    let orders = Setup::orders(&database).start();
    let line = Proxy::without_answers(orders.address()).await;
    let client = || {
        let path = folder.join("calls.jsonl");
        stubborn().journal(FileJournal::open(path, Duration::from_secs(3_600)).expect("a journal"))
    };
    let call = |client: IdempotentClient, address: &str| {
        let call = client.post(format!("http://{address}/orders")).id("cart 42");
        call.bearer_auth("alice").json(&order("book")).send()
    };

    let once = client().retries(RetryPolicy::default().attempts(1));
    let first = call(once, &line.address.to_string()).await.expect("a call");
    assert!(matches!(first, Outcome::Unknown(_)), "{first:?}");
    assert_eq!(list("/orders", "alice", &orders).await.len(), 1, "it has arrived");

    let again = call(client(), orders.address()).await.expect("a call");
    assert!(matches!(again, Outcome::Replayed(_)), "{again:?}");
    assert_eq!(list("/orders", "alice", &orders).await.len(), 1);
    std::fs::remove_dir_all(folder).expect("the folder");
}

fn new_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("blackbox_{}", Uuid::new_v4().simple()));
    std::fs::create_dir(&folder).expect("a folder");
    folder
}
