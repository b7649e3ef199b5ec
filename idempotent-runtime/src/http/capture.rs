//! Reads a handler's response far enough to store it, and hands the caller the same response.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;

use crate::answer::{Answer, Keep};
use crate::run::Ran;
use crate::settings::Settings;
use crate::store::{End, Stored};

/// What is to be kept of a response, and the body to send with it; `None` if that broke off, which counts as a server
/// error.
///
/// A status below 400 keeps the handler's writes. An answer that is kept is stored; a body beyond the limit is passed
/// on and leaves a tombstone, and so does an event stream.
pub(crate) async fn capture<B>(
    status: StatusCode,
    headers: &HeaderMap,
    body: B,
    keep: Keep,
    settings: &Settings,
) -> Ran<Option<Captured<B>>>
where
    B: Body<Data = Bytes, Error: std::fmt::Display> + Unpin,
{
    let keeps_writes = status.as_u16() < 400;
    if !keep.keeps(status) {
        let end = if keeps_writes { End::Forget } else { End::RollBack };
        return Ran { value: Some(Captured::unread(body)), end };
    }
    let (stored, body) = if is_event_stream(headers) {
        (Stored::Tombstone, Captured::unread(body))
    } else {
        match read(body, settings.response_limit).await {
            Ok((Some(bytes), body)) => {
                (Stored::Answer(Answer::new(status, settings.headers.select(headers), bytes)), body)
            }
            Ok((None, body)) => (Stored::Tombstone, body),
            Err(error) => {
                tracing::error!(%error, "the body of an answer broke off");
                return Ran { value: None, end: End::RollBack };
            }
        }
    };
    let end = if keeps_writes { End::Commit(stored) } else { End::Undo(stored) };
    Ran { value: Some(body), end }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// The whole body if it is no longer than `limit`, and a body to send, which continues where the reading stopped.
async fn read<B>(mut body: B, limit: usize) -> Result<(Option<Bytes>, Captured<B>), B::Error>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut frames = VecDeque::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        length += frame.data_ref().map_or(0, Bytes::len);
        frames.push_back(frame);
        if length > limit {
            return Ok((None, Captured { frames, rest: Some(body) }));
        }
    }
    let bytes = join(&frames, length);
    if !frames.iter().any(Frame::is_trailers) {
        frames.clear();
        if !bytes.is_empty() {
            frames.push_back(Frame::data(bytes.clone()));
        }
    }
    Ok((Some(bytes), Captured { frames, rest: None }))
}

/// The data of all frames; that of a single one without a copy.
fn join(frames: &VecDeque<Frame<Bytes>>, length: usize) -> Bytes {
    let mut data = frames.iter().filter_map(Frame::data_ref);
    match (data.next(), data.next()) {
        (None, _) => Bytes::new(),
        (Some(only), None) => only.clone(),
        (Some(first), Some(second)) => {
            let mut all = BytesMut::with_capacity(length);
            for part in [first, second].into_iter().chain(data) {
                all.extend_from_slice(part);
            }
            all.freeze()
        }
    }
}

/// A body that was read in part, or to its end: the frames that were read, and the rest.
#[derive(Debug)]
pub(crate) struct Captured<B> {
    frames: VecDeque<Frame<Bytes>>,
    rest: Option<B>,
}

impl<B> Captured<B> {
    /// A body of these bytes.
    #[cfg(feature = "tower")]
    pub(crate) fn whole(bytes: Bytes) -> Self {
        let frames = if bytes.is_empty() { VecDeque::new() } else { [Frame::data(bytes)].into() };
        Self { frames, rest: None }
    }

    pub(crate) fn unread(body: B) -> Self {
        Self { frames: VecDeque::new(), rest: Some(body) }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Captured<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Some(frame) = self.frames.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        match &mut self.rest {
            Some(rest) => Pin::new(rest).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    /// Nothing is said of a body with trailers: a length would cut them off.
    fn size_hint(&self) -> SizeHint {
        let mut read = 0;
        for frame in &self.frames {
            match frame.data_ref() {
                Some(data) => read += data.len() as u64,
                None => return SizeHint::default(),
            }
        }
        let rest = self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + read);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + read);
        }
        hint
    }
}
