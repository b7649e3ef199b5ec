//! A service under the layer: one request, from its key to its answer.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, TryFutureExt};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use tower_service::Service;

use super::body::IdempotencyBody;
use super::layer::Rules;
use crate::http::answers::{Refused, refuse, settle};
use crate::http::{self as shared, Asked, Claimed, Expiry, claim_of, read, run, runs_unclaimed, sent_key, to_its_end};
use crate::run::{Patience, Ran};
use crate::store::End;
use crate::terms::{KeySource, Policy};

/// A service under an [`IdempotencyLayer`](crate::IdempotencyLayer).
///
/// Over any `Service<Request<B>>` that is `Clone` and answers with a `Response`, where `B` can be made of `Bytes`: the body
/// of axum, `http_body_util::Full<Bytes>`.
///
/// ```
/// # use idempotent_runtime::{IdempotencyLayer, IdempotencyService};
/// use tower_layer::Layer;
///
/// fn wrap<S>(layer: &IdempotencyLayer, inner: S) -> IdempotencyService<S> {
///     layer.layer(inner)
/// }
/// ```
#[derive(Clone)]
pub struct IdempotencyService<S> {
    inner: S,
    rules: Arc<Rules>,
}

impl<S> IdempotencyService<S> {
    pub(super) fn new(inner: S, rules: Arc<Rules>) -> Self {
        Self { inner, rules }
    }
}

impl<S: std::fmt::Debug> std::fmt::Debug for IdempotencyService<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdempotencyService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B, R> Service<Request<B>> for IdempotencyService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + From<Bytes> + Send + 'static,
    R: Body<Data = Bytes, Error: std::fmt::Display> + Send + 'static,
{
    type Response = Response<IdempotencyBody<R>>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // What was asked whether it is ready is the one to call.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let (head, body) = request.into_parts();
        let policy = self.rules.policy();
        if self.rules.excepts(&head) || runs_unclaimed(&policy, &head) {
            let request = Request::from_parts(head, body);
            return inner.call(request).map_ok(|response| response.map(IdempotencyBody::unread)).boxed();
        }
        claimed(inner, Arc::clone(&self.rules), policy, head, body).boxed()
    }
}

/// Runs a request that needs a claim.
async fn claimed<S, B, R>(
    mut inner: S,
    rules: Arc<Rules>,
    policy: Policy,
    mut head: Parts,
    body: B,
) -> Result<Response<IdempotencyBody<R>>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>> + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>> + From<Bytes> + Send + 'static,
    R: Body<Data = Bytes, Error: std::fmt::Display> + Send + 'static,
{
    let key = sent_key(&policy, &head);
    let answer = async {
        let engine = Arc::clone(&rules.engine);
        let settings = engine.settings();
        let body = match read(body, settings.body_limit).await {
            Ok(body) => body,
            Err(error) => return Err(refuse(&error, &settings.form)),
        };
        let claim = claim_of(settings, &policy, rules.terms().split().1, asked(&head, &body))?;
        if let KeySource::Header(name, _) = policy.key {
            head.extensions.insert(Claimed(name));
        }
        let expiry = Expiry::of(settings, claim.as_ref());
        let (patience, _caller) = Patience::of(policy.in_flight);
        let request = Request::from_parts(head, B::from(body));
        let run = {
            let engine = Arc::clone(&engine);
            async move {
                let settled = Arc::clone(&engine);
                let body = async move {
                    match inner.call(request).await {
                        Ok(response) => {
                            let Ran { value, end } = capture(response, &policy, expiry, settled.settings()).await;
                            Ran { value: Ok(value), end }
                        }
                        Err(error) => Ran { value: Err(error), end: End::RollBack },
                    }
                };
                run::leased(engine, claim, patience, body).await
            }
        };
        settle(to_its_end(engine.tasks(), run).await, settings)
    };
    let mut response = match answer.await {
        Ok(response) => response?,
        Err(answer) => answer.map(IdempotencyBody::whole),
    };
    if let Some((name, value)) = key {
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// What is to be kept of a response, and the response to give. What a route inside has refused by itself is not kept.
async fn capture<R>(
    response: Response<R>,
    policy: &Policy,
    expiry: Option<Expiry>,
    settings: &crate::settings::Settings,
) -> Ran<Response<IdempotencyBody<R>>>
where
    R: Body<Data = Bytes, Error: std::fmt::Display>,
{
    if response.extensions().get::<Refused>().is_some() {
        return Ran { value: response.map(IdempotencyBody::unread), end: End::RollBack };
    }
    let (mut head, body) = response.into_parts();
    let captured = shared::capture(head.status, &head.headers, Box::pin(body), policy.keep, settings).await;
    head.headers.extend(expiry.and_then(|expiry| expiry.header(&captured.end)));
    let value = match captured.value {
        Some(body) => Response::from_parts(head, IdempotencyBody(body)),
        None => {
            let mut response = Response::new(IdempotencyBody::whole(Bytes::new()));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        }
    };
    Ran { value, end: captured.end }
}

/// What was asked: of the path as the client sent it, where axum has taken a prefix off.
#[cfg(feature = "axum")]
fn asked<'a>(head: &'a Parts, body: &'a Bytes) -> Asked<'a> {
    crate::axum::asked(head, body)
}

/// What was asked.
#[cfg(not(feature = "axum"))]
fn asked<'a>(head: &'a Parts, body: &'a Bytes) -> Asked<'a> {
    Asked { head, path: head.uri.path(), query: head.uri.query().unwrap_or_default(), body }
}
