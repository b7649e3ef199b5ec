//! What can go wrong with a request, and the answer that says so.

use std::error::Error as _;

use axum::Json;
use axum::extract::rejection::{FormRejection, JsonRejection};
use axum::http::StatusCode;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use diesel::result::Error as DatabaseError;
use diesel_async::pooled_connection::deadpool::PoolError;
use idempotent_runtime::TransitionError;
use serde::Serialize;

use crate::db::is_passing;

/// A request that was not carried out.
///
/// Answers below 500 are kept with the request's key and given again, except 401, 403, 408, 409, 425 and 429. An answer
/// of 500 or more gives the key back: a repeat runs again.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The body is no JSON, or no JSON that is expected here; axum's own answer says where.
    #[error(transparent)]
    Body(#[from] JsonRejection),
    /// The body is no form, or no form that is expected here; axum's own answer says where.
    #[error(transparent)]
    Form(#[from] FormRejection),
    /// Nobody said who is asking.
    #[error("say who you are: `Authorization: Bearer NAME`")]
    Unauthorized,
    /// There is no such thing, or it is somebody else's.
    #[error("there is nothing here by this name")]
    NotFound,
    /// The state machine has no way from where the order is, or cannot be asked.
    #[error(transparent)]
    Transition(TransitionError),
    /// Where the order is, a rule that is no edge of its machine forbids it.
    #[error("{message}")]
    StateConflict {
        /// The state that the order is in.
        current: String,
        /// The events that are possible there.
        allowed: Box<[&'static str]>,
        /// What was asked, and why it is not possible.
        message: String,
    },
    /// The card's bank refuses it.
    #[error("the card was declined")]
    CardDeclined,
    /// The payment provider cannot be reached, is busy, or failed: nobody knows yet whether it charged.
    #[error("the payment provider did not answer; repeat the request with the same key")]
    ProviderUnavailable,
    /// The payment provider does not understand us.
    #[error("the payment provider refused the request")]
    ProviderRefused,
    /// We are the payment provider, and play its failures too.
    #[error("the provider is out of order for a moment; repeat the request with the same key")]
    OutOfOrder,
    /// The run could not go on: it lost its lease, say, or its steps could not be recorded.
    #[error("{}", said(.0))]
    Idempotency(#[from] idempotent_runtime::Error),
    /// The database gave no connection.
    #[error("the database is not available; repeat the request")]
    Pool(#[from] PoolError),
    /// The database failed.
    #[error("the database failed; repeat the request")]
    Database(#[from] DatabaseError),
}

impl From<TransitionError> for Problem {
    fn from(error: TransitionError) -> Self {
        match error {
            TransitionError::NotFound { .. } => Self::NotFound,
            other => Self::Transition(other),
        }
    }
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::Body(rejection) => rejection.status(),
            Self::Form(rejection) => rejection.status(),
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::StateConflict { .. } => StatusCode::CONFLICT,
            Self::Transition(error) => error.status(),
            Self::CardDeclined => StatusCode::PAYMENT_REQUIRED,
            Self::ProviderUnavailable | Self::OutOfOrder | Self::Pool(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::ProviderRefused => StatusCode::BAD_GATEWAY,
            Self::Idempotency(error) => error.status(),
            Self::Database(error) if is_passing(error) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// A word for programs to switch on.
    fn kind(&self) -> &'static str {
        match self {
            Self::Body(_) | Self::Form(_) => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::StateConflict { .. } => "state_conflict",
            Self::Transition(error) => error.code(),
            Self::CardDeclined => "card_error",
            Self::ProviderUnavailable | Self::ProviderRefused => "provider_error",
            Self::Idempotency(_) => "idempotency_error",
            Self::OutOfOrder | Self::Pool(_) | Self::Database(_) => "api_error",
        }
    }

    /// How long to wait before the request is repeated, in seconds.
    fn retry_after(&self) -> Option<u128> {
        match self {
            Self::Idempotency(error) => error.retry_after().map(|wait| wait.as_millis().div_ceil(1_000).max(1)),
            problem => (problem.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(1),
        }
    }

    fn body(&self) -> Body<'_> {
        let (current, allowed) = match self {
            Self::StateConflict { current, allowed, .. }
            | Self::Transition(TransitionError::Conflict { actual: current, allowed, .. }) => {
                (Some(current.as_str()), Some(&**allowed))
            }
            _ => (None, None),
        };
        let code = match self {
            Self::CardDeclined => Some("card_declined"),
            Self::Idempotency(error) => Some(error.code()),
            _ => None,
        };
        Body { error: Said { kind: self.kind(), code, current, allowed, message: self.to_string() } }
    }
}

/// `{"error":{"type":…,"message":…}}`, in the form of the toolkit's own answers.
#[derive(Serialize)]
struct Body<'a> {
    error: Said<'a>,
}

#[derive(Serialize)]
struct Said<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a [&'static str]>,
    message: String,
}

/// What a caller is told of an error of the toolkit: our own mistakes are for the log.
fn said(error: &idempotent_runtime::Error) -> String {
    if error.status() == StatusCode::INTERNAL_SERVER_ERROR {
        return "the request could not be carried out; the service's log says why".into();
    }
    error.to_string()
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // What the caller is not told, the log is.
        match &self {
            Self::Transition(error) if error.status().is_server_error() => {
                tracing::error!(%error, "a transition failed");
            }
            Self::Pool(cause) => tracing::error!(%cause, "no connection to the database"),
            Self::Database(cause) => tracing::error!(%cause, "the database failed"),
            Self::Idempotency(error) => tracing::error!(%error, cause = error.source(), "a run could not go on"),
            _ => {}
        }
        let challenge = matches!(self, Self::Unauthorized).then_some([(WWW_AUTHENTICATE, "Bearer")]);
        let retry_after = self.retry_after().map(|seconds| [(RETRY_AFTER, seconds.to_string())]);
        (self.status(), challenge, retry_after, Json(self.body())).into_response()
    }
}
