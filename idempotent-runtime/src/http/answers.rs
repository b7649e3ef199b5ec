//! The toolkit's own answers over HTTP: refusals and replays.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde::Serialize;

use super::{Response, expiry};
use crate::answer::REPLAYED;
use crate::claim::Kept;
use crate::error::{Error, seconds};
use crate::run::Outcome;
use crate::settings::{Form, Profile, Settings};

/// The handler's own answer, or the one that is given in its place.
#[allow(clippy::result_large_err, reason = "it is an answer on its way out, not an error to be handed around")]
pub(crate) fn settle<R>(outcome: Result<Outcome<R>, Error>, settings: &Settings) -> Result<R, Response> {
    match outcome {
        Ok(Outcome::Ran(response)) => Ok(response),
        Ok(Outcome::Replayed(kept)) => Err(replay(kept, settings)),
        Err(error) => Err(refuse(&error, &settings.form)),
    }
}

/// In the extensions of a response: nothing ran, and nothing of it is to be kept by a layer around.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused;

/// The answer of a request that was refused.
pub(crate) fn refuse(error: &Error, form: &Form) -> Response {
    let Form { profile, problem_type } = form;
    let status = error.status_under(*profile);
    let (kind, body) = match profile {
        Profile::Stripe => ("application/json", stripe(error)),
        Profile::Ietf => ("application/problem+json", problem(error, status, problem_type)),
    };
    let mut response = Response::new(Bytes::from(body.unwrap_or_default()));
    *response.status_mut() = status;
    response.extensions_mut().insert(Refused);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
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

fn stripe(error: &Error) -> serde_json::Result<Vec<u8>> {
    let object = StripeObject { r#type: "idempotency_error", code: error.code(), message: public_message(error) };
    serde_json::to_vec(&StripeError { error: object })
}

/// The problem details of RFC 9457.
#[derive(Serialize)]
struct Problem<'a> {
    r#type: &'a str,
    title: &'a str,
    status: u16,
    detail: String,
    code: &'a str,
    retryable: bool,
}

fn problem(error: &Error, status: StatusCode, problem_type: &str) -> serde_json::Result<Vec<u8>> {
    // RFC 9457, section 4.2.1: a problem of no type has the title of its status.
    let title = match problem_type {
        "about:blank" => status.canonical_reason().unwrap_or_default(),
        _ => error.title(),
    };
    serde_json::to_vec(&Problem {
        r#type: problem_type,
        title,
        status: status.as_u16(),
        detail: public_message(error),
        code: error.code(),
        retryable: error.is_retryable(),
    })
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
fn replay(kept: Kept, settings: &Settings) -> Response {
    let Kept { answer, left_ms } = kept;
    let mut response = Response::new(answer.body);
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response.headers_mut().extend(expiry::of_replay(settings, left_ms));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn refused(error: &Error, problem_type: &str) -> (u16, Value, Response) {
        let form = Form { profile: Profile::Ietf, problem_type: problem_type.into() };
        let response = refuse(error, &form);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
        (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap(), response)
    }

    #[test]
    fn the_problems_are_those_of_the_draft() {
        let url = "https://developer.example.com/idempotency";
        let in_use = Error::KeyInUse { retry_after: std::time::Duration::from_millis(1_500) };
        for (error, status, title, retryable) in [
            (Error::KeyMissing, 400, "Idempotency-Key is missing", false),
            (Error::KeyReused, 422, "Idempotency-Key is already used", false),
            (in_use, 409, "A request is outstanding for this Idempotency-Key", true),
        ] {
            let (answered, body, response) = refused(&error, url);
            let expected = json!({
                "type": url,
                "title": title,
                "status": status,
                "detail": error.to_string(),
                "code": error.code(),
                "retryable": retryable,
            });
            assert_eq!((answered, body), (status, expected));
            assert_eq!(response.headers().get(RETRY_AFTER).map(|wait| wait == "2"), retryable.then_some(true));
        }
    }

    #[test]
    fn a_problem_of_no_type_has_the_title_of_its_status() {
        let (_, body, _) = refused(&Error::KeyReused, "about:blank");
        assert_eq!(body["title"], "Unprocessable Entity");
    }

    #[test]
    fn our_own_faults_are_not_told() {
        let (status, body, _) = refused(&Error::misconfigured("the password is 1234"), "https://example.com");
        assert_eq!(status, 500);
        assert!(!body.to_string().contains("1234"));
    }
}
