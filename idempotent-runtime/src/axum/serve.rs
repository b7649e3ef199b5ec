//! One request to an annotated handler, from its key to its answer.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;

use super::answers::{capture, ours, refuse};
use super::call::{Again, Call, asked};
use crate::answer::Keep;
use crate::engine::{Engine, Idempotency};
use crate::error::Error;
use crate::global::{self, AnyEngine, EngineFor};
use crate::http::answers::settle;
use crate::http::{Asked, Expiry, claim_of, run as shared, sent_key, to_its_end};
use crate::run::{self, Patience, Ran};
use crate::steps::Steps;
use crate::store::End;
use crate::terms::{Policy, Terms};

/// A call that was read, whatever its arguments.
struct Heard {
    head: Arc<Parts>,
    body: Bytes,
    policy: &'static Policy,
}

impl Heard {
    fn asked(&self) -> Asked<'_> {
        asked(&self.head, &self.body)
    }

    /// An answer, or the one that refuses, with the key as it was sent.
    fn with_key(&self, answer: Result<Response, Response>) -> Response {
        let (Ok(mut response) | Err(mut response)) = answer;
        if let Some((name, value)) = sent_key(self.policy, &self.head) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// The engine and the terms of a call, with its handler, or the answer to arguments that could not be extracted.
type Begun<E, H> = Result<(Result<E, Error>, Terms<()>, H), Response>;

/// Runs a handler whose writes, claim and answer commit in one transaction.
///
/// What depends on the handler's types ends here: all that follows is compiled once, and not for each handler.
pub fn transactional<C, A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl for<'c> Fn(A, &'c mut C) -> BoxFuture<'c, Response> + Send + Sync + 'static,
) -> impl Future<Output = Response> + Send
where
    C: Send + 'static,
    A: Send + 'static,
    E: EngineFor<C>,
{
    let Call { args, head, body, again } = call;
    let begun = args.map(|args| {
        let (engine, terms) = terms(&args).split();
        let handler: Box<dyn Handles<C>> = Box::new(Handler { args: Some(args), again, run: handler });
        (engine.find(), terms, handler)
    });
    in_a_transaction(Heard { head, body, policy }, begun)
}

async fn in_a_transaction<C: Send + 'static>(
    heard: Heard,
    begun: Begun<Idempotency<C>, Box<dyn Handles<C>>>,
) -> Response {
    let answer = async {
        let (engine, terms, handler) = begun?;
        let engine = engine.map_err(|error| refuse(&error, &global::form()))?;
        let inner = Arc::clone(engine.inner());
        let claim = claim_of(&inner.settings, heard.policy, terms, heard.asked()).map_err(ours)?;
        let expiry = Expiry::of(&inner.settings, claim.as_ref());
        let body = Captured { handler, keep: heard.policy.keep, expiry, engine: engine.erased() };
        let (patience, _caller) = Patience::of(heard.policy.in_flight);
        let run = shared::transactional(inner, claim, patience, heard.head.method.clone(), body);
        let outcome = to_its_end(engine.inner().tasks(), run).await;
        settle(outcome, &engine.inner().settings).map_err(ours)
    };
    heard.with_key(answer.await)
}

/// A handler with its arguments, whatever they are.
trait Handles<C>: Send {
    /// Runs it, or says how its arguments could not be extracted again.
    fn handle<'c>(&'c mut self, conn: &'c mut C) -> BoxFuture<'c, Result<Response, Response>>;
}

struct Handler<A, H> {
    /// Of the first run.
    args: Option<A>,
    again: Again<A>,
    run: H,
}

impl<C, A, H> Handles<C> for Handler<A, H>
where
    C: Send + 'static,
    A: Send + 'static,
    H: for<'c> Fn(A, &'c mut C) -> BoxFuture<'c, Response> + Send + Sync + 'static,
{
    fn handle<'c>(&'c mut self, conn: &'c mut C) -> BoxFuture<'c, Result<Response, Response>> {
        async move {
            let args = match self.args.take() {
                Some(args) => args,
                None => (self.again)().await?,
            };
            Ok((self.run)(args, conn).await)
        }
        .boxed()
    }
}

/// A handler whose response is kept.
struct Captured<C> {
    handler: Box<dyn Handles<C>>,
    keep: Keep,
    expiry: Option<Expiry>,
    engine: Arc<dyn Engine>,
}

