//! A request that was read and extracted, and can be extracted again.

use std::convert::Infallible;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use bytes::{Bytes, BytesMut};
use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt, StreamExt};
use http::request::Parts;

use super::answers::refuse;
use super::convert::head_of;
use crate::engine::largest_body_limit;
use crate::error::Error;
use crate::global;
use crate::http::Asked;

/// The one argument of an annotated handler: the tuple `A` of the extractors that its author wrote.
pub struct Call<A> {
    /// Or the answer to a request that was refused before it came to that.
    pub(super) args: Result<A, HttpResponse>,
    pub(super) request: HttpRequest,
    pub(super) head: Parts,
    pub(super) body: Bytes,
    pub(super) again: Again<A>,
}

/// Extracts the arguments anew, for a transaction that has to run again.
pub(super) type Again<A> = fn(HttpRequest, Bytes) -> LocalBoxFuture<'static, Result<A, HttpResponse>>;

impl<A> std::fmt::Debug for Call<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("head", &self.head).finish_non_exhaustive()
    }
}

impl<A: FromRequest + 'static> FromRequest for Call<A> {
    /// A refusal is answered like everything else, with the key that was sent.
    type Error = Infallible;
    type Future = LocalBoxFuture<'static, Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        async move {
            let head = head_of(&request);
            let read = read(payload, largest_body_limit()).await;
            let body = read.as_ref().map(Bytes::clone).unwrap_or_default();
            let args = match read {
                Ok(body) => extract(request.clone(), body).await,
                Err(error) => Err(refuse(&error, &global::form())),
            };
            Ok(Self { args, request, head, body, again: |request, body| extract(request, body).boxed_local() })
        }
        .boxed_local()
    }
}

/// What was asked: of the path as the client sent it.
pub(super) fn asked<'a>(request: &'a HttpRequest, head: &'a Parts, body: &'a Bytes) -> Asked<'a> {
    Asked { head, path: request.path(), query: request.query_string(), body }
}

async fn extract<A: FromRequest>(request: HttpRequest, body: Bytes) -> Result<A, HttpResponse> {
    let mut payload = if body.is_empty() { Payload::None } else { Payload::from(body) };
    A::from_request(&request, &mut payload).await.map_err(HttpResponse::from_error)
}

async fn read(mut payload: Payload, limit: usize) -> Result<Bytes, Error> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| Error::BodyUnreadable)?;
        if body.len() + chunk.len() > limit {
            return Err(Error::BodyTooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// What actix-web takes from a request for an annotated handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no extractor of actix-web",
    label = "this cannot be taken from a request",
    note = "implement `actix_web::FromRequest` for it, wrap it (`web::Json`, `web::Path`, `web::Data`), or mark a connection with `#[tx]`"
)]
pub trait Extract {}

#[diagnostic::do_not_recommend]
impl<T: FromRequest> Extract for T {}

/// Asks, on the user's own type, that it be an extractor: the only place that does.
pub const fn extractor<T: Extract>() {}
