//! Answers as axum gives them.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::answer::Keep;
use crate::error::Error;
use crate::global;
use crate::http::{self as shared, Expiry, answers};
use crate::run::Ran;
use crate::settings::{Form, Settings};

/// The answer that the toolkit itself gives, in the [`Profile`](crate::Profile) of the first engine that was installed:
/// for handlers whose own errors wrap this one.
impl IntoResponse for Error {
    fn into_response(self) -> Response {
        refuse(&self, &global::form())
    }
}

/// The answer of a request that was refused.
pub(super) fn refuse(error: &Error, form: &Form) -> Response {
    ours(answers::refuse(error, form))
}

/// An answer of the toolkit itself.
pub(super) fn ours(response: shared::Response) -> Response {
    response.map(Body::from)
}

/// What is to be kept of a handler's response, and the response to give.
pub(super) async fn capture(
    response: Response,
    keep: Keep,
    expiry: Option<Expiry>,
    settings: &Settings,
) -> Ran<Response> {
    let (mut head, body) = response.into_parts();
    let Ran { value, end } = shared::capture(head.status, &head.headers, body, keep, settings).await;
    head.headers.extend(expiry.and_then(|expiry| expiry.header(&end)));
    let value = match value {
        Some(body) => Response::from_parts(head, Body::new(body)),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    Ran { value, end }
}
