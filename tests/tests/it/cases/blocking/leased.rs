//! Under a lease, through the engine's pool.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use idempotent_runtime::{Answer, Error, Idempotency, Lease, Resolution, blocking, idempotent};

use super::{Bench, Blocking, JobError, at_once, insert};

const LEASE: Duration = Duration::from_millis(300);

#[idempotent(name = "tests.blocking.job", key = key, ttl = "7d", lease = LEASE, engine = engine)]
fn run_job<R: serde::Serialize + serde::de::DeserializeOwned>(
    engine: &Idempotency<Blocking>,
    key: &str,
    body: &(dyn Fn() -> Result<R, JobError> + Sync),
) -> Result<R, JobError> {
    body()
}

/// A body that says when it is entered, and waits until it may leave.
struct Gate {
    entered: Mutex<Sender<()>>,
    leave: Mutex<Receiver<()>>,
}

fn gate() -> (Gate, Receiver<()>, Sender<()>) {
    let (entered, has_entered) = channel();
    let (let_go, leave) = channel();
    (Gate { entered: Mutex::new(entered), leave: Mutex::new(leave) }, has_entered, let_go)
}

impl Gate {
    fn pass(&self) {
        self.entered.lock().unwrap().send(()).unwrap();
        self.leave.lock().unwrap().recv().unwrap();
    }
}

#[test]
fn a_job_runs_once_and_an_error_lets_it_run_again() {
    let Some(bench) = Bench::new() else { return };
    let runs = AtomicUsize::new(0);
    let job = |fails: bool| {
        run_job(&bench.engine, "the job", &|| match fails {
            true => Err(JobError::Refused),
            false => Ok(runs.fetch_add(1, Ordering::SeqCst)),
        })
    };
    assert_eq!(job(true).unwrap_err().code(), "refused");
    assert_eq!(job(false).unwrap(), 0);
    assert_eq!(job(false).unwrap(), 0);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[test]
fn i18_a_job_that_outlives_its_lease_keeps_it() {
    let Some(bench) = Bench::new() else { return };
    let (gate, has_entered, let_go) = gate();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            run_job(&bench.engine, "the job", &|| {
                gate.pass();
                Ok(1)
            })
        });
        has_entered.recv().unwrap();
        let begun = Instant::now();
        while begun.elapsed() < LEASE * 4 {
            match run_job(&bench.engine, "the job", &|| Ok(2)) {
                Err(JobError::Idempotency(Error::KeyInUse { .. })) => {}
                other => panic!("{other:?}"),
            }
        }
        let_go.send(()).unwrap();
        assert_eq!(first.join().unwrap().unwrap(), 1);
    });
    assert_eq!(run_job(&bench.engine, "the job", &|| Ok(3)).unwrap(), 1);
}

#[test]
fn i19_a_holder_that_lost_its_lease_is_told_and_its_answer_is_refused() {
    let Some(bench) = Bench::new() else { return };
    let (gate, has_entered, let_go) = gate();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            run_job(&bench.engine, "the job", &|| {
                gate.pass();
                let lease = Lease::current().expect("a job runs under a lease");
                while !lease.is_lost() {
                    std::thread::yield_now();
                }
                Ok("the zombie's".to_owned())
            })
        });
        has_entered.recv().unwrap();
        // As another one would have taken it over and completed it.
        bench.run("UPDATE idempotency_keys SET token = token + 1, owner = 'somebody else 16'");
        let_go.send(()).unwrap();
        let refused = first.join().unwrap().unwrap_err();
        assert_eq!(refused.code(), "idempotency_key_in_use");
    });
    assert_eq!(bench.count("idempotency_keys WHERE state = 1"), 0);
}

#[test]
fn a_panic_gives_the_key_back_and_goes_on() {
    let Some(bench) = Bench::new() else { return };
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        run_job(&bench.engine, "the job", &|| -> Result<i32, JobError> { panic!("on purpose") })
    }));
    assert_eq!(unwound.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    assert_eq!(run_job(&bench.engine, "the job", &|| Ok(2)).unwrap(), 2);
}

#[test]
fn i78_a_job_may_take_the_only_connection_of_the_pool() {
    let Some(bench) = Bench::with(1, |builder| builder) else { return };
    let result = run_job(&bench.engine, "the job", &|| {
        insert(&mut bench.conn(), "done");
        Ok(1)
    });
    assert_eq!((result.unwrap(), bench.effects()), (1, vec!["done".to_owned()]));
}

#[idempotent(name = "tests.blocking.held", key = key, ttl = "7d", on_crash = hold, engine = engine)]
fn held_job(engine: &Idempotency<Blocking>, key: &str) -> Result<String, JobError> {
    panic!("on purpose, with {key}")
}

