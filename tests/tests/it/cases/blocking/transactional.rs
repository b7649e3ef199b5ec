//! On the caller's connection, in a transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};

use diesel::Connection as _;
use diesel::connection::TransactionManager;
use idempotent_runtime::{Error, Idempotency, blocking, idempotent};

use super::{Bench, Blocking, JobError, at_once, insert};

struct Event {
    id: String,
    amount: i64,
    fails: bool,
}

impl Event {
    fn new(id: &str, amount: i64) -> Self {
        Self { id: id.into(), amount, fails: false }
    }
}

#[idempotent(key = event.id, ttl = "7d", fingerprint = event.amount, engine = engine)]
fn on_payment(engine: &Idempotency<Blocking>, #[tx] conn: &mut Blocking, event: &Event) -> Result<String, JobError> {
    insert(conn, &event.id);
    if event.fails {
        return Err(JobError::Refused);
    }
    Ok(format!("receipt of {}", event.id))
}

#[test]
fn an_event_that_arrives_twice_is_consumed_once() {
    let Some(bench) = Bench::new() else { return };
    let (engine, event) = (&bench.engine, Event::new("evt_1", 10));
    let first = on_payment(engine, &mut bench.conn(), &event).unwrap();
    assert_eq!(on_payment(engine, &mut bench.conn(), &event).unwrap(), first);
    let other = on_payment(engine, &mut bench.conn(), &Event::new("evt_1", 20)).unwrap_err();
    assert_eq!(other.code(), "idempotency_key_reused");
    assert_eq!(bench.effects(), ["evt_1"]);
}

#[test]
fn an_error_releases_and_leaves_nothing() {
    let Some(bench) = Bench::new() else { return };
    let mut event = Event::new("evt_1", 10);
    event.fails = true;
    assert_eq!(on_payment(&bench.engine, &mut bench.conn(), &event).unwrap_err().code(), "refused");
    assert_eq!((bench.effects().len(), bench.count("idempotency_keys WHERE state <> 2")), (0, 0));
    event.fails = false;
    assert!(on_payment(&bench.engine, &mut bench.conn(), &event).is_ok());
}

