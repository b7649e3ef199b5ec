//! Encryption of what is stored: answers, steps and arguments, by every driver.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::response::IntoResponse;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{Answer, Builder, Encryption, Error, Idempotency, Resolution, Steps, idempotent};

use super::app::{MODES, Service, key};
use super::database::Db;

const SECRET: &str = "4111 1111 1111 1111";

fn with_key(id: u32, byte: u8) -> impl Fn(Builder<Db>) -> Builder<Db> {
    move |builder| builder.encryption(Encryption::new(id, &[byte; 32]))
}

fn answering(service: Service) -> Service {
    service.answering(|| (StatusCode::CREATED, [("x-card", SECRET)], SECRET).into_response())
}

#[derive(QueryableByName)]
struct Stored {
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::Binary>)]
    bytes: Option<Vec<u8>>,
}

/// Every byte that is stored of answers, steps and arguments.
async fn stored(service: &Service) -> Vec<u8> {
    let mut all = Vec::new();
    for query in [
        "SELECT body AS bytes FROM idempotency_keys",
        "SELECT headers AS bytes FROM idempotency_keys",
        "SELECT arguments AS bytes FROM idempotency_keys",
        "SELECT value AS bytes FROM idempotency_steps",
    ] {
        let rows = diesel::sql_query(query).load::<Stored>(&mut *service.conn().await).await.unwrap();
        all.extend(rows.into_iter().filter_map(|row| row.bytes).flatten());
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_sealed_where_it_is_stored_and_given_back_as_it_was() {
    let Some(service) = Service::with(8, with_key(1, 7)).await else { return };
    let service = answering(service);
    for mode in MODES {
        let key = key();
        service.post(mode, &key, "order").await;
        let again = service.post(mode, &key, "order").await;
        assert_eq!((again.status, again.text(), &again.headers["x-card"]), (201, SECRET, &SECRET.parse().unwrap()));
        assert!(again.replayed(), "{mode}");
        service.post(mode, &key, "other").await.expect(409, "idempotency_key_reused");
    }
    let stored = stored(&service).await;
    assert!(!stored.is_empty() && !holds(&stored, SECRET) && !holds(&stored, "x-card"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_key_an_answer_is_neither_given_nor_made_again() {
    let Some(service) = Service::with(8, with_key(1, 7)).await else { return };
    let service = answering(service);
    for mode in MODES {
        let key = key();
        service.post(mode, &key, "order").await;
        for other in [with_key(1, 8), with_key(2, 7)] {
            let other = answering(service.another(other).await);
            let refused = other.post(mode, &key, "order").await.expect(503, "idempotency_response_unreadable");
            assert_eq!((refused.retry_after(), other.runs()), (60, 0), "{mode}");
        }
        let plain = answering(service.another(|builder| builder).await);
        plain.post(mode, &key, "order").await.expect(503, "idempotency_response_unreadable");
        let both = |builder: Builder<Db>| builder.encryption(Encryption::new(2, &[8; 32]).and_reads(1, &[7; 32]));
        let both = answering(service.another(both).await);
        assert!(both.post(mode, &key, "order").await.replayed(), "an old key reads");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_moved_to_another_record_does_not_open_there() {
    let Some(service) = Service::with(8, with_key(1, 7)).await else { return };
    let service = answering(service);
    let (mine, yours) = (key(), key());
    service.post("/leased", &mine, "order").await;
    let rows = |key: &str| {
        let key = key.to_owned();
        let service = &service;
        async move {
            let query = format!("SELECT body AS bytes FROM idempotency_keys WHERE key = '{key}'");
            let query = diesel::sql_query(super::database::spelled(&query));
            query.get_result::<Stored>(&mut *service.conn().await).await.unwrap().bytes.unwrap()
        }
    };
    let before = rows(&mine).await;
    service.post("/leased", &yours, "order").await;
    // As somebody with access to the table would: one user's answer under another's key.
    service.sql(&format!("UPDATE idempotency_keys SET body = {} WHERE key = '{yours}'", literal(&before))).await;
    service.post("/leased", &yours, "order").await.expect(503, "idempotency_response_unreadable");
    assert!(service.post("/leased", &mine, "order").await.replayed());
}

/// Bytes in the words of the database.
fn literal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    if super::database::NAME == "postgres" { format!("'\\x{hex}'::bytea") } else { format!("X'{hex}'") }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stored_before_there_was_a_key_is_given_back() {
    let Some(service) = Service::new().await else { return };
    let (service, key) = (answering(service), key());
    service.post("/tx", &key, "order").await;
    let sealing = answering(service.another(with_key(1, 7)).await);
    assert!(sealing.post("/tx", &key, "order").await.replayed());
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

#[idempotent(name = "tests.sealed", key = id, ttl = "1h", arguments = card, engine = engine)]
async fn pay(
    engine: &Idempotency<Db>,
    #[steps] steps: &mut Steps<Db>,
    id: &str,
    card: &str,
    fails: bool,
) -> Result<String, Error> {
    let charged: String = steps
        .run("charge", async |_| {
            RUNS.fetch_add(1, Ordering::SeqCst);
            Ok::<_, Error>(card.to_owned())
        })
        .await?;
    if fails { Err(Error::Unavailable("on purpose".into())) } else { Ok(charged) }
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_arguments_and_decisions_are_sealed_too() {
    let Some(service) = Service::with(8, with_key(1, 7)).await else { return };
    let (engine, id) = (&service.app.engine, key());
    pay(engine, &id, SECRET, true).await.unwrap_err();
    assert!(!holds(&stored(&service).await, SECRET));
    let other = service.another(with_key(1, 8)).await;
    // As a crash would leave it: its arguments can be read here, and nowhere else.
    service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0").await;
    let resume = async |engine: &Idempotency<Db>| {
        let check = |card: String| async move {
            assert_eq!(card, SECRET);
            Ok::<_, Error>(())
        };
        engine.resume("tests.sealed", check).await
    };
    assert_eq!(resume(&other.app.engine).await.unwrap(), 0);
    assert_eq!(resume(engine).await.unwrap(), 1);
    let refused = pay(&other.app.engine, &id, SECRET, false).await.unwrap_err();
    assert_eq!(refused.code(), "idempotency_step_unreadable");
    service.sql("UPDATE idempotency_keys SET lease_until = 0").await;
    assert_eq!(pay(engine, &id, SECRET, false).await.unwrap(), SECRET);
    assert_eq!(pay(engine, &id, SECRET, false).await.unwrap(), SECRET);
    // An operator's decision is sealed as well.
    service.sql("UPDATE idempotency_keys SET state = 0, held = 1, lease_until = 0, body = NULL").await;
    let [record] = &engine.held(10).await.unwrap()[..] else { panic!("one is held") };
    let decided = Resolution::Completed(Answer::of(SECRET).unwrap());
    assert!(engine.resolve(record, decided).await.unwrap());
    assert!(!holds(&stored(&service).await, SECRET));
    assert_eq!(pay(engine, &id, SECRET, false).await.unwrap(), SECRET);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_begins_like_a_sealed_one_is_not_taken_for_one() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|_| async { (StatusCode::OK, vec![1_u8, 0, 0, 0, 1]).into_response() }.boxed());
    let key = key();
    service.post("/leased", &key, "order").await;
    assert_eq!(service.post("/leased", &key, "order").await.body, &[1_u8, 0, 0, 0, 1][..]);
}
