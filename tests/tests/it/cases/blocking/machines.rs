//! Transitions.

use std::sync::Mutex;

use diesel::prelude::*;
use idempotent_runtime::{
    Idempotency, Moved, Skipped, StateMachine, Transition, TransitionError, idempotent, state_transition,
};

use super::super::machines::Status;
use super::super::machines::schema::{history, orders};
use super::{Bench, Blocking, JobError, NOW, at_once, insert};

impl Bench {
    fn row(&self, status: &str) -> i64 {
        self.run(&format!("INSERT INTO orders (status) VALUES ('{status}')"));
        orders::table.select(diesel::dsl::max(orders::id)).first::<Option<i64>>(&mut self.conn()).unwrap().unwrap()
    }

    fn status(&self, id: i64) -> Option<String> {
        orders::table.find(id).select(orders::status).first(&mut self.conn()).unwrap()
    }

    fn story(&self, id: i64) -> Vec<String> {
        let lines = history::table.filter(history::row_id.eq(id)).order(history::id);
        lines.select(history::event).load(&mut self.conn()).unwrap()
    }
}

#[test]
fn an_event_is_applied_once_and_says_so() {
    let Some(bench) = Bench::new() else { return };
    let (id, conn) = (bench.row("created"), &mut bench.conn());
    let conn: &mut Blocking = conn;
    let moved = Status::pay().of(id).actor("ann").execute(conn).unwrap();
    assert_eq!(moved, Transition::Applied(Moved { from: Status::Created, to: Status::Paid }));
    assert_eq!(Status::pay().of(id).execute(conn).unwrap(), Transition::AlreadyApplied);
    let refused = Status::begin().of(id).execute(conn).unwrap_err();
    assert!(matches!(refused, TransitionError::Conflict { .. }), "{refused}");
    assert_eq!(bench.story(id), ["pay"]);
}

#[test]
fn s5_of_forty_threads_one_pays() {
    let Some(bench) = Bench::new() else { return };
    let id = bench.row("created");
    let fired = at_once(40, |_| {
        loop {
            match Status::pay().of(id).execute(&mut *bench.conn()) {
                Err(TransitionError::Retryable(_)) => {}
                fired => break fired.unwrap(),
            }
        }
    });
    assert_eq!(fired.iter().filter(|fired| fired.is_applied()).count(), 1);
    assert_eq!(bench.story(id), ["pay"]);
}

#[test]
fn many_rows_move_at_once_and_a_guard_sees_the_row() {
    let Some(bench) = Bench::new() else { return };
    let ids: Vec<i64> = ["created", "paid", "cancelled"].iter().map(|status| bench.row(status)).collect();
    let conn: &mut Blocking = &mut bench.conn();
    let many = Status::cancel().of_many(ids.clone()).execute(conn).unwrap();
    assert_eq!(many.moved, ids[..2]);
    assert!(matches!(many.skipped[..], [(id, Skipped::AlreadyApplied)] if id == ids[2]));
    let id = bench.row("settled");
    bench.run(&format!("UPDATE orders SET amount = 1000 WHERE id = {id}"));
    let moved = Status::approve().of(id).execute(conn).unwrap();
    assert_eq!(moved.applied().map(|moved| moved.to), Some(Status::Large));
}

#[test]
fn what_is_stored_is_verified_and_what_is_old_expires() {
    let Some(bench) = Bench::with(4, idempotent_runtime::Builder::expires::<Status>) else { return };
    let id = bench.row("created");
    bench.run("INSERT INTO orders (status) VALUES ('nonsense')");
    bench.run(&format!("UPDATE orders SET entered_at = {NOW} - 7200000"));
    let conn: &mut Blocking = &mut bench.conn();
    assert!(!Status::verify(conn).unwrap().is_clean());
    let old = Status::Created.for_at_least(std::time::Duration::from_secs(60), 10, conn).unwrap();
    assert_eq!(old.len(), 1);
    assert_eq!(bench.engine.expire().unwrap(), 1);
    assert_eq!(bench.status(id).as_deref(), Some("expired"));
    let born = bench.row("created");
    Status::Created.born(born).execute(conn).unwrap();
    assert_eq!(bench.story(born), ["create"]);
}

