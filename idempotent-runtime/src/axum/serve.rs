//! One request to an annotated handler, from its key to its answer.

use std::sync::Arc;

use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;

use super::answers::{capture, ours, refuse};
use super::call::{Again, Call, asked};
use crate::engine::Engine;
use crate::global::{self, AnyEngine, EngineFor};
use crate::http::answers::settle;
use crate::http::{Expiry, claim_of, run as shared, sent_key, to_its_end};
use crate::run::{self, Patience, Ran};
use crate::steps::Steps;
use crate::store::End;
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
        let expiry = Expiry::of(&inner.settings, claim.as_ref());
        let (first, engine_of_body) = (Some(args), engine.erased());
        let body = Handler { first, again: call.again, run: handler, policy, expiry, engine: engine_of_body };
        let (patience, _caller) = Patience::of(policy.in_flight);
        let run = shared::transactional(inner, claim, patience, call.head.method.clone(), body);
        let outcome = to_its_end(engine.inner().tasks(), run).await;
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
    C: Send + 'static,
    A: Send + 'static,
    H: for<'c> Fn(A, &'c mut C) -> BoxFuture<'c, Response> + Send + Sync + 'static,
{
    type Value = Response;
    type Run<'c> = BoxFuture<'c, Ran<Response>>;

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
        let body = async move { capture(handler(args).await, policy.keep, expiry, inner.settings()).await };
        let run = shared::leased(Arc::clone(&engine), claim, patience, body);
        let outcome = to_its_end(engine.tasks(), run).await;
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
        let inner = Arc::clone(engine.inner());
        let claim = claim_of(&inner.settings, policy, terms, asked(&call.head, &call.body)).map_err(ours)?;
        let expiry = Expiry::of(&inner.settings, claim.as_ref());
        let (patience, _caller) = Patience::of(policy.in_flight);
        let settled = Arc::clone(&inner);
        let body = async move |steps| {
            let settings = &settled.settings;
            match steps {
                Ok(mut steps) => capture(handler(args, &mut steps).await, policy.keep, expiry, settings).await,
                Err(error) => Ran { value: refuse(&error, &settings.form), end: End::RollBack },
            }
        };
        let run = shared::stepped(inner, claim, patience, body);
        let outcome = to_its_end(Engine::tasks(&**engine.inner()), run).await;
        settle(outcome, &engine.inner().settings).map_err(ours)
    };
    with_key(answer.await, policy, &head)
}

/// An answer, or the one that refuses, with the key as it was sent.
fn with_key(answer: Result<Response, Response>, policy: &Policy, head: &Parts) -> Response {
    let (Ok(mut response) | Err(mut response)) = answer;
    if let Some((name, value)) = sent_key(policy, head) {
        response.headers_mut().insert(name, value);
    }
    response
}
