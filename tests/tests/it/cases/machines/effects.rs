//! Effects after the commit.

use std::sync::{Arc, Mutex};

use diesel_async::AsyncConnection;
use idempotent_runtime::{EffectError, Transition, after_commit, state_transition, transaction};

use super::super::database::Db;
use super::bodies::OrderError;
use super::{Bench, Status};

/// What has happened, in order.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    fn notes(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn after_commit(&self, conn: &mut Db, what: &'static str) -> Result<(), EffectError> {
        let log = self.clone();
        after_commit(conn, move || async move {
            log.note(what);
            Ok::<_, String>(())
        })
    }
}

#[state_transition(machine = Status, event = pay)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64, log: &Log, fails: bool) -> Result<Transition<()>, OrderError> {
    log.after_commit(conn, "mail").expect("in a transaction of ours");
    if fails { Err(OrderError::Refused) } else { Ok(().into()) }
}

#[tokio::test]
async fn s21_an_effect_runs_once_after_the_commit_of_the_transition_itself() {
    let Some(bench) = Bench::new().await else { return };
    let (id, log) = (bench.row("created").await, Log::default());
    let conn = &mut *bench.conn().await;
    assert!(pay(conn, id, &log, true).await.is_err());
    assert!(log.notes().is_empty());
    for _ in 0..2 {
        let _ = pay(conn, id, &log, false).await.unwrap();
    }
    assert_eq!(log.notes(), ["mail"]);
}

#[tokio::test]
async fn s25_an_effect_waits_for_the_outermost_commit_and_keeps_its_order() {
    let Some(bench) = Bench::new().await else { return };
    let (first, second, log) = (bench.row("created").await, bench.row("created").await, Log::default());
    let conn = &mut *bench.conn().await;
    transaction(conn, async |conn| {
        let _ = pay(conn, first, &log, false).await?;
        log.after_commit(conn, "between").unwrap();
        let _ = transaction(conn, async |conn| pay(conn, second, &log, false).await).await?;
        log.note("body");
        Ok::<_, OrderError>(())
    })
    .await
    .unwrap();
    assert_eq!(log.notes(), ["body", "mail", "between", "mail"]);
}

#[tokio::test]
async fn s26_an_effect_never_runs_after_a_rollback() {
    let Some(bench) = Bench::new().await else { return };
    let (id, other, log) = (bench.row("created").await, bench.row("created").await, Log::default());
    let conn = &mut *bench.conn().await;
    let undone: Result<(), OrderError> = transaction(conn, async |conn| {
        let _ = pay(conn, id, &log, false).await?;
        Err(OrderError::Refused)
    })
    .await;
    assert!(undone.is_err() && log.notes().is_empty());
    // An inner one that is undone takes its own, and leaves those of the outer.
    transaction(conn, async |conn| {
        log.after_commit(conn, "outer").unwrap();
        let inner = transaction(conn, async |conn| {
            let _ = pay(conn, other, &log, false).await?;
            Err::<(), _>(OrderError::Refused)
        });
        assert!(inner.await.is_err());
        Ok::<_, OrderError>(())
    })
    .await
    .unwrap();
    assert_eq!(log.notes(), ["outer"]);
}

