//! Reads a handler's response far enough to store it, and hands the caller the same response.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, BodyStream, StreamBody};

use crate::answer::{Answer, Keep};
use crate::run::Ran;
use crate::settings::Settings;
use crate::store::{End, Stored};

/// What is to be kept of `response`, and the response to give.
///
/// A status below 400 keeps the handler's writes. An answer that is kept is stored; a body beyond the limit is passed
/// on and leaves a tombstone, and so does an event stream. A body that breaks counts as a server error.
pub(super) async fn capture(response: Response, keep: Keep, settings: &Settings) -> Ran<Response> {
    let status = response.status();
    let keeps_writes = status.as_u16() < 400;
    if !keep.keeps(status) {
        let end = if keeps_writes { End::Forget } else { End::RollBack };
        return Ran { value: response, end };
    }
    let (head, body) = response.into_parts();
    let (stored, body) = if is_event_stream(&head.headers) {
        (Stored::Tombstone, body)
    } else {
        match read(body, settings.response_limit).await {
            Ok((Some(bytes), body)) => {
                let headers = settings.headers.select(&head.headers);
                (Stored::Answer(Answer::new(status, headers, bytes)), body)
            }
            Ok((None, body)) => (Stored::Tombstone, body),
            Err(error) => {
                tracing::error!(%error, "the body of an answer broke off");
                return Ran { value: StatusCode::INTERNAL_SERVER_ERROR.into_response(), end: End::RollBack };
            }
        }
    };
    let end = if keeps_writes { End::Commit(stored) } else { End::Undo(stored) };
    Ran { value: Response::from_parts(head, body), end }
}

fn is_event_stream(headers: &http::HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// The whole body if it is no longer than `limit`, and a body to send, which continues where the reading stopped.
async fn read(mut body: Body, limit: usize) -> Result<(Option<Bytes>, Body), axum::Error> {
    let mut frames = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        length += frame.data_ref().map_or(0, Bytes::len);
        frames.push(frame);
        if length > limit {
            let read = stream::iter(frames.into_iter().map(Ok::<_, axum::Error>));
            return Ok((None, Body::new(StreamBody::new(read.chain(BodyStream::new(body))))));
        }
    }
    let bytes = join(&frames, length);
    let has_trailers = frames.iter().any(http_body::Frame::is_trailers);
    let body = if has_trailers {
        Body::new(StreamBody::new(stream::iter(frames.into_iter().map(Ok::<_, axum::Error>))))
    } else {
        Body::from(bytes.clone())
    };
    Ok((Some(bytes), body))
}

/// The data of all frames; that of a single one without a copy.
fn join(frames: &[http_body::Frame<Bytes>], length: usize) -> Bytes {
    let mut data = frames.iter().filter_map(http_body::Frame::data_ref);
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
