//! One request to an annotated handler, from its key to its answer.

use std::future::Future;
use std::sync::Arc;

use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::answers::{capture, ours, refuse};
use super::call::{Again, Call, asked};
use crate::engine::Engine;
use crate::error::Error;
use crate::global::{self, AnyEngine, EngineFor};
use crate::http::answers::settle;
use crate::http::{Expiry, claim_of, sent_key};
use crate::run::{self, Outcome, Patience, Ran};
use crate::steps::Steps;
use crate::store::{Access, End};
use crate::terms::{Policy, Terms};

/// Runs a handler whose writes, claim and answer commit in one transaction.
pub async fn transactional<C, A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl for<'c> Fn(A, &'c mut C) -> BoxFuture<'c, Response> + Send + Sync + 'static,
) -> Response
where
    C: Send + 'static,
    A: Send + 'static,
    E: EngineFor<C>,
{
    let head = Arc::clone(&call.head);
    let answer = async {
        let args = call.args?;
        let (engine, terms) = terms(&args).split();
        let engine = engine.find().map_err(|error| refuse(&error, &global::form()))?;
        let inner = Arc::clone(engine.inner());
        let claim = claim_of(&inner.settings, policy, terms, asked(&call.head, &call.body)).map_err(ours)?;
        let access = if call.head.method.is_safe() { Access::Read } else { Access::Write };
        let first = Some(args);
        let erased = Arc::clone(&inner) as Arc<dyn Engine>;
        let expiry = Expiry::of(&inner.settings, claim.as_ref());
        let body = Handler { first, again: call.again, run: handler, policy, expiry, engine: erased };
        let (patience, _caller) = Patience::of(policy.in_flight);
        let run = async move {
            match claim {
                Some(claim) => run::transactional(&inner, &claim, patience, body).await,
                None => run::unclaimed(&inner, access, body).await.map(Outcome::Ran),
            }
        };
        let outcome = in_own_task(engine.inner().tasks(), run).await;
        settle(outcome, &engine.inner().settings).map_err(ours)
    };
    with_key(answer.await, policy, &head)
}

/// A handler with the arguments of its first run.
struct Handler<A, H> {
    first: Option<A>,
    again: Again<A>,
    run: H,
    policy: &'static Policy,
    expiry: Option<Expiry>,
    engine: Arc<dyn Engine>,
}

impl<C, A, H> run::Body<C> for Handler<A, H>
where
    C: Send,
    A: Send,
    H: for<'c> Fn(A, &'c mut C) -> BoxFuture<'c, Response> + Send + Sync,
{
    type Value = Response;

    fn run<'c>(&'c mut self, conn: &'c mut C) -> BoxFuture<'c, Ran<Response>> {
        async move {
            let args = match self.first.take() {
                Some(args) => args,
                None => match (self.again)().await {
                    Ok(args) => args,
                    Err(rejection) => return Ran { value: rejection, end: End::RollBack },
                },
            };
            let response = (self.run)(args, conn).await;
            capture(response, self.policy.keep, self.expiry, self.engine.settings()).await
        }
        .boxed()
    }
}

/// Runs a handler under a lease.
pub async fn leased<A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl FnOnce(A) -> BoxFuture<'static, Response> + Send + 'static,
) -> Response
where
    A: Send + 'static,
    E: AnyEngine,
{
    let head = Arc::clone(&call.head);
    let answer = async {
        let args = call.args?;
        let (engine, terms) = terms(&args).split();
        let engine = engine.find_any().map_err(|error| refuse(&error, &global::form()))?.0;
        let claim = claim_of(engine.settings(), policy, terms, asked(&call.head, &call.body)).map_err(ours)?;
        let inner = Arc::clone(&engine);
        let expiry = Expiry::of(engine.settings(), claim.as_ref());
        let (patience, _caller) = Patience::of(policy.in_flight);
        let run = async move {
            let body = async { capture(handler(args).await, policy.keep, expiry, inner.settings()).await };
            match claim {
                Some(claim) => run::leased(&inner, &claim, patience, |_| body).await,
                None => Ok(Outcome::Ran(body.await.value)),
            }
        };
        let outcome = in_own_task(engine.tasks(), run).await;
        settle(outcome, engine.settings()).map_err(ours)
    };
    with_key(answer.await, policy, &head)
}

/// Runs a handler with recovery points, under a lease.
pub async fn stepped<C, A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl for<'s> FnOnce(A, &'s mut Steps<C>) -> BoxFuture<'s, Response> + Send + 'static,
) -> Response
where
    C: Send + 'static,
    A: Send + 'static,
    E: EngineFor<C>,
{
    let head = Arc::clone(&call.head);
    let answer = async {
        let args = call.args?;
        let (engine, terms) = terms(&args).split();
        let engine = engine.find().map_err(|error| refuse(&error, &global::form()))?;
        let (inner, erased) = (Arc::clone(engine.inner()), engine.erased());
        let claim = claim_of(&inner.settings, policy, terms, asked(&call.head, &call.body)).map_err(ours)?;
        let claim = claim.ok_or_else(|| refuse(&Error::KeyMissing, &inner.settings.form))?;
        let expiry = Expiry::of(&inner.settings, Some(&claim));
        let (patience, _caller) = Patience::of(policy.in_flight);
        let run = async move {
            let body = |grant: &run::Grant| {
                let (claim, lease) = (grant.claim.clone(), grant.lease().clone());
                let steps = Steps::load(Arc::clone(&inner), claim, grant.fence, lease, Arc::clone(&grant.keeps_claim));
                let settings = &inner.settings;
                async move {
                    match steps.await {
                        Ok(mut steps) => capture(handler(args, &mut steps).await, policy.keep, expiry, settings).await,
                        Err(error) => Ran { value: refuse(&error, &settings.form), end: End::RollBack },
                    }
                }
            };
            run::leased(&erased, &claim, patience, body).await
        };
        let outcome = in_own_task(Engine::tasks(&**engine.inner()), run).await;
        settle(outcome, &engine.inner().settings).map_err(ours)
    };
    with_key(answer.await, policy, &head)
}

/// Runs claim to completion in a task of its own: a client that hangs up stops nothing, and nothing is dropped in the
/// middle of a statement. A panic goes on to the caller.
async fn in_own_task<T: Send + 'static>(tasks: &TaskTracker, run: impl Future<Output = T> + Send + 'static) -> T {
    match tasks.spawn(run.in_current_span()).await {
        Ok(outcome) => outcome,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// An answer, or the one that refuses, with the key as it was sent.
fn with_key(answer: Result<Response, Response>, policy: &Policy, head: &Parts) -> Response {
    let (Ok(mut response) | Err(mut response)) = answer;
    if let Some((name, value)) = sent_key(policy, head) {
        response.headers_mut().insert(name, value);
    }
    response
}
