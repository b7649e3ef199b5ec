//! What can go wrong with a request, and the answer that says so.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::http::header::{HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use diesel::result::{DatabaseErrorKind, Error as DatabaseError};
use diesel_async::pooled_connection::deadpool::PoolError;
use serde::Serialize;

/// A request that was not carried out.
///
/// Answers below 500 are kept with the request's key and given again, except 401, 403, 408, 409, 425 and 429. An answer
/// of 500 or more gives the key back: a repeat runs again.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The body is no JSON, or no JSON that is expected here; axum's own answer says where.
    #[error(transparent)]
    Body(#[from] JsonRejection),
    /// Nobody said who is asking.
    #[error("say who you are: `Authorization: Bearer NAME`")]
    Unauthorized,
    /// There is no such thing, or it is somebody else's.
    #[error("there is no such order")]
    NotFound,
    /// The state machine has no way from where the order is.
    #[error("{message}")]
    StateConflict {
        /// The state that the order is in.
        current: &'static str,
        /// The events that are possible there.
        allowed: Vec<&'static str>,
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
    /// The database gave no connection.
    #[error("the database is not available; repeat the request")]
    Pool(#[from] PoolError),
    /// The database failed.
    #[error("the database failed; repeat the request")]
    Database(#[from] DatabaseError),
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::Body(rejection) => rejection.status(),
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::StateConflict { .. } => StatusCode::CONFLICT,
            Self::CardDeclined => StatusCode::PAYMENT_REQUIRED,
            Self::ProviderUnavailable | Self::OutOfOrder | Self::Pool(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::ProviderRefused => StatusCode::BAD_GATEWAY,
            Self::Database(error) if is_passing(error) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// A word for programs to switch on.
    fn kind(&self) -> &'static str {
        match self {
            Self::Body(_) => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::StateConflict { .. } => "state_conflict",
            Self::CardDeclined => "card_error",
            Self::ProviderUnavailable | Self::ProviderRefused => "provider_error",
            Self::OutOfOrder | Self::Pool(_) | Self::Database(_) => "api_error",
        }
    }

    fn body(&self) -> Body<'_> {
        let (current, allowed) = match self {
            Self::StateConflict { current, allowed, .. } => (Some(*current), Some(&**allowed)),
            _ => (None, None),
        };
        let code = matches!(self, Self::CardDeclined).then_some("card_declined");
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
    current: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a [&'static str]>,
    message: String,
}

/// Whether the same statement may succeed later.
fn is_passing(error: &DatabaseError) -> bool {
    use DatabaseErrorKind::{ClosedConnection, SerializationFailure, UnableToSendCommand};
    match error {
        DatabaseError::DatabaseError(ClosedConnection | SerializationFailure | UnableToSendCommand, _)
        | DatabaseError::BrokenTransactionManager => true,
        DatabaseError::DatabaseError(_, info) => info.message().contains("database is locked"),
        _ => false,
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // What the caller is not told, the log is.
        match &self {
            Self::Pool(cause) => tracing::error!(%cause, "no connection to the database"),
            Self::Database(cause) => tracing::error!(%cause, "the database failed"),
            _ => {}
        }
        let status = self.status();
        let header: Option<(HeaderName, &str)> = match status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, "1")),
            _ => None,
        };
        (status, header.map(|header| [header]), Json(self.body())).into_response()
    }
}
