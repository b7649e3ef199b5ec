//! What a transition is answered with.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::deleted::Deleted;
use crate::http::transition;
use crate::machine::{Transition, TransitionError};

impl IntoResponse for Deleted {
    fn into_response(self) -> Response {
        self.status().into_response()
    }
}

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
        transition::refuse(&self).map(Body::from)
    }
}
