//! Who is ordering.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use examples::problem::Problem;
use examples::user::User;
use uuid::Uuid;

use crate::cookie;

const COOKIE: &str = "visitor";
const A_YEAR: u32 = 365 * 24 * 3600;

/// Whoever has the cookie that came with the first page, or a tool that says `Authorization: Bearer NAME`. A
/// demonstration of scoping, no authentication: whoever says a name is believed.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    /// The name; also the scope of the visitor's tokens.
    pub(crate) name: String,
}

impl Visitor {
    /// Somebody who was never here, and the header by which a browser will be known again.
    pub(crate) fn new() -> (Self, Option<(HeaderName, HeaderValue)>) {
        let id = Uuid::new_v4();
        (Self::with(id), cookie::set(COOKIE, &id.to_string(), A_YEAR))
    }

    fn with(id: Uuid) -> Self {
        Self { name: format!("visitor-{id}") }
    }

    fn of(headers: &HeaderMap) -> Option<Self> {
        match User::of(headers) {
            Some(User { name }) => Some(Self { name }),
            None => cookie::read(headers, COOKIE).map(Self::with),
        }
    }

    /// The engine's rule for whose token a request carries.
    pub(crate) fn scope(head: &Parts) -> Option<String> {
        Self::of(&head.headers).map(|visitor| visitor.name)
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::of(&head.headers).ok_or(Problem::Unauthorized)
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Option<Self>, Problem> {
        Ok(Self::of(&head.headers))
    }
}
