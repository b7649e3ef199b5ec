//! The completer: abandoned operations are finished by the service itself, without the caller coming back.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::claim::Unresolved;
use crate::connection::Connection;
use crate::engine::Idempotency;
use crate::error::Error;
use crate::store::Which;
use crate::vault::Part;

/// The most operations that one pass goes through.
const BATCH: u32 = 100;

/// Finishes abandoned operations in the background, until it is dropped; a pass that is under way then ends first.
///
/// ```
/// # async fn start(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) {
/// # async fn run_job(id: u64) -> Result<(), idempotent_runtime::Error> { Ok(()) }
/// let completer = engine.completer("jobs.run", std::time::Duration::from_secs(60), run_job);
/// # drop(completer);
/// # }
/// ```
#[derive(Debug)]
pub struct Completer {
    _stop: DropGuard,
}

impl<C: Connection> Idempotency<C> {
    /// Calls `run` once for each abandoned call of the operation `name` whose arguments are kept: those whose attribute
    /// says `arguments = …`, whose lease is over, and that are not held. Says how many succeeded.
    ///
    /// `run` is the annotated function itself, or calls it: it takes the claim over, skips the steps that are recorded,
    /// and counts as one more attempt, so that a call that always fails is held in the end; one that panics has failed. At
    /// most 100 calls a pass, one after the other. Several services may do this at once. Calls whose arguments cannot be
    /// read, of another type or without the key that encrypted them, are passed over.
    ///
    /// ```
    /// use idempotent_runtime::{Error, Idempotency, idempotent};
    /// # use idempotent_runtime::doc::Sqlite as Db;
    ///
    /// #[idempotent(name = "jobs.run", key = id, ttl = "7d", arguments = id)]
    /// async fn run_job(id: u64) -> Result<(), Error> {
    ///     Ok(())
    /// }
    ///
    /// # async fn start(engine: Idempotency<Db>) -> Result<(), Error> {
    /// let finished = engine.resume("jobs.run", run_job).await?;
    /// # let _ = finished; Ok(())
    /// # }
    /// ```
    pub async fn resume<A, T, E, Fut>(&self, name: &str, run: impl Fn(A) -> Fut) -> Result<usize, Error>
    where
        A: DeserializeOwned,
        E: std::fmt::Display,
        Fut: Future<Output = Result<T, E>>,
    {
        let mut finished = 0;
        for arguments in self.abandoned(name).await? {
            match AssertUnwindSafe(async { run(arguments).await }).catch_unwind().await {
                Ok(Ok(_)) => finished += 1,
                Ok(Err(error)) => tracing::warn!(operation = name, %error, "an abandoned call failed again"),
                Err(_) => tracing::error!(operation = name, "an abandoned call panicked again"),
            }
        }
        Ok(finished)
    }

    /// The arguments of a batch of abandoned calls, oldest first. Those that cannot be read are in nobody's way.
    async fn abandoned<A: DeserializeOwned>(&self, name: &str) -> Result<Vec<A>, Error> {
        let namespace = &self.inner().settings.namespace;
        let mut most = BATCH;
        loop {
            let calls = self.inner().unresolved(Which::Resumable { namespace, operation: name }, most).await?;
            let are_all = calls.len() < most as usize;
            let readable: Vec<A> =
                calls.into_iter().filter_map(|call| read_arguments(call, name)).take(BATCH as usize).collect();
            if are_all || readable.len() == BATCH as usize {
                return Ok(readable);
            }
            most = most.saturating_mul(2);
        }
    }

    /// Resumes abandoned calls of the operation `name` every so often, in the background.
    ///
    /// ```
    /// # async fn start(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) {
    /// # async fn run_job(id: u64) -> Result<(), idempotent_runtime::Error> { Ok(()) }
    /// let completer = engine.completer("jobs.run", std::time::Duration::from_secs(60), run_job);
    /// # drop(completer);
    /// # }
    /// ```
    #[must_use = "it stops when the guard is dropped"]
    pub fn completer<A, T, E, Fut, F>(&self, name: &'static str, every: Duration, run: F) -> Completer
    where
        A: DeserializeOwned + Send,
        T: Send,
        E: std::fmt::Display + Send,
        Fut: Future<Output = Result<T, E>> + Send,
        F: Fn(A) -> Fut + Send + Sync + 'static,
    {
        let (engine, stop) = (self.clone(), CancellationToken::new());
        let stopped = stop.clone();
        C::spawn(async move {
            while stopped.run_until_cancelled(tokio::time::sleep(every)).await.is_some() {
                if let Err(error) = engine.resume(name, &run).await {
                    tracing::warn!(operation = name, %error, "abandoned calls could not be looked for");
                }
            }
        });
        Completer { _stop: stop.drop_guard() }
    }
}

fn read_arguments<A: DeserializeOwned>(call: Unresolved, name: &str) -> Option<A> {
    let Unresolved { address, arguments, .. } = call;
    // The vault says itself what it cannot open.
    let arguments = address.vault.open(&address, Part::Arguments, arguments.unwrap_or_default()).ok()?;
    serde_json::from_slice(&arguments)
        .inspect_err(|error| tracing::error!(operation = name, %error, "kept arguments cannot be read"))
        .ok()
}