#[tokio::test]
async fn a_foreign_transaction_refuses_effects() {
    let Some(bench) = Bench::new().await else { return };
    let (id, log) = (bench.row("created").await, Log::default());
    let conn = &mut *bench.conn().await;
    assert_eq!(log.after_commit(conn, "none"), Err(EffectError::NotInTransaction));
    conn.transaction(async |conn| {
        assert_eq!(log.after_commit(conn, "foreign"), Err(EffectError::NotInTransaction));
        // A transition inside it commits with it, and cannot see when.
        let fired = refusing(conn, id, &log).await.unwrap();
        assert_eq!(fired, Transition::Applied(Err(EffectError::NotInTransaction)));
        transaction(conn, async |conn| {
            assert_eq!(log.after_commit(conn, "inside"), Err(EffectError::NotInTransaction));
            Ok::<_, diesel::result::Error>(())
        })
        .await
    })
    .await
    .unwrap();
    // And a foreign savepoint inside one of ours.
    transaction(conn, async |conn| {
        conn.transaction(async |conn| {
            assert_eq!(log.after_commit(conn, "savepoint"), Err(EffectError::NotInTransaction));
            Ok::<_, diesel::result::Error>(())
        })
        .await?;
        log.after_commit(conn, "ours").unwrap();
        Ok::<_, diesel::result::Error>(())
    })
    .await
    .unwrap();
    assert_eq!(log.notes(), ["ours"]);
}

#[state_transition(machine = Status, event = pay)]
async fn refusing(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    log: &Log,
) -> Result<Transition<Result<(), EffectError>>, OrderError> {
    Ok(log.after_commit(conn, "never").into())
}

#[tokio::test]
async fn s27_an_effect_that_fails_or_panics_is_reported_and_the_next_one_runs() {
    let Some(bench) = Bench::new().await else { return };
    let (ids, log) = ([bench.row("created").await, bench.row("created").await], Log::default());
    let (reported, _guard) = reports();
    let conn = &mut *bench.conn().await;
    transaction(conn, async |conn| {
        after_commit(conn, || async { Err("the mail server is away") }).unwrap();
        let _ = pay(conn, ids[0], &log, false).await?;
        after_commit(conn, || async { if true { panic!("out of paper") } else { Ok::<_, String>(()) } }).unwrap();
        let _ = pay(conn, ids[1], &log, false).await?;
        Ok::<_, OrderError>(())
    })
    .await
    .unwrap();
    assert_eq!(log.notes(), ["mail", "mail"]);
    let reported = String::from_utf8(reported.0.lock().unwrap().clone()).unwrap();
    assert!(
        reported.contains("the mail server is away") && reported.contains("it panicked: out of paper"),
        "{reported}"
    );
}

/// Collects what is traced by this thread.
#[derive(Debug, Clone, Default)]
struct Reports(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Reports {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn reports() -> (Reports, tracing::subscriber::DefaultGuard) {
    let reports = Reports::default();
    let writer = reports.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    (reports, tracing::subscriber::set_default(subscriber))
}

/// An instrumentation is told of a COMMIT before it is sent. One that fails has been told of all the same, and no effect
/// hangs on that.
#[tokio::test]
async fn an_effect_of_a_commit_that_fails_does_not_run() {
    use diesel::connection::InstrumentationEvent;
    use diesel_async::SimpleAsyncConnection;
    let fails_late = match super::super::database::NAME {
        "postgres" => "CREATE TABLE late (n BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO late VALUES (1)",
        "sqlite" => {
            "CREATE TABLE early (n INTEGER PRIMARY KEY); \
                     CREATE TABLE late (n INTEGER REFERENCES early (n) DEFERRABLE INITIALLY DEFERRED)"
        }
        _ => return, // MySQL checks nothing at the commit.
    };
    let Some(bench) = Bench::new().await else { return };
    bench.run(fails_late).await;
    let (log, told) = (Log::default(), Log::default());
    let conn = &mut *bench.conn().await;
    if super::super::database::NAME == "sqlite" {
        conn.batch_execute("PRAGMA foreign_keys = ON").await.unwrap();
    }
    let telling = told.clone();
    conn.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event
            && query.to_string().contains("COMMIT")
        {
            telling.note("commit");
        }
    });
    let committed = transaction(conn, async |conn| {
        log.after_commit(conn, "mail").unwrap();
        conn.batch_execute("INSERT INTO late VALUES (1)").await
    })
    .await;
    assert!(committed.is_err());
    assert_eq!((told.notes(), log.notes()), (vec!["commit".to_owned()], Vec::new()));
}
