//! The body of a response that has come through the layer.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::http::Captured;

/// The body of a response of an [`IdempotencyLayer`](crate::IdempotencyLayer): that of the service inside, a stored one,
/// or the toolkit's own.
///
/// ```
/// # fn is_a_body<B: http_body::Body>() {}
/// is_a_body::<idempotent_runtime::IdempotencyBody<http_body_util::Full<bytes::Bytes>>>();
/// ```
#[derive(Debug)]
pub struct IdempotencyBody<B>(pub(super) Captured<Pin<Box<B>>>);

impl<B> IdempotencyBody<B> {
    /// A body that nobody has read.
    pub(super) fn unread(body: B) -> Self {
        Self(Captured::unread(Box::pin(body)))
    }

    /// A body of these bytes.
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self(Captured::whole(bytes))
    }
}

impl<B: Body<Data = Bytes>> Body for IdempotencyBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
