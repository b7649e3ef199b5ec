//! The key that the caller sent, for handlers that must know it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use idempotent_runtime::{Key, KeyPolicy};

/// The caller's `Idempotency-Key`, without the quotes it may have come in. Empty where there is none that can be read:
/// such a request is refused after the extractors, and its handler does not run.
#[derive(Debug)]
pub(crate) struct CallerKey(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for CallerKey {
    type Rejection = Infallible;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let header = head.headers.get("idempotency-key");
        let key = header.and_then(|value| Key::from_header(value, &KeyPolicy::default()).ok());
        Ok(Self(key.map(|key| key.as_str().to_owned()).unwrap_or_default()))
    }
}
