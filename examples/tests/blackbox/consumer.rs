//! Events that arrive twice, out of order, in batches, at two consumers, and around a `kill -9`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Barrier;
use std::time::Instant;

use serde_json::{Value, json};

use crate::database::{Database, number, numbers};
use crate::feed::{Feed, feed};
use crate::program::{PATIENCE, Setup};

fn event(id: &str, order: i64, kind: &str, amount: i64) -> String {
    let event = json!({ "id": id, "order": order, "type": kind, "amount": amount });
    format!("{event}\n")
}

/// What came of each event, in short: `applied`, or `applied again`.
fn outcomes(answers: &[Value]) -> Vec<String> {
    let events = answers.iter().filter(|answer| answer["ack"].is_null());
    let short = events.map(|answer| {
        let outcome = answer["outcome"].as_str().unwrap_or_else(|| panic!("{answer}"));
        match (answer["replayed"] == true, answer["dead_letter"] == true) {
            (true, _) => format!("{outcome} again"),
            (_, true) => format!("{outcome} dead"),
            _ => outcome.to_owned(),
        }
    });
    short.collect()
}

/// How many rows the ledger has, and what they come to.
async fn booked(database: &Database) -> (usize, i64) {
    let amounts = numbers(database, "amount AS number FROM inbox_ledger").await;
    (amounts.len(), amounts.iter().sum())
}

async fn orders(database: &Database, status: &str) -> i64 {
    number(database, &format!("COUNT(*) AS number FROM inbox_orders WHERE status = '{status}'")).await
}

#[tokio::test]
async fn the_sample_shows_every_outcome() {
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let (answers, status) = Feed::alone(&setup).end();
    assert!(status.success());
    let expected = "applied, applied, applied again, not_yet, failed, applied, \
                    not_yet, failed, applied, applied, failed, mismatch, late, failed, failed dead";
    assert_eq!(outcomes(&answers).join(", "), expected);
    assert_eq!(answers[6], json!({ "ack": ["evt_1", "evt_2", "evt_2", "evt_3"], "nack": ["evt_5", "evt_6"] }));
    assert_eq!(booked(&database).await, (3, 2000));

    let (again, _) = Feed::alone(&setup).end();
    let expected = "applied again, applied again, applied again, applied again, failed dead, applied again, \
                    applied again, failed dead, applied again, applied again, failed dead, mismatch, late again, \
                    failed dead, failed dead";
    assert_eq!(outcomes(&again).join(", "), expected);
    assert_eq!(booked(&database).await, (3, 2000));
}

#[tokio::test]
async fn an_event_that_comes_too_early_is_delivered_again_and_succeeds() {
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let [placed, paid, refunded] =
        ["placed", "paid", "refunded"].map(|kind| event(&format!("evt_{kind}"), 1, kind, 2000));
    // The worst order there is, delivered again until all is settled.
    let all = format!("{refunded}{paid}{placed}");
    assert_eq!(outcomes(&feed(&setup, &all)), ["not_yet", "not_yet", "applied"]);
    assert_eq!(outcomes(&feed(&setup, &all)), ["not_yet", "applied", "applied again"]);
    assert_eq!(outcomes(&feed(&setup, &all)), ["applied", "applied again", "applied again"]);
    assert_eq!((orders(&database, "refunded").await, booked(&database).await), (1, (2, 0)));
    assert_eq!(number(&database, "COUNT(*) AS number FROM inbox_failures").await, 0, "success forgets the failures");
}

#[tokio::test]
async fn a_late_event_moves_no_order_back() {
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let kinds = ["placed", "paid", "refunded"];
    let all: String = kinds.map(|kind| event(&format!("evt_{kind}"), 1, kind, 2000)).concat();
    feed(&setup, all);
    // The producer says the same once more, under other names.
    let late: String = kinds.map(|kind| event(&format!("evt_{kind}_2"), 1, kind, 2000)).concat();
    let answers = feed(&setup, &late);
    assert_eq!(outcomes(&answers), ["late", "late", "late"]);
    assert_eq!(answers[3]["nack"], json!([]), "there is nothing to deliver again");
    assert_eq!(outcomes(&feed(&setup, &late)), ["late again", "late again", "late again"]);
    assert_eq!((orders(&database, "refunded").await, booked(&database).await), (1, (2, 0)));
}

