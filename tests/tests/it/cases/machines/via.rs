//! Transitions around the call of another system.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use idempotent_runtime::{Transition, TransitionError, state_transition, transaction};

use super::super::database::Db;
use super::bodies::OrderError;
use super::{Bench, Status, line};

/// Another system, that knows each request by its key.
#[derive(Debug, Clone, Default)]
struct Provider(Arc<Mutex<HashMap<String, u32>>>);

impl Provider {
    /// Charges once for each key, and counts the calls.
    fn charge(&self, key: &str) -> u32 {
        let mut calls = self.0.lock().unwrap();
        *calls.entry(key.to_owned()).and_modify(|calls| *calls += 1).or_insert(1)
    }

    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> = self.0.lock().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    }
}

/// What the provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Yes,
    Declined,
    Nothing,
}

#[state_transition(
    machine = Status, from = Created, via = Paying, to = Paid,
    failure = Created, when = |error| matches!(error, OrderError::Refused), reclaim = "1m"
)]
async fn pay(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    #[key] key: String,
    #[actor] who: &str,
    provider: &Provider,
    says: Says,
) -> Result<Transition<String>, OrderError> {
    let _ = conn;
    provider.charge(&key);
    match says {
        Says::Yes => Ok(key.into()),
        Says::Declined => Err(OrderError::Refused),
        Says::Nothing => Err(OrderError::Database(diesel::result::Error::BrokenTransactionManager)),
    }
}

#[tokio::test]
async fn the_state_in_between_is_committed_before_the_call_and_left_after_it() {
    let Some(bench) = Bench::new().await else { return };
    let (id, provider) = (bench.row("created").await, Provider::default());
    let conn = &mut *bench.conn().await;
    let paid = pay(conn, id, "k1".into(), "ann", &provider, Says::Yes).await.unwrap();
    assert_eq!(paid, Transition::Applied("k1".to_owned()));
    assert_eq!(bench.story(id).await, [line("begin", "created", "paying"), line("confirm", "paying", "paid")]);
    assert_eq!(pay(conn, id, "k2".into(), "ann", &provider, Says::Yes).await.unwrap(), Transition::AlreadyApplied);
    assert_eq!(provider.keys(), ["k1"]);
}

#[tokio::test]
async fn others_see_the_claim_while_the_call_is_under_way() {
    let Some(bench) = Bench::new().await else { return };
    let (id, provider) = (bench.row("created").await, Provider::default());
    let (inside, outside) = (tokio::sync::Notify::new(), tokio::sync::Notify::new());
    let conn = &mut *bench.conn().await;
    let (first, ()) = tokio::join!(waiting(conn, id, "k1".into(), &inside, &outside), async {
        inside.notified().await;
        assert_eq!(bench.status(id).await.as_deref(), Some("paying"));
        let busy = pay(&mut *bench.conn().await, id, "k2".into(), "bob", &provider, Says::Yes).await;
        let Err(OrderError::Transition(TransitionError::Conflict { actual, guard, .. })) = &busy else {
            panic!("{busy:?}")
        };
        assert_eq!((actual.as_str(), guard.is_some()), ("paying", true));
        outside.notify_one();
    });
    assert_eq!(first.unwrap(), Transition::Applied("k1".to_owned()));
    assert!(provider.keys().is_empty());
}

#[state_transition(machine = Status, from = Created, via = Paying, to = Paid)]
async fn waiting(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    #[key] key: String,
    inside: &tokio::sync::Notify,
    outside: &tokio::sync::Notify,
) -> Result<Transition<String>, OrderError> {
    let _ = conn;
    inside.notify_one();
    outside.notified().await;
    Ok(key.into())
}

