//! What the claim statements of a database say, against `decide`.

use std::sync::atomic::{AtomicUsize, Ordering};

use idempotent_runtime::{Decision, Error, Fingerprint, Idempotency, Record, Refusal, State, decide, idempotent};

use super::app::Service;
use super::database::{Db, NOW, SEVEN};

static RUNS: AtomicUsize = AtomicUsize::new(0);

#[idempotent(name = "tests.decide", key = "the key", ttl = "1h", fingerprint = asked, engine = engine)]
async fn leased(engine: &Idempotency<Db>, asked: u8) -> Result<u8, Error> {
    RUNS.fetch_add(1, Ordering::SeqCst);
    Ok(0)
}

#[idempotent(name = "tests.decide", key = "the key", ttl = "1h", fingerprint = asked, engine = engine)]
async fn transactional(engine: &Idempotency<Db>, #[tx] _conn: &mut Db, asked: u8) -> Result<u8, Error> {
    RUNS.fetch_add(1, Ordering::SeqCst);
    Ok(0)
}

/// Every combination of what a record can be, in both modes.
#[tokio::test(flavor = "multi_thread")]
async fn the_statements_of_the_database_agree_with_decide() {
    let Some(service) = Service::new().await else { return };
    // Two engines, since of one the second function of a name is refused.
    let other = service.another(|builder| builder).await;
    let (engine, other) = (&service.app.engine, &other.app.engine);
    let asked = Fingerprint::of_value(b"1");
    // What the toolkit stores for each fingerprint, read back from a row of its own.
    for print in [1, 2] {
        leased(engine, print).await.unwrap();
        if print == 1 {
            service.sql("CREATE TABLE prints AS SELECT 1 AS n, fingerprint FROM idempotency_keys").await;
        } else {
            service.sql("INSERT INTO prints SELECT 2, fingerprint FROM idempotency_keys").await;
        }
        service.sql("DELETE FROM idempotency_keys").await;
    }
    let mut cases = 0;
    for state in [State::Claimed, State::Completed, State::Released] {
        for bits in 0..32_u8 {
            let [same, held, lapsed, expired, replayable] = [0, 1, 2, 3, 4].map(|bit| bits >> bit & 1 == 1);
            let when = |past: bool| if past { -100_000 } else { 100_000 };
            let record = Record {
                fingerprint: if same { asked } else { Fingerprint::of_value(b"2") },
                state,
                held,
                lease_until: when(lapsed),
                expires_at: when(expired),
                replayable,
            };
            let state = match state {
                State::Claimed => 0,
                State::Completed => 1,
                State::Released => 2,
            };
            let insert = format!(
                "DELETE FROM idempotency_keys; INSERT INTO idempotency_keys (namespace, operation, scope, key, owner, \
                 token, attempts, created_at, fingerprint, state, held, lease_until, expires_at, status, headers, body) \
                 VALUES ('', 'tests.decide', '', 'the key', '', 1, 1, 0, (SELECT fingerprint FROM prints WHERE n = {}), \
                 {state}, {}, {NOW} + {}, {NOW} + {}, {}, NULL, {})",
                if same { 1 } else { 2 },
                i64::from(held),
                record.lease_until,
                record.expires_at,
                if replayable { "200" } else { "NULL" },
                if replayable { SEVEN } else { "NULL" },
            );
            for mode in ["leased", "transactional"] {
                service.sql(&insert).await;
                let before = RUNS.load(Ordering::SeqCst);
                let got = if mode == "leased" {
                    leased(engine, 1).await
                } else {
                    transactional(other, &mut *service.conn().await, 1).await
                };
                let ran = RUNS.load(Ordering::SeqCst) > before;
                let seen = match &got {
                    Ok(7) => "replay",
                    Ok(_) => "run",
                    Err(error) => error.code(),
                };
                let expected = match decide(Some(&record), asked, 0) {
                    Decision::Claim | Decision::TakeOver => "run",
                    Decision::Replay => "replay",
                    Decision::Refuse(Refusal::Reused) => "idempotency_key_reused",
                    Decision::Refuse(Refusal::InUse { .. }) => "idempotency_key_in_use",
                    Decision::Refuse(Refusal::OutcomeUnknown) => "idempotency_outcome_unknown",
                    Decision::Refuse(Refusal::NotStored) => "idempotency_response_not_stored",
                    Decision::Refuse(Refusal::TokenInvalid) => "idempotency_token_invalid",
                };
                assert_eq!((seen, ran), (expected, expected == "run"), "{mode} {record:?}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 192);
}