#[tokio::test]
async fn an_event_that_fails_rolls_back_nothing_of_its_batch() {
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let batch = [
        event("evt_1", 1, "placed", 2000),
        event("evt_2", 2, "placed", 500),
        event("evt_3", 1, "paid", 1999),
        event("evt_4", 2, "paid", 500),
        "no JSON at all\n".to_owned(),
        event("evt_5", 3, "placed", 100),
    ];
    let answers = feed(&setup, batch.concat());
    assert_eq!(outcomes(&answers), ["applied", "applied", "failed", "applied", "failed", "applied"]);
    assert_eq!(answers[2]["error"], "order 1 is about 2000, and not 1999");
    assert_eq!(answers[6]["ack"], json!(["evt_1", "evt_2", "evt_4", "evt_5"]));
    assert_eq!(answers[6]["nack"], json!(["evt_3", "line 5"]));
    assert_eq!((orders(&database, "placed").await, orders(&database, "paid").await), (2, 1));
    assert_eq!(booked(&database).await, (1, 500));
    assert_eq!(number(&database, "COUNT(*) AS number FROM inbox_order_history").await, 4);
}

#[tokio::test]
async fn another_event_by_the_same_id_is_refused() {
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let (placed, other) = (event("evt_1", 1, "placed", 2000), event("evt_1", 2, "placed", 2000));
    let answers = feed(&setup, format!("{placed}{other}{placed}"));
    assert_eq!(outcomes(&answers), ["applied", "mismatch", "applied again"]);
    assert_eq!(answers[3], json!({ "ack": ["evt_1", "evt_1"], "nack": ["evt_1"] }));
    assert_eq!(orders(&database, "placed").await, 1);
}

#[tokio::test]
async fn poison_is_counted_in_the_database_and_ends_among_the_dead_letters() {
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let poison = b"{\"id\":7,\"broken\":\xff\0\n".as_slice();
    for delivery in 1..=6 {
        // Each time another process.
        let answers = feed(&setup, poison);
        assert_eq!(outcomes(&answers), [if delivery < 5 { "failed" } else { "failed dead" }]);
        assert_eq!(answers[0]["deliveries"], delivery);
        assert_eq!(answers[1][if delivery < 5 { "nack" } else { "ack" }], json!(["line 1"]));
    }
    assert_eq!(number(&database, "COUNT(*) AS number FROM inbox_dead_letters").await, 1);
}

#[tokio::test]
async fn a_dead_event_that_succeeds_after_all_is_no_dead_letter() {
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let (placed, paid) = (event("evt_1", 1, "placed", 2000), event("evt_2", 1, "paid", 2000));
    let dead = outcomes(&feed(&setup, paid.repeat(5)));
    assert_eq!(dead.last().map(String::as_str), Some("not_yet dead"));
    assert_eq!(number(&database, "COUNT(*) AS number FROM inbox_dead_letters").await, 1);
    assert_eq!(outcomes(&feed(&setup, format!("{placed}{paid}"))), ["applied", "applied"]);
    assert_eq!(number(&database, "COUNT(*) AS number FROM inbox_dead_letters").await, 0);
}

/// So many orders, each placed and paid.
fn many(orders: i64) -> String {
    (1..=orders).fold(String::new(), |mut events, order| {
        let _ = write!(events, "{}", event(&format!("evt_{order}_placed"), order, "placed", order));
        let _ = write!(events, "{}", event(&format!("evt_{order}_paid"), order, "paid", order));
        events
    })
}