impl<C: Send + 'static> run::Body<C> for Captured<C> {
    type Value = Response;
    type Run<'c> = BoxFuture<'c, Ran<Response>>;

    fn run<'c>(&'c mut self, conn: &'c mut C) -> BoxFuture<'c, Ran<Response>> {
        async move {
            match self.handler.handle(conn).await {
                Ok(response) => capture(response, self.keep, self.expiry, self.engine.settings()).await,
                Err(rejection) => Ran { value: rejection, end: End::RollBack },
            }
        }
        .boxed()
    }
}

/// Runs a handler under a lease.
pub fn leased<A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl FnOnce(A) -> BoxFuture<'static, Response> + Send + 'static,
) -> impl Future<Output = Response> + Send
where
    A: Send + 'static,
    E: AnyEngine,
{
    let Call { args, head, body, .. } = call;
    let begun = args.map(|args| {
        let (engine, terms) = terms(&args).split();
        let handler: OnceLeased = Box::new(|| handler(args));
        (engine.find_any().map(|engine| engine.0), terms, handler)
    });
    under_a_lease(Heard { head, body, policy }, begun)
}

/// A handler with its arguments, which is called once the claim is won.
type OnceLeased = Box<dyn FnOnce() -> BoxFuture<'static, Response> + Send>;

async fn under_a_lease(heard: Heard, begun: Begun<Arc<dyn Engine>, OnceLeased>) -> Response {
    let answer = async {
        let (engine, terms, handler) = begun?;
        let engine = engine.map_err(|error| refuse(&error, &global::form()))?;
        let claim = claim_of(engine.settings(), heard.policy, terms, heard.asked()).map_err(ours)?;
        let (inner, keep) = (Arc::clone(&engine), heard.policy.keep);
        let expiry = Expiry::of(engine.settings(), claim.as_ref());
        let (patience, _caller) = Patience::of(heard.policy.in_flight);
        let body = async move { capture(handler().await, keep, expiry, inner.settings()).await };
        let run = shared::leased(Arc::clone(&engine), claim, patience, body);
        let outcome = to_its_end(engine.tasks(), run).await;
        settle(outcome, engine.settings()).map_err(ours)
    };
    heard.with_key(answer.await)
}

/// Runs a handler with recovery points, under a lease.
pub fn stepped<C, A, E>(
    call: Call<A>,
    policy: &'static Policy,
    terms: impl FnOnce(&A) -> Terms<E>,
    handler: impl for<'s> FnOnce(A, &'s mut Steps<C>) -> BoxFuture<'s, Response> + Send + 'static,
) -> impl Future<Output = Response> + Send
where
    C: Send + 'static,
    A: Send + 'static,
    E: EngineFor<C>,
{
    let Call { args, head, body, .. } = call;
    let begun = args.map(|args| {
        let (engine, terms) = terms(&args).split();
        let handler: OnceStepped<C> = Box::new(|steps| handler(args, steps));
        (engine.find(), terms, handler)
    });
    in_steps(Heard { head, body, policy }, begun)
}

/// A handler with its arguments, which is called with its steps.
type OnceStepped<C> = Box<dyn for<'s> FnOnce(&'s mut Steps<C>) -> BoxFuture<'s, Response> + Send>;

async fn in_steps<C: Send + 'static>(heard: Heard, begun: Begun<Idempotency<C>, OnceStepped<C>>) -> Response {
    let answer = async {
        let (engine, terms, handler) = begun?;
        let engine = engine.map_err(|error| refuse(&error, &global::form()))?;
        let inner = Arc::clone(engine.inner());
        let claim = claim_of(&inner.settings, heard.policy, terms, heard.asked()).map_err(ours)?;
        let (settled, keep) = (Arc::clone(&inner), heard.policy.keep);
        let expiry = Expiry::of(&inner.settings, claim.as_ref());
        let (patience, _caller) = Patience::of(heard.policy.in_flight);
        let body = async move |steps| {
            let settings = &settled.settings;
            match steps {
                Ok(mut steps) => capture(handler(&mut steps).await, keep, expiry, settings).await,
                Err(error) => Ran { value: refuse(&error, &settings.form), end: End::RollBack },
            }
        };
        let run = shared::stepped(inner, claim, patience, body);
        let outcome = to_its_end(Engine::tasks(&**engine.inner()), run).await;
        settle(outcome, &engine.inner().settings).map_err(ours)
    };
    heard.with_key(answer.await)
}