#[test]
fn a_held_job_waits_for_a_decision() {
    let Some(bench) = Bench::new() else { return };
    let engine = &bench.engine;
    catch_unwind(AssertUnwindSafe(|| held_job(engine, "the job"))).unwrap_err();
    bench.run("UPDATE idempotency_keys SET lease_until = 0");
    assert_eq!(held_job(engine, "the job").unwrap_err().code(), "idempotency_outcome_unknown");
    let [record] = &engine.held(10).unwrap()[..] else { panic!("one is held") };
    assert!(engine.resolve(record, Resolution::Completed(Answer::of("decided").unwrap())).unwrap());
    assert_eq!(held_job(engine, "the job").unwrap(), "decided");
}

/// A blocking function may be called wherever blocking is: in a thread of a runtime that may block, and, for better or
/// worse, in a task.
#[test]
fn a_job_needs_no_runtime_and_minds_none() {
    let Some(bench) = Bench::new() else { return };
    let (engine, pool) = (bench.engine.clone(), bench.pool.clone());
    for runtime in [
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap(),
    ] {
        let key = uuid::Uuid::new_v4().to_string();
        runtime.block_on(async {
            let (engine, pool, key) = (engine.clone(), pool.clone(), key.clone());
            let job = move || {
                run_job(&engine, &key, &|| {
                    insert(&mut pool.get().unwrap(), "done");
                    Ok(1)
                })
            };
            assert_eq!(job().unwrap(), 1);
            assert_eq!(tokio::task::spawn_blocking(job).await.unwrap().unwrap(), 1);
        });
    }
    assert_eq!(bench.effects().len(), 2);
}

#[test]
fn of_eight_threads_one_wins_each_key() {
    let Some(bench) = Bench::new() else { return };
    let runs: Mutex<HashMap<String, usize>> = Mutex::default();
    at_once(8, |worker| {
        let mut keys: Vec<String> = (0..60).map(|n| format!("key-{n:04}")).collect();
        if worker % 2 == 0 {
            keys.reverse();
        }
        for key in &keys {
            let ran = run_job(&bench.engine, key, &|| {
                *runs.lock().unwrap().entry(key.clone()).or_default() += 1;
                Ok(())
            });
            match ran {
                Ok(()) | Err(JobError::Idempotency(Error::KeyInUse { .. })) => {}
                Err(error) => panic!("{key}: {error}"),
            }
        }
    });
    let runs = runs.lock().unwrap();
    assert_eq!(runs.len(), 60);
    assert!(runs.values().all(|runs| *runs == 1), "{runs:?}");
}

#[test]
fn the_engine_sweeps_and_drains_without_a_runtime_around() {
    let Some(bench) = Bench::new() else { return };
    let engine = &bench.engine;
    for key in ["one", "two"] {
        run_job(engine, key, &|| Ok(())).unwrap();
    }
    bench.run("UPDATE idempotency_keys SET expires_at = 0");
    assert_eq!(engine.sweep().unwrap(), 2);
    run_job(engine, "three", &|| Ok(())).unwrap();
    bench.run("UPDATE idempotency_keys SET expires_at = 0");
    let sweeper = engine.sweeper();
    while bench.count("idempotency_keys") > 0 {
        std::thread::yield_now();
    }
    drop(sweeper);
    assert!(engine.drain(Duration::from_secs(60)));
}

static RESUMED: AtomicUsize = AtomicUsize::new(0);

#[idempotent(name = "tests.blocking.resumed", key = id, ttl = "7d", arguments = id, engine = engine)]
fn resumed(engine: &Idempotency<Blocking>, id: u64) -> Result<u64, JobError> {
    RESUMED.fetch_add(1, Ordering::SeqCst);
    Ok(id)
}

#[test]
fn an_abandoned_job_is_finished_by_the_service() {
    let Some(bench) = Bench::new() else { return };
    let engine = Arc::new(bench.engine.clone());
    let abandon = || {
        resumed(&engine, 7).unwrap();
        // As a crash would leave it.
        bench.run("UPDATE idempotency_keys SET state = 0, body = NULL, status = NULL, lease_until = 0");
    };
    abandon();
    assert_eq!(blocking::resume(&engine, "tests.blocking.resumed", |id| resumed(&engine, id)).unwrap(), 1);
    assert_eq!(bench.count("idempotency_keys WHERE state = 1"), 1);
    bench.run("DELETE FROM idempotency_keys");
    abandon();
    let calling = Arc::clone(&engine);
    let every = Duration::from_millis(5);
    let completer = blocking::completer(&engine, "tests.blocking.resumed", every, move |id| resumed(&calling, id));
    while bench.count("idempotency_keys WHERE state = 1") == 0 {
        std::thread::yield_now();
    }
    drop(completer);
}
