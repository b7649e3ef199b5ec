//! With recovery points.

use std::sync::Mutex;

use idempotent_runtime::blocking::Steps;
use idempotent_runtime::{Error, Idempotency, idempotent};

use super::{Bench, Blocking, JobError, insert};

/// What a provider was asked for, and where the next run fails.
#[derive(Default)]
struct Provider {
    asked: Mutex<Vec<String>>,
    fails: Mutex<Option<&'static str>>,
}

impl Provider {
    fn fails_at(&self, at: &str) -> Result<(), JobError> {
        let mut fails = self.fails.lock().unwrap();
        match *fails == Some(at) {
            true => {
                *fails = None;
                Err(JobError::Refused)
            }
            false => Ok(()),
        }
    }
}

#[idempotent(name = "tests.blocking.pay", key = order, ttl = "72h", lease = "30s", engine = engine)]
fn pay(
    engine: &Idempotency<Blocking>,
    #[steps] steps: &mut Steps<Blocking>,
    order: i64,
    provider: &Provider,
) -> Result<String, JobError> {
    steps.tx("start", |conn| {
        insert(conn, "start");
        Ok::<_, JobError>(())
    })?;
    provider.fails_at("after start")?;
    let charge: String = steps.run("charge", |key| {
        provider.asked.lock().unwrap().push(key.clone());
        provider.fails_at("in charge")?;
        Ok::<_, JobError>(format!("charge of {order}"))
    })?;
    provider.fails_at("after charge")?;
    steps.tx("confirm", |conn| {
        insert(conn, "confirm");
        provider.fails_at("in confirm")
    })?;
    Ok(charge)
}

#[test]
fn an_attempt_goes_on_where_the_last_one_failed() {
    for (fails, asked_for) in [("after start", 1), ("in charge", 2), ("after charge", 1), ("in confirm", 1)] {
        let Some(bench) = Bench::new() else { return };
        let provider = Provider { fails: Mutex::new(Some(fails)), ..Provider::default() };
        assert_eq!(pay(&bench.engine, 1, &provider).unwrap_err().code(), "refused", "{fails}");
        assert_eq!(pay(&bench.engine, 1, &provider).unwrap(), "charge of 1", "{fails}");
        assert_eq!(pay(&bench.engine, 1, &provider).unwrap(), "charge of 1", "{fails}");
        assert_eq!(bench.effects(), ["start", "confirm"], "{fails}");
        let asked = provider.asked.lock().unwrap();
        assert_eq!(asked.len(), asked_for, "{fails}");
        assert!(asked.iter().all(|key| *key == asked[0] && key.len() == 64), "the same key in every attempt");
    }
}

#[test]
fn i78_steps_need_one_connection() {
    let Some(bench) = Bench::with(1, |builder| builder) else { return };
    assert_eq!(pay(&bench.engine, 1, &Provider::default()).unwrap(), "charge of 1");
}

#[idempotent(name = "tests.blocking.lost", key = "the key", ttl = "72h", engine = engine)]
fn losing(engine: &Idempotency<Blocking>, #[steps] steps: &mut Steps<Blocking>, bench: &Bench) -> Result<(), JobError> {
    bench.run("UPDATE idempotency_keys SET token = token + 1");
    let lost = steps.tx("start", |conn| {
        insert(conn, "undone");
        Ok::<_, JobError>(())
    });
    assert!(matches!(lost, Err(JobError::Idempotency(Error::LeaseLost))), "{lost:?}");
    assert!(steps.lease().is_lost());
    lost
}

#[test]
fn i22_a_step_without_its_fence_writes_nothing() {
    let Some(bench) = Bench::new() else { return };
    losing(&bench.engine, &bench).unwrap_err();
    assert_eq!(bench.effects(), Vec::<String>::new());
}
