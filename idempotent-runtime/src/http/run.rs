//! A request that was read, run in its mode: with its claim, or without one where it needs none.

use std::future::Future;
use std::sync::Arc;

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
