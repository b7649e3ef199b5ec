//! A request that was read, run in its mode: with its claim, or without one where it needs none.

use std::future::Future;
use std::sync::Arc;

use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::claim::{By, Claim};
use crate::engine::{Engine, Inner};
use crate::error::Error;
use crate::run::{self, Body, Grant, Outcome, Patience, Ran};
use crate::steps::Steps;
use crate::store::Access;
use crate::token_store::{Spent, Ticket};

/// A claim by a token that another store has: there it is spent, unless its record is there already, which then says all,
/// also that its time is over.
async fn admit(engine: &dyn Engine, claim: Option<Claim>) -> Result<Option<Claim>, Error> {
    let Some(claim) = claim else { return Ok(None) };
    let (By::Token(repeat), Some(store)) = (claim.by, &engine.settings().tokens) else { return Ok(Some(claim)) };
    if engine.look(&claim.address).await?.is_some() {
        return Ok(Some(claim));
    }
    match store.spend(&Ticket::of(&claim.address), claim.ttl.duration()).await.map_err(Error::unavailable)? {
        // Spent before, and no record: whoever did it has not claimed yet, or has died before it could.
        Spent::Now | Spent::Before => Ok(Some(Claim { by: By::Ticket(repeat), ..claim })),
        Spent::Never => Err(Error::TokenInvalid),
    }
}

/// Runs a handler whose writes, claim and answer commit in one transaction.
pub(crate) async fn transactional<C: Send + 'static, B: Body<C>>(
    engine: Arc<Inner<C>>,
    claim: Option<Claim>,
    patience: Patience,
    method: http::Method,
    body: B,
) -> Result<Outcome<B::Value>, Error> {
    let access = if method.is_safe() { Access::Read } else { Access::Write };
    match admit(&*engine, claim).await? {
        Some(claim) => run::transactional(&engine, claim, patience, body).await,
        None => run::unclaimed(&engine, access, body).await.map(Outcome::Ran),
    }
}

/// Runs a handler under a lease.
pub(crate) async fn leased<R>(
    engine: Arc<dyn Engine>,
    claim: Option<Claim>,
    patience: Patience,
    body: impl Future<Output = Ran<R>>,
) -> Result<Outcome<R>, Error> {
    match admit(&*engine, claim).await? {
        Some(claim) => run::leased(&engine, claim, patience, |_| body).await,
        None => Ok(Outcome::Ran(body.await.value)),
    }
}

/// Runs a handler with recovery points, under a lease. It is given its steps, or why they could not be loaded.
pub(crate) async fn stepped<C: Send + 'static, R, Fut: Future<Output = Ran<R>>>(
    engine: Arc<Inner<C>>,
    claim: Option<Claim>,
    patience: Patience,
    body: impl FnOnce(Result<Steps<C>, Error>) -> Fut,
) -> Result<Outcome<R>, Error> {
    let claim = admit(&*engine, claim).await?.ok_or(Error::KeyMissing)?;
    let erased: Arc<dyn Engine> = Arc::<Inner<C>>::clone(&engine);
    let with_steps = |grant: &Grant| {
        let (claim, lease) = (grant.claim.clone(), grant.lease().clone());
        let steps = Steps::load(engine, claim, grant.fence, lease, Arc::clone(&grant.keeps_claim));
        async move { body(steps.await).await }
    };
    run::leased(&erased, claim, patience, with_steps).await
}

/// Runs claim to completion whatever becomes of the caller: a client that hangs up stops nothing, and nothing is dropped in
/// the middle of a statement. The run stays in the caller's task as long as there is one, since a task of its own would
/// cost each request two more turns of the scheduler; left alone, it goes on in a task of its own.
#[cfg(any(feature = "axum", feature = "tower"))]
pub(crate) fn to_its_end<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    tasks: &TaskTracker,
    run: F,
) -> impl Future<Output = T> + Send + use<T, F> {
    // Those who shut down wait for it, in whosever task it runs.
    let run = tasks.track_future(run.in_current_span());
    ToItsEnd { run: Some(Box::pin(run)), runtime: tokio::runtime::Handle::current() }
}

/// A run that outlives its caller.
#[cfg(any(feature = "axum", feature = "tower"))]
struct ToItsEnd<F: Future<Output: Send> + Send + 'static> {
    /// Until it has ended, or panicked.
    run: Option<std::pin::Pin<Box<F>>>,
    runtime: tokio::runtime::Handle,
}

#[cfg(any(feature = "axum", feature = "tower"))]
impl<F: Future<Output: Send> + Send + 'static> Future for ToItsEnd<F> {
    type Output = F::Output;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<F::Output> {
        let mut run = self.run.take().unwrap_or_else(|| unreachable!("nobody asks again what has ended"));
        let polled = run.as_mut().poll(cx);
        if polled.is_pending() {
            self.run = Some(run);
        }
        polled
    }
}

#[cfg(any(feature = "axum", feature = "tower"))]
impl<F: Future<Output: Send> + Send + 'static> Drop for ToItsEnd<F> {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            self.runtime.spawn(run);
        }
    }
}

/// The same for what must not leave this thread: in a task of its own from the beginning.
///
/// It is boxed here, since tokio moves what it spawns several times, and all of a run is some kilobytes.
#[cfg(feature = "actix")]
pub(crate) fn in_own_local_task<T: 'static, F: Future<Output = T> + 'static>(
    tasks: &TaskTracker,
    run: F,
) -> impl Future<Output = T> + use<T, F> {
    joined(tasks.spawn_local(Box::pin(run.in_current_span())))
}

#[cfg(feature = "actix")]
async fn joined<T>(task: tokio::task::JoinHandle<T>) -> T {
    match task.await {
        Ok(outcome) => outcome,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
