//! One request to an annotated handler, from its key to its answer.

use std::future::Future;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderValue, Method};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::call::{Again, Call, original_uri};
use super::{answers, capture::capture};
use crate::claim::Claim;
use crate::engine::Engine;
use crate::error::Error;
use crate::fingerprint::{Content, Fingerprint};
use crate::global::{AnyEngine, EngineFor};
use crate::key::{Key, KeyError};
use crate::run::{self, Outcome, Ran};
use crate::settings::{Profile, Settings};
use crate::steps::Steps;
use crate::store::{Access, End};
use crate::terms::{KeySource, Need, Policy, Print, Terms};

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
        let engine = engine.find().map_err(|error| answers::refuse(&error, Profile::default()))?;
        let inner = Arc::clone(engine.inner());
        let claim = claim_of(&inner.settings, policy, terms, &call.head, &call.body)?;
        let access = if call.head.method.is_safe() { Access::Read } else { Access::Write };
        let first = Some(args);
        let erased = Arc::clone(&inner) as Arc<dyn Engine>;
        let body = Handler { first, again: call.again, run: handler, policy, engine: erased };
        let run = async move {
            match claim {
                Some(claim) => run::transactional(&inner, &claim, body).await,
                None => run::unclaimed(&inner, access, body).await.map(Outcome::Ran),
            }
        };
        let outcome = in_own_task(engine.inner().tasks(), run).await;
        Ok(answer_of(outcome, &engine.inner().settings))
    };
    with_key(answer.await, policy, &head)
}

/// A handler with the arguments of its first run.
struct Handler<A, H> {
    first: Option<A>,
    again: Again<A>,
    run: H,
    policy: &'static Policy,
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
            capture(response, self.policy.keep, self.engine.settings()).await
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
        let engine = engine.find_any().map_err(|error| answers::refuse(&error, Profile::default()))?.0;
        let claim = claim_of(engine.settings(), policy, terms, &call.head, &call.body)?;
        let inner = Arc::clone(&engine);
        let run = async move {
            let body = async { capture(handler(args).await, policy.keep, inner.settings()).await };
            match claim {
                Some(claim) => run::leased(&inner, &claim, |_| body).await,
                None => Ok(Outcome::Ran(body.await.value)),
            }
        };
        let outcome = in_own_task(engine.tasks(), run).await;
        Ok(answer_of(outcome, engine.settings()))
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
        let engine = engine.find().map_err(|error| answers::refuse(&error, Profile::default()))?;
        let (inner, erased) = (Arc::clone(engine.inner()), engine.erased());
        let claim = claim_of(&inner.settings, policy, terms, &call.head, &call.body)?;
        let claim = claim.ok_or_else(|| answers::refuse(&Error::KeyMissing, inner.settings.profile))?;
        let run = async move {
            let body = |grant: &run::Grant| {
                let (claim, lease) = (grant.claim.clone(), grant.lease().clone());
                let steps = Steps::load(Arc::clone(&inner), claim, grant.fence, lease, Arc::clone(&grant.keeps_claim));
                let settings = &inner.settings;
                async move {
                    match steps.await {
                        Ok(mut steps) => capture(handler(args, &mut steps).await, policy.keep, settings).await,
                        Err(error) => Ran { value: answers::refuse(&error, settings.profile), end: End::RollBack },
                    }
                }
            };
            run::leased(&erased, &claim, body).await
        };
        let outcome = in_own_task(Engine::tasks(&**engine.inner()), run).await;
        Ok(answer_of(outcome, &engine.inner().settings))
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

/// The claim of a request, `None` if it runs without one; or the answer that refuses it.
#[allow(clippy::result_large_err, reason = "it is an answer on its way out, not an error to be handed around")]
fn claim_of(
    settings: &Settings,
    policy: &Policy,
    terms: Terms<()>,
    head: &Parts,
    body: &Bytes,
) -> Result<Option<Claim>, Response> {
    read_claim(settings, policy, terms, head, body).map_err(|error| answers::refuse(&error, settings.profile))
}

fn read_claim(
    settings: &Settings,
    policy: &Policy,
    terms: Terms<()>,
    head: &Parts,
    body: &Bytes,
) -> Result<Option<Claim>, Error> {
    if body.len() > settings.body_limit {
        return Err(Error::BodyTooLarge { limit: settings.body_limit });
    }
    let always = matches!(policy.key, KeySource::Header(_, Need::Always));
    if head.method.is_safe() && !always {
        return Ok(None);
    }
    let key = match policy.key {
        KeySource::Expression => None,
        KeySource::Header(name, need) => match key_of(head, name, settings)? {
            Some(key) => Some(key),
            None if always || (need == Need::ByMethod && needs_key(&head.method)) => return Err(Error::KeyMissing),
            None => return Ok(None),
        },
    };
    let caller = || settings.scope.resolve(head);
    let fingerprint = |value: Option<Vec<u8>>| {
        let (path, query) = original_uri(head);
        let content = match (policy.fingerprint, &value) {
            (_, Some(value)) => Content::Value(value),
            (Print::Bytes, None) => Content::Bytes { query, body },
            (Print::Nothing | Print::Value, None) => Content::Nothing,
        };
        Fingerprint::of_request(head.method.as_str(), path, content)
    };
    terms.into_claim(settings, policy, key, caller, fingerprint).map(Some)
}

/// PUT and DELETE are idempotent by nature (RFC 9110, section 9.2.2): a key is honoured, not required.
fn needs_key(method: &Method) -> bool {
    !method.is_idempotent()
}

fn key_of(head: &Parts, name: &'static str, settings: &Settings) -> Result<Option<Key>, Error> {
    let mut lines = head.headers.get_all(name).iter();
    match (lines.next(), lines.count()) {
        (None, _) => Ok(None),
        (Some(value), 0) => Ok(Some(Key::from_header(value, &settings.key_policy)?)),
        (Some(_), more) => Err(KeyError::Several { lines: more + 1 }.into()),
    }
}

/// The answer of a request that was claimed, or not.
fn answer_of(outcome: Result<Outcome<Response>, Error>, settings: &Settings) -> Response {
    match outcome {
        Ok(Outcome::Ran(response)) => response,
        Ok(Outcome::Replayed(answer)) => answers::replay(answer),
        Err(error) => answers::refuse(&error, settings.profile),
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

fn sent_key(policy: &Policy, head: &Parts) -> Option<(HeaderName, HeaderValue)> {
    let KeySource::Header(name, _) = policy.key else { return None };
    Some((HeaderName::from_static(name), head.headers.get(name)?.clone()))
}
