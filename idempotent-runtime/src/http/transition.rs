//! What a transition that failed is answered with.

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::json;

use super::Response;
use crate::machine::TransitionError;

/// The answer of a transition that failed. The causes of our own faults are for the log.
pub(crate) fn refuse(error: &TransitionError) -> Response {
    let status = error.status();
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        tracing::error!(%error, "a transition failed");
    }
    let message = match status {
        StatusCode::INTERNAL_SERVER_ERROR => "the transition failed; the service's log says why".to_owned(),
        _ => error.to_string(),
    };
    let mut object = json!({ "type": error.code(), "message": message });
    if let TransitionError::Conflict { actual, allowed, passed, .. } = error {
        object["current"] = json!(actual);
        object["allowed"] = json!(allowed);
        if *passed {
            object["passed"] = json!(true);
        }
    }
    let mut response = Response::new(json!({ "error": object }).to_string().into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