#[tokio::test]
async fn a_final_failure_takes_the_failure_edge_and_another_error_stays_in_between() {
    let Some(bench) = Bench::new().await else { return };
    let (id, provider) = (bench.row("created").await, Provider::default());
    let conn = &mut *bench.conn().await;
    let declined = pay(conn, id, "k1".into(), "ann", &provider, Says::Declined).await;
    assert!(matches!(declined, Err(OrderError::Refused)), "{declined:?}");
    assert_eq!(bench.status(id).await.as_deref(), Some("created"));
    let unknown = pay(conn, id, "k2".into(), "ann", &provider, Says::Nothing).await;
    assert!(matches!(unknown, Err(OrderError::Database(_))), "{unknown:?}");
    assert_eq!(bench.status(id).await.as_deref(), Some("paying"));
    // The same caller goes on at once, with the same key.
    assert_eq!(
        pay(conn, id, "k2".into(), "ann", &provider, Says::Yes).await.unwrap(),
        Transition::Applied("k2".into())
    );
    assert_eq!(provider.charge("k2"), 3);
}

#[tokio::test]
async fn a_row_that_is_stuck_is_gone_on_with_by_the_key_of_the_claim_and_never_a_new_one() {
    let Some(bench) = Bench::new().await else { return };
    let (id, provider) = (bench.row("created").await, Provider::default());
    let conn = &mut *bench.conn().await;
    assert!(pay(conn, id, "k1".into(), "ann", &provider, Says::Nothing).await.is_err());
    // Too early for anybody else.
    let early = pay(conn, id, "k2".into(), "bob", &provider, Says::Yes).await;
    assert!(matches!(early, Err(OrderError::Transition(TransitionError::Conflict { .. }))), "{early:?}");
    bench.run(&format!("UPDATE orders SET entered_at = entered_at - 61000 WHERE id = {id}")).await;
    let paid = pay(conn, id, "k2".into(), "bob", &provider, Says::Yes).await.unwrap();
    assert_eq!(paid, Transition::Applied("k1".to_owned()));
    assert_eq!(provider.keys(), ["k1"]);
    assert_eq!(bench.story(id).await, [line("begin", "created", "paying"), line("confirm", "paying", "paid")]);
}

#[tokio::test]
async fn an_attempt_that_was_overtaken_finds_it_done_or_is_told_that_another_one_runs() {
    let Some(bench) = Bench::new().await else { return };
    let (id, provider) = (bench.row("created").await, Provider::default());
    let (inside, outside) = (tokio::sync::Notify::new(), tokio::sync::Notify::new());
    let conn = &mut *bench.conn().await;
    // Somebody goes on with the same key, and is faster.
    let (slow, ()) = tokio::join!(waiting(conn, id, "k1".into(), &inside, &outside), async {
        inside.notified().await;
        let fast = pay(&mut *bench.conn().await, id, "k1".into(), "bob", &provider, Says::Yes).await.unwrap();
        assert!(fast.is_applied());
        outside.notify_one();
    });
    assert_eq!(slow.unwrap(), Transition::AlreadyApplied);
    // The claim ends, and another one begins with another key.
    let id = bench.row("created").await;
    let (slow, ()) = tokio::join!(waiting(conn, id, "k3".into(), &inside, &outside), async {
        inside.notified().await;
        let conn = &mut *bench.conn().await;
        assert!(pay(conn, id, "k3".into(), "bob", &provider, Says::Declined).await.is_err());
        assert!(pay(conn, id, "k4".into(), "bob", &provider, Says::Nothing).await.is_err());
        outside.notify_one();
    });
    assert!(matches!(slow, Err(OrderError::Transition(TransitionError::Conflict { guard: Some(_), .. }))), "{slow:?}");
    assert_eq!(bench.status(id).await.as_deref(), Some("paying"));
}

