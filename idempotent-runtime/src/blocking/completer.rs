//! Abandoned calls of blocking functions, finished by the service itself.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::runtime::wait;
use crate::completer::Completer;
use crate::connection::BlockingConnection;
use crate::engine::Idempotency;
use crate::error::Error;

/// Calls `run` once for each abandoned call of the operation `name` whose arguments are kept, on this thread. What
/// [`Idempotency::resume`] is to an async function.
///
/// ```
/// # use idempotent_runtime::{BlockingConnection, Error, Idempotency, blocking};
/// # fn run_job(id: u64) -> Result<(), Error> { Ok(()) }
/// # fn start<C: BlockingConnection>(engine: Idempotency<C>) -> Result<(), Error> {
/// let finished = blocking::resume(&engine, "jobs.run", run_job)?;
/// # let _ = finished; Ok(())
/// # }
/// ```
pub fn resume<C, A, T, E>(engine: &Idempotency<C>, name: &str, run: impl Fn(A) -> Result<T, E>) -> Result<usize, Error>
where
    C: BlockingConnection,
    A: DeserializeOwned,
    E: std::fmt::Display,
{
    wait(engine.resume(name, |arguments| std::future::ready(run(arguments))))
}

/// Resumes abandoned calls of the operation `name` every so often, in the background, until the guard is dropped. What
/// [`Idempotency::completer`] is to an async function.
///
/// ```
/// # use idempotent_runtime::{BlockingConnection, Error, Idempotency, blocking};
/// # fn run_job(id: u64) -> Result<(), Error> { Ok(()) }
/// # fn start<C: BlockingConnection>(engine: Idempotency<C>) {
/// let completer = blocking::completer(&engine, "jobs.run", std::time::Duration::from_secs(60), run_job);
/// # drop(completer);
/// # }
/// ```
#[must_use = "it stops when the guard is dropped"]
pub fn completer<C, A, T, E, F>(engine: &Idempotency<C>, name: &'static str, every: Duration, run: F) -> Completer
where
    C: BlockingConnection,
    A: DeserializeOwned + Send + 'static,
    T: Send + 'static,
    E: std::fmt::Display + Send + 'static,
    F: Fn(A) -> Result<T, E> + Send + Sync + 'static,
{
    let run = Arc::new(run);
    engine.completer(name, every, move |arguments| {
        let run = Arc::clone(&run);
        async move {
            // Not on a thread that renews leases.
            match tokio::task::spawn_blocking(move || run(arguments).map_err(|error| error.to_string())).await {
                Ok(ran) => ran,
                Err(panic) => Err(panic.to_string()),
            }
        }
    })
}
