//! Claims that are contested by many, of keys in every state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use idempotent_runtime::{Error, Idempotency, idempotent};
use tokio::sync::Barrier;

use super::app::Service;
use super::database::Db;

const WORKERS: usize = 8;
/// The states in which the workers find a key.
const STATES: [&str; 4] = ["fresh", "expired", "abandoned", "completed"];

/// Which keys have run, and how often.
type Runs = Arc<Mutex<HashMap<String, usize>>>;

#[idempotent(name = "tests.contested", key = key, ttl = "1h", lease = "30s", engine = engine)]
async fn run(engine: &Idempotency<Db>, key: &str, runs: &Runs) -> Result<(), Error> {
    *runs.lock().unwrap().entry(key.to_owned()).or_default() += 1;
    Ok(())
}

/// Claims and completions of `keys` keys by eight workers at once, each in its own order. `CONTESTED_KEYS=10000` for more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_eight_workers_one_wins_each_key_in_whatever_state_it_is() {
    let keys: usize = std::env::var("CONTESTED_KEYS").map_or(400, |keys| keys.parse().expect("a number"));
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    let keys: Vec<String> = (0..keys).map(|n| format!("{}-{n:06}", STATES[n % STATES.len()])).collect();
    let before: Runs = Arc::default();
    for key in keys.iter().filter(|key| !key.starts_with("fresh")) {
        run(engine, key, &before).await.unwrap();
    }
    service
        .sql("UPDATE idempotency_keys SET expires_at = 0 WHERE body IS NOT NULL AND operation = 'tests.contested'")
        .await;
    let live = "UPDATE idempotency_keys SET expires_at = created_at + 3600000";
    for (state, change) in [
        ("completed", live),
        (
            "abandoned",
            "UPDATE idempotency_keys SET expires_at = created_at + 3600000, state = 0, lease_until = 0, body = NULL",
        ),
    ] {
        service.sql(&format!("{change} WHERE key LIKE '{state}%'")).await;
    }
    let (runs, barrier): (Runs, _) = (Arc::default(), Arc::new(Barrier::new(WORKERS)));
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let (engine, runs, barrier, mut keys) =
                (engine.clone(), Arc::clone(&runs), Arc::clone(&barrier), keys.clone());
            tokio::spawn(async move {
                // Neighbours begin at the same keys, and go two ways round.
                keys.rotate_left(worker / 2 * 7);
                if worker % 2 == 0 {
                    keys.reverse();
                }
                barrier.wait().await;
                for key in &keys {
                    match run(&engine, key, &runs).await {
                        Ok(()) | Err(Error::KeyInUse { .. }) => {}
                        Err(error) => panic!("{key}: {error:?}"),
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let runs = runs.lock().unwrap();
    for key in &keys {
        let expected = usize::from(!key.starts_with("completed"));
        assert_eq!(runs.get(key).copied().unwrap_or_default(), expected, "{key}");
    }
}
