//! Plain functions: on the caller's connection, and under a lease.

use std::sync::atomic::{AtomicUsize, Ordering};

use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};
use idempotent_runtime::{Error, Idempotency, idempotent};
use serde::{Deserialize, Serialize};

use super::app::{Service, insert, key};
use super::database::Db;

#[derive(Debug, thiserror::Error)]
enum ConsumeError {
    #[error("idempotency: {0}")]
    Idempotency(#[from] Error),
    #[error("database: {0}")]
    Database(#[from] diesel::result::Error),
    #[error("refused")]
    Refused,
}

impl ConsumeError {
    fn code(&self) -> &str {
        match self {
            Self::Idempotency(error) => error.code(),
            Self::Database(_) => "database",
            Self::Refused => "refused",
        }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Receipt {
    effect: i64,
    of: String,
}

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
async fn on_payment(engine: &Idempotency<Db>, #[tx] conn: &mut Db, event: &Event) -> Result<Receipt, ConsumeError> {
    let effect = insert(conn, &event.id).await;
    if event.fails {
        return Err(ConsumeError::Refused);
    }
    Ok(Receipt { effect, of: event.id.clone() })
}

mod elsewhere {
    use super::{ConsumeError, Db, Event, Idempotency, Receipt, idempotent, insert};

    #[idempotent(key = event.id, ttl = "7d", engine = engine)]
    pub(super) async fn on_payment(
        engine: &Idempotency<Db>,
        #[tx] conn: &mut Db,
        event: &Event,
    ) -> Result<Receipt, ConsumeError> {
        Ok(Receipt { effect: insert(conn, "elsewhere").await, of: event.id.clone() })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_arrives_twice_is_consumed_once() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    let event = Event::new("evt_1", 10);
    let first = on_payment(engine, &mut *service.conn().await, &event).await.unwrap();
    let again = on_payment(engine, &mut *service.conn().await, &event).await.unwrap();
    assert_eq!(first, again);
    let other = on_payment(engine, &mut *service.conn().await, &Event::new("evt_1", 20)).await.unwrap_err();
    assert_eq!(other.code(), "idempotency_key_reused");
    assert_eq!(service.effects().await, ["evt_1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn i45_keys_are_compared_byte_by_byte() {
    let Some(service) = Service::new().await else { return };
    let keys = ["K", "k", "k ", "é", "e\u{301}", "e", "ß", "ss"];
    for key in keys {
        on_payment(&service.app.engine, &mut *service.conn().await, &Event::new(key, 10)).await.unwrap();
    }
    assert_eq!(service.effects().await, keys);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_releases_and_leaves_nothing() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    let mut event = Event::new("evt_1", 10);
    event.fails = true;
    assert_eq!(on_payment(engine, &mut *service.conn().await, &event).await.unwrap_err().code(), "refused");
    assert_eq!(service.effects().await, Vec::<String>::new());
    event.fails = false;
    assert!(on_payment(engine, &mut *service.conn().await, &event).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn i44_functions_of_one_name_in_two_modules_have_their_own_keys() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    let event = Event::new("evt_1", 10);
    on_payment(engine, &mut *service.conn().await, &event).await.unwrap();
    elsewhere::on_payment(engine, &mut *service.conn().await, &event).await.unwrap();
    assert_eq!(service.effects().await, ["evt_1", "elsewhere"]);
    assert_eq!(service.records().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn i73_inside_the_callers_transaction_a_duplicate_aborts_nothing() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    on_payment(engine, &mut *service.conn().await, &Event::new("evt_1", 10)).await.unwrap();
    let conn = &mut *service.conn().await;
    let batch = conn.transaction(async |conn| {
        insert(conn, "caller").await;
        on_payment(engine, conn, &Event::new("evt_1", 10)).await?;
        let refused = on_payment(engine, conn, &Event::new("evt_1", 20)).await.unwrap_err();
        assert_eq!(refused.code(), "idempotency_key_reused");
        let mut failing = Event::new("evt_2", 1);
        failing.fails = true;
        on_payment(engine, conn, &failing).await.unwrap_err();
        on_payment(engine, conn, &Event::new("evt_3", 1)).await?;
        Ok::<_, ConsumeError>(())
    });
    batch.await.unwrap();
    assert_eq!(service.effects().await, ["evt_1", "caller", "evt_3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_vanishes_with_the_callers_transaction() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    let event = Event::new("evt_1", 10);
    let conn = &mut *service.conn().await;
    let rolled_back = conn.transaction(async |conn| {
        on_payment(engine, conn, &event).await?;
        // A repeat in the same transaction sees what was done in it.
        on_payment(engine, conn, &event).await?;
        Err::<(), ConsumeError>(ConsumeError::Refused)
    });
    rolled_back.await.unwrap_err();
    assert_eq!((service.records().await, service.effects().await.len()), (0, 0));
    on_payment(engine, conn, &event).await.unwrap();
    assert_eq!(service.effects().await, ["evt_1"]);
}

/// The caller's snapshot is older than the first run: the look is blind, and only the guard of the end row protects.
#[tokio::test(flavor = "multi_thread")]
async fn i82_a_run_that_began_before_the_first_committed_leaves_no_second_effect() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    let event = Event::new("evt_1", 10);
    let conn = &mut *service.conn().await;
    if super::database::NAME == "sqlite" {
        // A deferred transaction that has read cannot write over a newer state: the error is a typed one.
        let raced = conn.transaction(async |conn| {
            diesel::sql_query("SELECT COUNT(*) FROM effects").execute(conn).await?;
            on_payment(engine, &mut *service.conn().await, &event).await?;
            on_payment(engine, conn, &event).await
        });
        let error = raced.await.unwrap_err();
        assert_eq!(error.code(), "idempotency_unavailable");
    } else if super::database::NAME == "mysql" {
        // A locking read sees the first run in spite of the snapshot.
        for isolation in ["REPEATABLE READ", "SERIALIZABLE"] {
            service.sql("DELETE FROM idempotency_keys; DELETE FROM effects").await;
            conn.batch_execute(&format!("SET TRANSACTION ISOLATION LEVEL {isolation}")).await.unwrap();
            let raced = conn.transaction(async |conn| {
                diesel::sql_query("SELECT COUNT(*) FROM idempotency_keys").execute(conn).await?;
                let first = on_payment(engine, &mut *service.conn().await, &event).await;
                // A serializable reader keeps the writer out, which then is told so.
                Ok::<_, ConsumeError>((first, on_payment(engine, conn, &event).await?))
            });
            let (first, second) = raced.await.unwrap();
            match first {
                Ok(first) => assert_eq!(first, second),
                Err(error) => assert_eq!(error.code(), "idempotency_key_in_use", "{error}"),
            }
        }
    } else {
        for isolation in ["REPEATABLE READ", "SERIALIZABLE"] {
            service.sql("DELETE FROM idempotency_keys; DELETE FROM effects").await;
            let raced = conn.transaction(async |conn| {
                diesel::sql_query(format!("SET TRANSACTION ISOLATION LEVEL {isolation}")).execute(conn).await?;
                diesel::sql_query("SELECT COUNT(*) FROM effects").execute(conn).await?;
                on_payment(engine, &mut *service.conn().await, &event).await?;
                on_payment(engine, conn, &event).await
            });
            let error = raced.await.unwrap_err();
            assert_eq!(error.code(), "idempotency_unavailable", "{error}");
            assert!(matches!(&error, ConsumeError::Idempotency(error) if error.is_retryable()), "{error}");
        }
    }
    assert_eq!(service.effects().await, ["evt_1"]);
    // Run again, the same call finds the first run's result.
    on_payment(engine, conn, &event).await.unwrap();
    assert_eq!(service.effects().await, ["evt_1"]);
}

static JOBS: AtomicUsize = AtomicUsize::new(0);

#[idempotent(key = (job, 1), ttl = "7d", lease = "5s", engine = engine)]
async fn run_job(engine: &Idempotency<Db>, job: &str, fails: bool) -> Result<usize, ConsumeError> {
    let n = JOBS.fetch_add(1, Ordering::SeqCst);
    if fails { Err(ConsumeError::Refused) } else { Ok(n) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leased_job_runs_once_and_an_error_lets_it_run_again() {
    let Some(service) = Service::new().await else { return };
    let (engine, job) = (&service.app.engine, &key());
    run_job(engine, job, true).await.unwrap_err();
    let first = run_job(engine, job, false).await.unwrap();
    assert_eq!(run_job(engine, job, false).await.unwrap(), first);
}

#[idempotent(key = job, ttl = "7d", engine = engine)]
async fn waiting_job(
    engine: &Idempotency<Db>,
    job: &str,
    entered: &tokio::sync::Notify,
    leave: &tokio::sync::Notify,
) -> Result<u8, ConsumeError> {
    entered.notify_one();
    leave.notified().await;
    Ok(1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leased_job_that_is_dropped_gives_its_key_back() {
    let Some(service) = Service::new().await else { return };
    let (engine, job) = (service.app.engine.clone(), key());
    let (entered, leave) = (tokio::sync::Notify::new(), tokio::sync::Notify::new());
    tokio::select! {
        _ = waiting_job(&engine, &job, &entered, &leave) => unreachable!("it waits"),
        () = entered.notified() => {}
    }
    leave.notify_one();
    loop {
        match waiting_job(&engine, &job, &entered, &leave).await {
            Ok(one) => break assert_eq!(one, 1),
            Err(error) => assert_eq!(error.code(), "idempotency_key_in_use", "the release is under way"),
        }
    }
}

#[idempotent(name = "tests.changed", key = "the same", ttl = "forever", engine = engine)]
async fn before_the_deploy(engine: &Idempotency<Db>, #[tx] conn: &mut Db) -> Result<String, ConsumeError> {
    insert(conn, "before").await;
    Ok("a text".into())
}

#[idempotent(name = "tests.changed", key = "the same", ttl = "forever", engine = engine)]
async fn after_the_deploy(engine: &Idempotency<Db>, #[tx] conn: &mut Db) -> Result<u64, ConsumeError> {
    insert(conn, "after").await;
    Ok(1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_result_that_no_longer_decodes_is_an_error_and_runs_nothing() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    before_the_deploy(engine, &mut *service.conn().await).await.unwrap();
    let deployed = service.another(|builder| builder).await;
    let error = after_the_deploy(&deployed.app.engine, &mut *service.conn().await).await.unwrap_err();
    assert_eq!(error.code(), "idempotency_result_undecodable");
    assert_eq!(service.effects().await, ["before"]);
}

/// A value that cannot be written as JSON: its keys are no strings.
#[derive(Debug, Serialize, Deserialize)]
struct Unwritable(std::collections::HashMap<(u8, u8), u8>);

#[idempotent(name = "tests.unwritable", key = "the key", ttl = "1h", engine = engine)]
async fn unwritable(engine: &Idempotency<Db>, #[tx] conn: &mut Db) -> Result<Unwritable, ConsumeError> {
    insert(conn, "undone").await;
    Ok(Unwritable([((1, 2), 3)].into()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_cannot_be_written_undoes_what_was_done() {
    let Some(service) = Service::new().await else { return };
    let error = unwritable(&service.app.engine, &mut *service.conn().await).await.unwrap_err();
    assert_eq!(error.code(), "idempotency_result_unserializable");
    assert_eq!((service.effects().await.len(), service.records().await), (0, 0));
}

#[idempotent(name = "tests.panicking", key = "the key", ttl = "1h", engine = engine)]
async fn panicking(engine: &Idempotency<Db>, #[tx] conn: &mut Db) -> Result<(), ConsumeError> {
    insert(conn, "undone").await;
    panic!("on purpose")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_on_the_callers_connection_leaves_no_transaction_open() {
    use futures_util::FutureExt;
    let Some(service) = Service::with(1, |builder| builder).await else { return };
    let mut conn = service.conn().await;
    let unwound = std::panic::AssertUnwindSafe(panicking(&service.app.engine, &mut conn)).catch_unwind().await;
    assert!(unwound.is_err());
    insert(&mut conn, "after").await;
    drop(conn);
    assert_eq!(service.effects().await, ["after"]);
}
