//! One request to an annotated handler, from its key to its answer.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use http::header::{HeaderName, HeaderValue};

use super::answers::{capture, refuse};
use super::call::{Again, Call, asked};
use super::convert::{insert, ours};
use super::own_task::in_own_task;
use crate::engine::Engine;
use crate::global::{self, AnyEngine, EngineFor};
use crate::http::answers::settle;
use crate::http::{Expiry, claim_of, run as shared, sent_key};
use crate::run::{self, Patience, Ran};
use crate::steps::Steps;
use crate::store::End;
use crate::terms::{Policy, Terms};

/// Runs a handler whose writes, claim and answer commit in one transaction.
pub async fn transactional<C, A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl for<'c> Fn(HttpRequest, A, &'c mut C) -> LocalBoxFuture<'c, HttpResponse> + 'static,
) -> HttpResponse
where
    C: Send + 'static,
    A: 'static,
    E: EngineFor<C>,
{
    let key = sent_key(policy, &call.head);
    let answer = async {
        let args = call.args?;
        let (engine, terms) = terms(&args).split();
        let engine = engine.find().map_err(|error| refuse(&error, &global::form()))?;
        let inner = Arc::clone(engine.inner());
        let claim =
            claim_of(&inner.settings, policy, terms, asked(&call.request, &call.head, &call.body)).map_err(ours)?;
        let expiry = Expiry::of(&inner.settings, claim.as_ref());
        let (patience, _caller) = Patience::of(policy.in_flight);
        let body = Handler {
            first: Some(args),
            again: call.again,
            request: call.request,
            body: call.body,
            run: handler,
            policy,
            expiry,
            engine: engine.erased(),
        };
        let run = shared::transactional(inner, claim, patience, call.head.method, body);
        let outcome = in_own_task(Engine::tasks(&**engine.inner()), run).await;
        settle(outcome, &engine.inner().settings).map_err(ours)
    };
    with_key(answer.await, key)
}

/// A handler with the arguments of its first run, and what to extract them from again.
struct Handler<A, H> {
    first: Option<A>,
    again: Again<A>,
    request: HttpRequest,
    body: bytes::Bytes,
    run: H,
    policy: &'static Policy,
    expiry: Option<Expiry>,
    engine: Arc<dyn Engine>,
}

impl<C, A, H> run::Body<C> for Handler<A, H>
where
    C: 'static,
    A: 'static,
    H: for<'c> Fn(HttpRequest, A, &'c mut C) -> LocalBoxFuture<'c, HttpResponse> + 'static,
{
    type Value = HttpResponse;
    type Run<'c> = LocalBoxFuture<'c, Ran<HttpResponse>>;

    fn run<'c>(&'c mut self, conn: &'c mut C) -> LocalBoxFuture<'c, Ran<HttpResponse>> {
        async move {
            let args = match self.first.take() {
                Some(args) => args,
                None => match (self.again)(self.request.clone(), self.body.clone()).await {
                    Ok(args) => args,
                    Err(rejection) => return Ran { value: rejection, end: End::RollBack },
                },
            };
            let response = (self.run)(self.request.clone(), args, conn).await;
            capture(response, self.policy.keep, self.expiry, self.engine.settings()).await
        }
        .boxed_local()
    }
}

/// Runs a handler under a lease.
pub async fn leased<A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl FnOnce(HttpRequest, A) -> LocalBoxFuture<'static, HttpResponse> + 'static,
) -> HttpResponse
where
    A: 'static,
    E: AnyEngine,
{
    let key = sent_key(policy, &call.head);
    let answer = async {
        let args = call.args?;
        let (engine, terms) = terms(&args).split();
        let engine = engine.find_any().map_err(|error| refuse(&error, &global::form()))?.0;
        let claim =
            claim_of(engine.settings(), policy, terms, asked(&call.request, &call.head, &call.body)).map_err(ours)?;
        let expiry = Expiry::of(engine.settings(), claim.as_ref());
        let (patience, _caller) = Patience::of(policy.in_flight);
        let (inner, request) = (Arc::clone(&engine), call.request);
        let body = async move { capture(handler(request, args).await, policy.keep, expiry, inner.settings()).await };
        let run = shared::leased(Arc::clone(&engine), claim, patience, body);
        let outcome = in_own_task(engine.tasks(), run).await;
        settle(outcome, engine.settings()).map_err(ours)
    };
    with_key(answer.await, key)
}

/// Runs a handler with recovery points, under a lease.
pub async fn stepped<C, A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl for<'s> FnOnce(HttpRequest, A, &'s mut Steps<C>) -> LocalBoxFuture<'s, HttpResponse> + 'static,
) -> HttpResponse
where
    C: Send + 'static,
    A: 'static,
    E: EngineFor<C>,
{
    let key = sent_key(policy, &call.head);
    let answer = async {
        let args = call.args?;
        let (engine, terms) = terms(&args).split();
        let engine = engine.find().map_err(|error| refuse(&error, &global::form()))?;
        let inner = Arc::clone(engine.inner());
        let claim =
            claim_of(&inner.settings, policy, terms, asked(&call.request, &call.head, &call.body)).map_err(ours)?;
        let expiry = Expiry::of(&inner.settings, claim.as_ref());
        let (patience, _caller) = Patience::of(policy.in_flight);
        let (settled, request) = (Arc::clone(&inner), call.request);
        let body = async move |steps| {
            let settings = &settled.settings;
            match steps {
                Ok(mut steps) => capture(handler(request, args, &mut steps).await, policy.keep, expiry, settings).await,
                Err(error) => Ran { value: refuse(&error, &settings.form), end: End::RollBack },
            }
        };
        let run = shared::stepped(inner, claim, patience, body);
        let outcome = in_own_task(Engine::tasks(&**engine.inner()), run).await;
        settle(outcome, &engine.inner().settings).map_err(ours)
    };
    with_key(answer.await, key)
}

/// An answer, or the one that refuses, with the key as it was sent.
fn with_key(answer: Result<HttpResponse, HttpResponse>, key: Option<(HeaderName, HeaderValue)>) -> HttpResponse {
    let (Ok(mut response) | Err(mut response)) = answer;
    if let Some((name, value)) = key {
        insert(&mut response, &name, &value);
    }
    response
}
