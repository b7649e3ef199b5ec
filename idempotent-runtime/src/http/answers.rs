//! The toolkit's own answers over HTTP: refusals and replays.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use serde::Serialize;

use super::Response;
use crate::answer::Answer;
use crate::error::{Error, seconds};
use crate::run::Outcome;
use crate::settings::{Profile, Settings};

/// Marks an answer that is given back, not made.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The handler's own answer, or the one that is given in its place.
#[allow(clippy::result_large_err, reason = "it is an answer on its way out, not an error to be handed around")]
pub(crate) fn settle<R>(outcome: Result<Outcome<R>, Error>, settings: &Settings) -> Result<R, Response> {
    match outcome {
        Ok(Outcome::Ran(response)) => Ok(response),
        Ok(Outcome::Replayed(answer)) => Err(replay(answer)),
        Err(error) => Err(refuse(&error, settings.profile)),
    }
}

/// In the extensions of a response: nothing ran, and nothing of it is to be kept by a layer around.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused;

/// The answer of a request that was refused.
pub(crate) fn refuse(error: &Error, profile: Profile) -> Response {
    let mut response = match profile {
        Profile::Stripe => stripe(error),
    };
    *response.status_mut() = error.status();
    response.extensions_mut().insert(Refused);
    if let Some(wait) = error.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds(wait)));
    }
    response
}

/// The error object of Stripe's API.
#[derive(Serialize)]
struct StripeError<'a> {
    error: StripeObject<'a>,
}

#[derive(Serialize)]
struct StripeObject<'a> {
    r#type: &'static str,
    code: &'a str,
    message: String,
}

fn stripe(error: &Error) -> Response {
    let object = StripeObject { r#type: "idempotency_error", code: error.code(), message: public_message(error) };
    let body = serde_json::to_vec(&StripeError { error: object }).unwrap_or_default();
    let mut response = Response::new(Bytes::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// What a client may read: the causes of our own faults are for the log.
fn public_message(error: &Error) -> String {
    if error.status().is_server_error() {
        tracing::error!(error = %Causes(error), code = error.code(), "a request was refused");
    }
    match error {
        Error::Misconfigured(_) | Error::NotCommitted(_) | Error::Undecodable(_) | Error::Unserializable(_) => {
            "The request could not be carried out; the service's log says why.".into()
        }
        error => error.to_string(),
    }
}

/// An error with everything below it, on one line.
struct Causes<'a>(&'a Error);

impl std::fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = std::error::Error::source(self.0);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// A stored answer, given back.
fn replay(answer: Answer) -> Response {
    let mut response = Response::new(answer.body);
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}