/// Whether each of `many` orders is paid, and its amount booked once.
async fn assert_each_paid_once(database: &Database, count: i64) {
    assert_eq!(orders(database, "paid").await, count);
    let mut amounts = numbers(database, "amount AS number FROM inbox_ledger").await;
    amounts.sort_unstable();
    assert_eq!(amounts, (1..=count).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_consumers_of_the_same_deliveries_apply_each_event_once() {
    const ORDERS: i64 = 40;
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let mut consumers = [Feed::start(&setup), Feed::start(&setup)];
    for consumer in &mut consumers {
        consumer.say("ready?\n\n");
        assert_eq!(consumer.answer()["outcome"], "failed");
        assert_eq!(consumer.answer()["nack"], json!(["line 1"]));
    }
    let barrier = Barrier::new(2);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let running = consumers.map(|mut consumer| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                consumer.say(many(ORDERS));
                consumer.end().0
            })
        });
        running.into_iter().flat_map(|consumer| consumer.join().expect("its answers")).collect()
    });
    let mut applied = BTreeMap::<String, usize>::new();
    for answer in answers.iter().filter(|answer| answer["outcome"] == "applied" && answer["replayed"].is_null()) {
        *applied.entry(answer["id"].to_string()).or_default() += 1;
    }
    assert!(applied.values().all(|times| *times == 1), "{applied:?}");
    let known = BTreeSet::from(["applied", "in_use", "retry", "not_yet"]);
    for answer in answers.iter().filter(|answer| answer["ack"].is_null()) {
        assert!(answer["outcome"].as_str().is_some_and(|outcome| known.contains(outcome)), "{answer}");
    }

    let again = delivered_until_settled(&setup, &many(ORDERS));
    assert!(outcomes(&again).iter().all(|outcome| outcome.starts_with("applied")), "{again:?}");
    assert_each_paid_once(&database, ORDERS).await;
}

/// There the record of a transaction that is open cannot be seen, and nobody waits for it.
#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_another_consumer_is_at_is_in_use() {
    use diesel_async::SimpleAsyncConnection as _;

    let database = Database::new();
    let setup = Setup::consumer(&database);
    feed(&setup, event("evt_1", 1, "placed", 2000));
    let pool = examples::db::open(&database.url()).await.expect("the database");
    let mut conn = pool.get().await.expect("a connection");
    conn.batch_execute("BEGIN; SELECT * FROM inbox_orders WHERE id = 1 FOR UPDATE").await.expect("a lock");

    // Whichever claims the event waits for the order; only the other one can answer.
    let consumers = [(); 2].map(|()| Feed::start(&setup));
    let paid = event("evt_2", 1, "paid", 2000);
    let answers = consumers.map(|mut consumer| {
        consumer.say(&paid);
        std::thread::spawn(move || consumer.end().0)
    });
    let deadline = Instant::now() + PATIENCE;
    while !answers.iter().any(std::thread::JoinHandle::is_finished) {
        assert!(Instant::now() < deadline, "both wait");
        tokio::task::yield_now().await;
    }
    conn.batch_execute("ROLLBACK").await.expect("no lock");
    let mut said = answers.map(|answers| answers.join().expect("its answers")[0]["outcome"].to_string());
    said.sort_unstable();
    assert_eq!(said, ["\"applied\"", "\"in_use\""]);
    assert_eq!(outcomes(&feed(&setup, &paid)), ["applied again"]);
    assert_eq!(booked(&database).await, (1, 2000));
}

/// Delivers everything again as long as something is not acknowledged, as a broker does: what is said the last time.
fn delivered_until_settled(setup: &Setup, events: &str) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answers = feed(setup, events);
        if answers.last().is_some_and(|batch| batch["nack"] == json!([])) {
            return answers;
        }
        assert!(Instant::now() < deadline, "{answers:?}");
    }
}

#[tokio::test]
async fn killed_anywhere_everything_delivered_again_is_the_same_ledger() {
    const ORDERS: i64 = 30;
    let database = Database::new();
    let setup = Setup::consumer(&database);
    let mut told = Vec::new();
    for answers in [0, 1, 7, 20, 41] {
        let mut consumer = Feed::start(&setup);
        consumer.say(many(ORDERS));
        consumer.say("\n");
        told.extend((0..answers).map(|_| consumer.answer()));
        consumer.kill();
    }
    // A server may take a moment to notice that a consumer is gone: until then its event is in use.
    let answers = delivered_until_settled(&setup, &many(ORDERS));
    // Not one that was applied runs again.
    for told in told.iter().filter(|answer| answer["outcome"] == "applied") {
        let again = answers.iter().find(|answer| answer["id"] == told["id"]).expect("it was delivered again");
        assert_eq!((&again["outcome"], &again["replayed"]), (&json!("applied"), &json!(true)), "{again}");
    }
    assert_each_paid_once(&database, ORDERS).await;
}
