//! Plain functions run where they are called: what is dropped there leaves nothing open.

use std::pin::pin;
use std::task::{Context, Waker};

use idempotent_runtime::{Error, Idempotency, Steps, idempotent};

use super::app::{Service, insert};
use super::database::Db;

#[idempotent(name = "tests.dropped", key = id, ttl = "1h", lease = "1s", engine = engine)]
async fn stepped_job(engine: &Idempotency<Db>, #[steps] steps: &mut Steps<Db>, id: &str) -> Result<i64, Error> {
    let effect = steps.tx("insert", async |conn| Ok::<_, Error>(insert(conn, id).await)).await?;
    steps.run("call", async |_| Ok::<_, Error>(())).await?;
    Ok(effect)
}

/// Plain functions run where they are called: dropped anywhere, they leave no transaction open, and end their claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i30_a_job_that_is_dropped_anywhere_leaves_nothing_open() {
    let Some(service) = Service::with(2, |builder| builder).await else { return };
    let engine = &service.app.engine;
    let keys: Vec<_> = (0..60).map(|n| format!("dropped after {n}")).collect();
    for (polls, key) in keys.iter().enumerate() {
        let mut job = pin!(stepped_job(engine, key));
        for _ in 0..polls {
            if job.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    for key in &keys {
        loop {
            match stepped_job(engine, key).await {
                Ok(_) => break,
                Err(error) => assert_eq!(error.code(), "idempotency_key_in_use", "{error}"),
            }
            tokio::task::yield_now().await;
        }
    }
    for n in 0..1_000 {
        stepped_job(engine, &format!("after all, {n}")).await.unwrap();
    }
    let effects = service.effects().await;
    let distinct: std::collections::HashSet<_> = effects.iter().collect();
    assert_eq!((effects.len(), distinct.len()), (1_060, 1_060), "each job once");
}
