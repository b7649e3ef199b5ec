//! What a transition is answered with.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::json;

use crate::machine::{Transition, TransitionError};

/// What the function answers with; 204 No Content if there was nothing left to do. A handler that has something to show
/// in both cases matches on the transition instead.
impl<T: IntoResponse> IntoResponse for Transition<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Applied(value) => value.into_response(),
            Self::AlreadyApplied => StatusCode::NO_CONTENT.into_response(),
        }
    }
}

/// 409 with `current` and `allowed` for a conflict, 404 for a row that is not there, 409 for a version that is over, 503
/// with `Retry-After` for what succeeds when it is run again, and 500 for what is broken.
impl IntoResponse for TransitionError {
    fn into_response(self) -> Response {
        let status = self.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "a transition failed");
        }
        let message = match status {
            StatusCode::INTERNAL_SERVER_ERROR => "the transition failed; the service's log says why".to_owned(),
            _ => self.to_string(),
        };
        let mut error = json!({ "type": self.code(), "message": message });
        if let Self::Conflict { actual, allowed, passed, .. } = &self {
            error["current"] = json!(actual);
            error["allowed"] = json!(allowed);
            if *passed {
                error["passed"] = json!(true);
            }
        }
        let mut response = {
            let body = json!({ "error": error }).to_string();
            (status, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
        };
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
