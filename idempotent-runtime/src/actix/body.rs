//! The body of a response of actix-web, read as one of `http-body`, and given back.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::http::Captured;

/// A body as its handler has made it.
#[derive(Debug)]
pub(super) struct Made(pub(super) BoxBody);

impl Body for Made {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let chunk = self.0.as_pin_mut().poll_next(context);
        chunk.map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        match self.0.size() {
            BodySize::None => SizeHint::with_exact(0),
            BodySize::Sized(bytes) => SizeHint::with_exact(bytes),
            BodySize::Stream => SizeHint::default(),
        }
    }
}

/// A body that was read, in part or to its end, on its way out.
#[derive(Debug)]
pub(super) struct Given {
    body: Captured<Made>,
    size: BodySize,
}

impl Given {
    /// `size` is what the handler said of its body.
    pub(super) fn new(body: Captured<Made>, size: BodySize) -> Self {
        let size = match (size, body.size_hint().exact()) {
            (BodySize::Stream, Some(bytes)) => BodySize::Sized(bytes),
            _ => size,
        };
        Self { body, size }
    }
}

impl MessageBody for Given {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.size
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        // Bodies of actix-web have no trailers: every frame is data.
        let frame = Pin::new(&mut self.body).poll_frame(context);
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.into_data().unwrap_or_default())))
    }
}
