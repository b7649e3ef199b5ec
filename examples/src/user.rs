//! Who is asking.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use crate::problem::Problem;

/// The caller, from `Authorization: Bearer NAME`. A demonstration of scoping, no authentication: whoever says a name
/// is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name; also the scope of the caller's idempotency keys.
    pub name: String,
}

impl User {
    /// Reads the caller from the headers of a request.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let authorization = headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, name) = authorization.split_once(' ')?;
        let name = name.trim();
        let named = scheme.eq_ignore_ascii_case("bearer") && !name.is_empty();
        named.then(|| Self { name: name.to_owned() })
    }

    /// The rule of the engines for whose key a request carries.
    #[must_use]
    pub fn scope(head: &Parts) -> Option<String> {
        Self::of(&head.headers).map(|user| user.name)
    }
}

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::of(&head.headers).ok_or(Problem::Unauthorized)
    }
}
