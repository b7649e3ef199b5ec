//! The answer of whoever is asked for a one-time token.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::json;

use super::answers::refuse;
use crate::engine::Inner;
use crate::error::Error;

/// 201 with a fresh token for the caller of a request, by the engine's rule.
pub(crate) async fn issue<C: Send + 'static>(
    engine: &Inner<C>,
    head: &Parts,
    operation: &str,
    ttl: Duration,
) -> Response<Bytes> {
    let issued = async {
        let scope = engine.settings.scope.resolve(head).ok_or(Error::ScopeMissing)?;
        engine.issue(&scope, operation, ttl).await
    };
    match issued.await {
        Ok(token) => {
            let body = json!({ "token": token.as_str(), "expires_in": ttl.as_secs() }).to_string();
            let mut response = Response::new(Bytes::from(body));
            *response.status_mut() = StatusCode::CREATED;
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            // Each is for one use: no cache may give it out again.
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(error) => refuse(&error, &engine.settings.form),
    }
}
