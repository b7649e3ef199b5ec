//! Many rows at once, and rows that end by themselves.

use std::time::Duration;

use idempotent_runtime::{Idempotency, Scope, Skipped, StateMachine, TransitionError};

use super::super::database::Db;
use super::{Bench, Status, line};

#[tokio::test]
async fn s74_a_thousand_rows_are_moved_by_one_update_and_the_others_are_named() {
    let Some(bench) = Bench::new().await else { return };
    let mut values = Vec::new();
    for n in 0..1_000 {
        values.push(match n % 100 {
            1 => "('settled', 0, 0, 0)",
            2 => "('cancelled', 0, 0, 0)",
            3 => "('shipped', 0, 0, 0)",
            _ if n % 2 == 0 => "('created', 0, 0, 0)",
            _ => "('paid', 0, 0, 0)",
        });
    }
    bench.run(&format!("INSERT INTO orders (status, version, entered_at, amount) VALUES {}", values.join(", "))).await;
    let counting = Counting::default();
    let pool = bench.database.pool_with(1, {
        let counting = counting.clone();
        move |conn: &mut Db| diesel_async::AsyncConnection::set_instrumentation(conn, counting.clone())
    });
    let ids: Vec<i64> = (1..=1_000).chain([5_000, 1]).collect();
    let done = Status::cancel().of_many(ids).actor("nightly").execute(&mut *pool.get().await.unwrap()).await.unwrap();
    assert_eq!((done.moved.len(), done.skipped.len()), (970, 32));
    assert_eq!(counting.updates(), 1);
    let kinds = |kind: fn(&Skipped) -> bool| done.skipped.iter().filter(|(_, skipped)| kind(skipped)).count();
    assert_eq!(kinds(|skipped| matches!(skipped, Skipped::AlreadyApplied)), 11);
    assert_eq!(kinds(|skipped| matches!(skipped, Skipped::Refused(TransitionError::Conflict { .. }))), 10);
    assert_eq!(kinds(|skipped| matches!(skipped, Skipped::Refused(TransitionError::UnknownState { .. }))), 10);
    assert_eq!(kinds(|skipped| matches!(skipped, Skipped::Refused(TransitionError::NotFound { .. }))), 1);
    assert_eq!(bench.story(1).await, [line("cancel", "created", "cancelled")]);
    assert_eq!(bench.story(6).await, [line("cancel", "paid", "cancelled")]);
    assert_eq!(bench.version(6).await, 1);
}

#[tokio::test]
async fn no_row_is_forgotten_behind_thousands_of_repeats() {
    let Some(bench) = Bench::new().await else { return };
    let (first, last) = (bench.row("created").await, bench.row("created").await);
    let ids = std::iter::repeat_n(first, 12_000).chain([last]);
    let done = Status::pay().of_many(ids).execute(&mut *bench.conn().await).await.unwrap();
    assert_eq!((done.moved, done.skipped.len()), (vec![first, last], 11_999));
}

/// Counts the updates of a connection.
#[derive(Debug, Clone, Default)]
struct Counting(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Counting {
    fn updates(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl diesel::connection::Instrumentation for Counting {
    fn on_connection_event(&mut self, event: diesel::connection::InstrumentationEvent<'_>) {
        if let diesel::connection::InstrumentationEvent::StartQuery { query, .. } = event {
            // SQLite's transaction takes its lock by an update of no row.
            let query = query.to_string();
            if query.starts_with("UPDATE") && !query.contains("WHERE 0") {
                self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
        }
    }
}

#[tokio::test]
async fn guards_choose_for_each_row_among_many() {
    let Some(bench) = Bench::new().await else { return };
    let (small, large) = (bench.row("settled").await, bench.row("settled").await);
    bench.run(&format!("UPDATE orders SET amount = 500 WHERE id = {large}")).await;
    let done = Status::approve().of_many([small, large]).execute(&mut *bench.conn().await).await.unwrap();
    assert_eq!(done.moved.len(), 2);
    assert_eq!(
        (bench.status(small).await.as_deref(), bench.status(large).await.as_deref()),
        (Some("small"), Some("large"))
    );
}

#[tokio::test]
async fn what_is_to_end_by_itself_ends_after_its_time_and_nothing_else_does() {
    let Some(bench) = Bench::new().await else { return };
    let minutes = |n: i64| n * 60_000;
    let old = bench.aged("created", minutes(31)).await;
    let begun = bench.aged("paying", minutes(40)).await;
    let young = bench.aged("created", minutes(29)).await;
    let paid = bench.aged("paid", minutes(600)).await;
    let engine = Idempotency::builder(bench.pool.clone(), Scope::shared()).expires::<Status>().build();
    assert_eq!(engine.expire().await.unwrap(), 2);
    assert_eq!(engine.expire().await.unwrap(), 0);
    for (id, status) in [(old, "expired"), (begun, "expired"), (young, "created"), (paid, "paid")] {
        assert_eq!(bench.status(id).await.as_deref(), Some(status));
    }
    assert_eq!(bench.story(begun).await, [line("expire", "paying", "expired")]);
}

#[tokio::test]
async fn the_sweeper_of_the_engine_ends_them_too() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.aged("created", 31 * 60_000).await;
    let engine = Idempotency::builder(bench.pool.clone(), Scope::shared()).expires::<Status>().build();
    engine.migrate().await.unwrap();
    let sweeper = engine.sweeper_every(Duration::from_millis(5));
    while bench.status(id).await.as_deref() != Some("expired") {
        tokio::task::yield_now().await;
    }
    drop(sweeper);
}

#[tokio::test]
async fn rows_that_are_stuck_are_found_the_oldest_first() {
    let Some(bench) = Bench::new().await else { return };
    let (second, first) = (bench.aged("paying", 60_000).await, bench.aged("paying", 90_000).await);
    bench.aged("paying", 1_000).await;
    bench.aged("created", 90_000).await;
    let conn = &mut *bench.conn().await;
    let stuck = Status::Paying.for_at_least(Duration::from_secs(30), 10, conn).await.unwrap();
    let ids: Vec<_> = stuck.iter().map(|stuck| stuck.id.parse::<i64>().unwrap()).collect();
    assert_eq!(ids, [first, second]);
    assert!(stuck[0].age >= Duration::from_secs(90));
    assert_eq!(Status::Paying.for_at_least(Duration::from_secs(30), 1, conn).await.unwrap().len(), 1);
}