#[state_transition(machine = Status, from = Paid, to = Settled)]
fn settle(#[tx] conn: &mut Blocking, #[id] order: i64, fails: bool) -> Result<Transition<i64>, JobError> {
    insert(conn, "ledger");
    if fails { Err(JobError::Refused) } else { Ok(order.into()) }
}

#[test]
fn a_body_runs_in_the_transaction_of_its_transition() {
    let Some(bench) = Bench::new() else { return };
    let (id, conn) = (bench.row("paid"), &mut bench.conn());
    settle(conn, id, true).unwrap_err();
    assert_eq!((bench.status(id).as_deref(), bench.effects().len()), (Some("paid"), 0));
    assert_eq!(settle(conn, id, false).unwrap(), Transition::Applied(id));
    assert_eq!(settle(conn, id, false).unwrap(), Transition::AlreadyApplied);
    assert_eq!((bench.effects().len(), bench.story(id).len()), (1, 1));
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| panicking(conn, id)));
    unwound.unwrap_err();
    assert_eq!(bench.status(id).as_deref(), Some("settled"));
}

#[state_transition(machine = Status, event = notify)]
fn panicking(#[tx] conn: &mut Blocking, #[id] order: i64) -> Result<Transition<i64>, JobError> {
    insert(conn, "undone");
    panic!("on purpose, at {order}")
}

#[idempotent(key = event, ttl = "7d", engine = engine)]
#[state_transition(machine = Status, from = Created, to = Paid)]
fn on_paid(
    engine: &Idempotency<Blocking>,
    #[tx] conn: &mut Blocking,
    #[id] order: i64,
    event: &str,
) -> Result<Transition<i64>, JobError> {
    insert(conn, event);
    Ok(order.into())
}

#[test]
fn a_transition_under_a_key_gives_its_outcome_back() {
    let Some(bench) = Bench::new() else { return };
    let (id, conn) = (bench.row("created"), &mut bench.conn());
    assert_eq!(on_paid(&bench.engine, conn, id, "evt_1").unwrap(), Transition::Applied(id));
    assert_eq!(on_paid(&bench.engine, conn, id, "evt_1").unwrap(), Transition::Applied(id), "the stored outcome");
    assert_eq!(on_paid(&bench.engine, conn, id, "evt_2").unwrap(), Transition::AlreadyApplied);
    assert_eq!(bench.effects(), ["evt_1"]);
}

#[state_transition(machine = Status, from = Created, via = Paying, to = Paid, failure = Created,
    when = |error| matches!(error, JobError::Refused))]
fn pay(
    #[tx] conn: &mut Blocking,
    #[id] order: i64,
    #[key] key: String,
    asked: &Mutex<Vec<String>>,
    fails: bool,
) -> Result<Transition<i64>, JobError> {
    let _ = conn;
    asked.lock().unwrap().push(key);
    if fails { Err(JobError::Refused) } else { Ok(order.into()) }
}

#[test]
fn a_claim_is_committed_before_another_system_is_called() {
    let Some(bench) = Bench::new() else { return };
    let (id, conn, asked) = (bench.row("created"), &mut bench.conn(), Mutex::default());
    pay(conn, id, "key-1".into(), &asked, true).unwrap_err();
    assert_eq!(bench.status(id).as_deref(), Some("created"));
    assert_eq!(pay(conn, id, "key-2".into(), &asked, false).unwrap(), Transition::Applied(id));
    assert_eq!(pay(conn, id, "key-3".into(), &asked, false).unwrap(), Transition::AlreadyApplied);
    assert_eq!(*asked.lock().unwrap(), ["key-1", "key-2"]);
    assert_eq!(bench.story(id), ["begin", "decline", "begin", "confirm"]);
    let inside = conn.transaction(|conn| pay(conn, id, "key-4".into(), &asked, false));
    assert!(matches!(inside, Err(JobError::Transition(TransitionError::InTransaction { .. }))));
}
