//! What a transition is answered with.

use actix_web::body::{BoxBody, EitherBody};
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, Responder, ResponseError, web};

use super::convert::ours;
use crate::deleted::Deleted;
use crate::http::transition;
use crate::machine::{RowId, RowName, Transition, TransitionError};

impl Responder for Deleted {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::new(StatusCode::from_u16(self.status().as_u16()).unwrap_or_default())
    }
}

/// What the function answers with; 204 No Content if there was nothing left to do. A handler that has something to show
/// in both cases matches on the transition instead.
impl<T: Responder> Responder for Transition<T> {
    type Body = EitherBody<T::Body>;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse<Self::Body> {
        match self {
            Self::Applied(value) => value.respond_to(request).map_into_left_body(),
            Self::AlreadyApplied => HttpResponse::new(StatusCode::NO_CONTENT).map_into_right_body(),
        }
    }
}

/// 409 with `current` and `allowed` for a conflict, 404 for a row that is not there, 409 for a version that is over, 503
/// with `Retry-After` for what succeeds when it is run again, and 500 for what is broken.
impl ResponseError for TransitionError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status().as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        ours(transition::refuse(self))
    }
}

/// As that of the error in a `Result`.
impl Responder for TransitionError {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::from_error(self)
    }
}

/// `#[id] order: web::Path<i64>`: unlike that of axum, a pattern cannot take it apart.
impl<ST, T: RowId<ST>> RowId<ST> for web::Path<T> {
    fn row_name(&self) -> RowName {
        T::row_name(self)
    }
}