#[test]
fn of_calls_at_once_one_runs_and_the_others_are_told() {
    let Some(bench) = Bench::new() else { return };
    let event = Event::new("evt_1", 10);
    let results = at_once(16, |_| on_payment(&bench.engine, &mut bench.conn(), &event));
    assert!(results.iter().any(Result::is_ok));
    for result in results {
        match result {
            Ok(receipt) => assert_eq!(receipt, "receipt of evt_1"),
            Err(JobError::Idempotency(error)) => assert!(error.is_retryable(), "{error}"),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(bench.effects(), ["evt_1"]);
}

#[test]
fn i75_neighbouring_keys_at_once_all_run() {
    let Some(bench) = Bench::new() else { return };
    let results = at_once(16, |n| {
        let event = Event::new(&format!("evt_{n:03}"), 10);
        loop {
            match on_payment(&bench.engine, &mut bench.conn(), &event) {
                // The caller's own transaction met another: it is to run it again.
                Err(JobError::Idempotency(Error::Retryable(_))) => {}
                result => break result,
            }
        }
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(bench.effects().len(), 16);
}

#[test]
fn i73_inside_the_callers_transaction_a_duplicate_aborts_nothing() {
    let Some(bench) = Bench::new() else { return };
    let engine = &bench.engine;
    on_payment(engine, &mut bench.conn(), &Event::new("evt_1", 10)).unwrap();
    let batch = bench.conn().transaction(|conn| {
        insert(conn, "caller");
        on_payment(engine, conn, &Event::new("evt_1", 10))?;
        let refused = on_payment(engine, conn, &Event::new("evt_1", 20)).unwrap_err();
        assert_eq!(refused.code(), "idempotency_key_reused");
        let mut failing = Event::new("evt_2", 1);
        failing.fails = true;
        on_payment(engine, conn, &failing).unwrap_err();
        on_payment(engine, conn, &Event::new("evt_3", 1))?;
        Ok::<_, JobError>(())
    });
    batch.unwrap();
    assert_eq!(bench.effects(), ["evt_1", "caller", "evt_3"]);
}

#[test]
fn a_record_vanishes_with_the_callers_transaction() {
    let Some(bench) = Bench::new() else { return };
    let (engine, event) = (&bench.engine, Event::new("evt_1", 10));
    let rolled_back = bench.conn().transaction(|conn| {
        on_payment(engine, conn, &event)?;
        // A repeat in the same transaction sees what was done in it.
        on_payment(engine, conn, &event)?;
        Err::<(), JobError>(JobError::Refused)
    });
    rolled_back.unwrap_err();
    assert_eq!((bench.count("idempotency_keys"), bench.effects().len()), (0, 0));
    on_payment(engine, &mut bench.conn(), &event).unwrap();
    assert_eq!(bench.effects(), ["evt_1"]);
}

#[test]
fn an_expired_record_is_as_none() {
    let Some(bench) = Bench::new() else { return };
    let event = Event::new("evt_1", 10);
    on_payment(&bench.engine, &mut bench.conn(), &event).unwrap();
    bench.run("UPDATE idempotency_keys SET expires_at = 0");
    on_payment(&bench.engine, &mut bench.conn(), &Event::new("evt_1", 20)).unwrap();
    assert_eq!(bench.effects(), ["evt_1", "evt_1"]);
}

#[idempotent(name = "tests.blocking.panicking", key = "the key", ttl = "1h", engine = engine)]
fn panicking(engine: &Idempotency<Blocking>, #[tx] conn: &mut Blocking) -> Result<(), JobError> {
    insert(conn, "undone");
    panic!("on purpose")
}

#[test]
fn a_panic_goes_on_and_leaves_no_transaction_open() {
    let Some(bench) = Bench::new() else { return };
    let mut conn = bench.conn();
    let unwound = catch_unwind(AssertUnwindSafe(|| panicking(&bench.engine, &mut conn)));
    assert_eq!(unwound.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    let conn: &mut Blocking = &mut conn;
    let status = <Blocking as diesel::Connection>::TransactionManager::transaction_manager_status_mut(conn);
    assert_eq!(status.transaction_depth().unwrap(), None);
    insert(conn, "after");
    assert_eq!(bench.effects(), ["after"]);
}

#[idempotent(name = "tests.blocking.unbalanced", key = key, ttl = "1h", engine = engine)]
fn unbalanced(engine: &Idempotency<Blocking>, #[tx] conn: &mut Blocking, key: &str) -> Result<(), JobError> {
    insert(conn, "undone");
    <Blocking as diesel::Connection>::TransactionManager::begin_transaction(conn)?;
    Ok(())
}

#[test]
fn a_function_that_leaves_a_transaction_open_is_rolled_back() {
    let Some(bench) = Bench::new() else { return };
    let error = unbalanced(&bench.engine, &mut bench.conn(), "the key").unwrap_err();
    assert!(matches!(&error, JobError::Idempotency(error) if !error.status().is_success()), "{error}");
    assert_eq!((bench.effects().len(), bench.count("idempotency_keys WHERE state = 1")), (0, 0));
}

#[idempotent(name = "tests.blocking.swallowing", key = key, ttl = "1h", engine = engine)]
fn swallowing(engine: &Idempotency<Blocking>, #[tx] conn: &mut Blocking, key: &str) -> Result<(), JobError> {
    insert(conn, "undone");
    let _ = diesel::RunQueryDsl::execute(diesel::sql_query("SELECT * FROM nowhere"), conn);
    Ok(())
}

/// An error ends a transaction of PostgreSQL, also one that the function swallows.
#[test]
fn a_swallowed_error_never_commits_half() {
    let Some(bench) = Bench::new() else { return };
    match swallowing(&bench.engine, &mut bench.conn(), "the key") {
        Ok(()) => assert_eq!(bench.effects(), ["undone"], "nothing was lost"),
        Err(_) => assert_eq!(bench.effects(), Vec::<String>::new()),
    }
    let expected = usize::from(super::super::database::NAME != "postgres");
    assert_eq!(bench.effects().len(), expected);
}

#[test]
fn effects_wait_for_the_outermost_commit() {
    let Some(bench) = Bench::new() else { return };
    let (sender, said) = std::sync::mpsc::channel();
    let say = |what: &'static str| {
        let sender = sender.clone();
        move || sender.send(what).map_err(|error| error.to_string())
    };
    let conn: &mut Blocking = &mut bench.conn();
    blocking::transaction(conn, |conn| {
        blocking::transaction(conn, |conn| Ok::<_, JobError>(blocking::after_commit(conn, say("inner"))?))?;
        blocking::after_commit(conn, say("outer"))?;
        let undone = blocking::transaction(conn, |conn| {
            blocking::after_commit(conn, say("never"))?;
            Err::<(), JobError>(JobError::Refused)
        });
        undone.unwrap_err();
        assert!(said.try_recv().is_err(), "nothing has committed yet");
        Ok::<_, JobError>(())
    })
    .unwrap();
    assert_eq!(said.try_iter().collect::<Vec<_>>(), ["inner", "outer"]);
    let foreign = conn.transaction(|conn| Ok::<_, JobError>(blocking::after_commit(conn, say("never"))?));
    assert_eq!(foreign.unwrap_err().code(), "effect");
}