#[tokio::test]
async fn s12_a_claim_that_nobody_would_see_is_refused() {
    let Some(bench) = Bench::new().await else { return };
    let (id, provider) = (bench.row("created").await, Provider::default());
    let conn = &mut *bench.conn().await;
    let refused = transaction(conn, async |conn| pay(conn, id, "k1".into(), "ann", &provider, Says::Yes).await).await;
    let Err(OrderError::Transition(TransitionError::InTransaction { event, via, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((event, via), ("begin", "paying"));
    assert!(provider.keys().is_empty());
    assert_eq!(bench.status(id).await.as_deref(), Some("created"));
}

#[tokio::test]
async fn a_panic_leaves_the_row_in_between() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let pool = bench.pool.clone();
    let crashed = tokio::spawn(async move { crashing(&mut pool.get().await.unwrap(), id, "k1".into()).await });
    assert!(crashed.await.unwrap_err().is_panic());
    assert_eq!(bench.status(id).await.as_deref(), Some("paying"));
}

#[state_transition(machine = Status, from = Created, via = Paying, to = Paid)]
async fn crashing(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<()>, OrderError> {
    let _ = (conn, key);
    assert!(order < 0, "crashed");
    Ok(().into())
}

#[state_transition(machine = Status, from = Settled, via = Small, to = Large)]
async fn enlarge(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<()>, OrderError> {
    let _ = (conn, key);
    Ok(().into())
}

#[state_transition(machine = Status, from = Created, via = Paying, to = Paid, reclaim = "1m")]
async fn pay_once(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    #[version] seen: i64,
    #[key] key: String,
    fails: bool,
) -> Result<Transition<String>, OrderError> {
    let _ = conn;
    if fails { Err(OrderError::Refused) } else { Ok(key.into()) }
}

#[tokio::test]
async fn going_on_is_no_transition_that_a_version_would_see() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    for _ in 0..3 {
        assert!(matches!(pay_once(conn, id, 0, "k1".into(), true).await, Err(OrderError::Refused)));
        assert_eq!(bench.version(id).await, 1);
    }
    assert!(pay_once(conn, id, 0, "k1".into(), false).await.unwrap().is_applied());
}

#[tokio::test]
async fn the_guards_of_the_graph_hold_on_the_way_into_the_state_in_between() {
    let Some(bench) = Bench::new().await else { return };
    let (small, large) = (bench.row("settled").await, bench.row("settled").await);
    bench.run(&format!("UPDATE orders SET amount = 500 WHERE id = {large}")).await;
    let conn = &mut *bench.conn().await;
    assert!(enlarge(conn, small, "k1".into()).await.unwrap().is_applied());
    // A guard before it is open: the graph leads elsewhere.
    let refused = enlarge(conn, large, "k1".into()).await;
    let Err(OrderError::Transition(TransitionError::Conflict { guard, .. })) = &refused else { panic!("{refused:?}") };
    assert_eq!(*guard, Some("Row::is_large"));
    let id = bench.row("notified").await;
    assert!(hold(conn, id, "k2".into()).await.is_err());
    assert_eq!(bench.status(id).await.as_deref(), Some("notified"));
    bench.run(&format!("UPDATE orders SET amount = 500 WHERE id = {id}")).await;
    assert!(hold(conn, id, "k2".into()).await.unwrap().is_applied());
}

#[state_transition(machine = Status, from = Notified, via = Held, to = Small)]
async fn hold(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<()>, OrderError> {
    let _ = (conn, key);
    Ok(().into())
}

#[tokio::test]
async fn nobody_goes_on_with_the_key_of_an_older_attempt() {
    let Some(bench) = Bench::new().await else { return };
    let (id, provider) = (bench.row("created").await, Provider::default());
    let conn = &mut *bench.conn().await;
    assert!(pay(conn, id, "k1".into(), "ann", &provider, Says::Declined).await.is_err());
    // By an event alone, without a key.
    assert!(Status::begin().of(id).execute(conn).await.unwrap().is_applied());
    bench.run(&format!("UPDATE orders SET entered_at = entered_at - 61000 WHERE id = {id}")).await;
    let refused = pay(conn, id, "k2".into(), "bob", &provider, Says::Yes).await;
    assert!(matches!(refused, Err(OrderError::Transition(TransitionError::Conflict { .. }))), "{refused:?}");
    assert_eq!(provider.keys(), ["k1"]);
}
