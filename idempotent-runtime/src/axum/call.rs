//! A request that was read and extracted, and can be extracted again.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, OriginalUri, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;

use super::answers;
use crate::engine::largest_body_limit;
use crate::global;
use crate::http::{Asked, read};

/// The one argument of an annotated handler: the tuple `A` of the extractors that its author wrote.
pub struct Call<A> {
    /// Or the answer to a request that was refused before it came to that.
    pub(super) args: Result<A, Response>,
    pub(super) head: Arc<Parts>,
    pub(super) body: Bytes,
    pub(super) again: Again<A>,
}

/// Extracts the arguments anew, for a transaction that has to run again.
pub(super) type Again<A> = Arc<dyn Fn() -> BoxFuture<'static, Result<A, Response>> + Send + Sync>;

impl<A> std::fmt::Debug for Call<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("head", &self.head).finish_non_exhaustive()
    }
}

/// Tells the extraction of a [`Call`] from axum's own; `M` is that of the arguments.
#[derive(Debug)]
pub struct ViaCall<M>(std::marker::PhantomData<M>);

impl<S, A, M> FromRequest<S, ViaCall<M>> for Call<A>
where
    S: Clone + Send + Sync + 'static,
    A: FromRequest<S, M> + 'static,
    M: 'static,
{
    /// A refusal is answered like everything else, with the key that was sent.
    type Rejection = Infallible;

    async fn from_request(request: Request, state: &S) -> Result<Self, Infallible> {
        let (head, body) = request.into_parts();
        let head = Arc::new(head);
        let read = read(body, largest_body_limit()).await;
        let body = read.as_ref().map(Bytes::clone).unwrap_or_default();
        let again: Again<A> = {
            let (head, body, state) = (Arc::clone(&head), body.clone(), state.clone());
            Arc::new(move || extract(Parts::clone(&head), body.clone(), state.clone()).boxed())
        };
        let args = match read {
            Ok(_) => again().await,
            Err(error) => Err(answers::refuse(&error, &global::form())),
        };
        Ok(Self { args, head, body, again })
    }
}

async fn extract<S, A, M>(head: Parts, body: Bytes, state: S) -> Result<A, Response>
where
    S: Send + Sync,
    A: FromRequest<S, M>,
{
    let request = Request::from_parts(head, Body::from(body));
    A::from_request(request, &state).await.map_err(IntoResponse::into_response)
}

/// What was asked: of the path as the client sent it, before any router took a prefix off.
pub(crate) fn asked<'a>(head: &'a Parts, body: &'a Bytes) -> Asked<'a> {
    let uri = head.extensions.get::<OriginalUri>().map_or(&head.uri, |original| &original.0);
    Asked { head, path: uri.path(), query: uri.query().unwrap_or_default(), body }
}
