//! Pages in a browser, and what they may send and read (<https://fetch.spec.whatwg.org/#http-cors-protocol>).
//!
//! A browser asks beforehand whether a page may send a header such as `Idempotency-Key`, and hides from the page every
//! header of the answer that is not exposed: without the marker it could not tell a replay, without `Retry-After` it
//! would not know when to come back.

use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use axum::http::{Method, Uri};
use tower_http::cors::CorsLayer;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TOKEN: HeaderName = HeaderName::from_static("idempotency-token");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Lets the pages of one origin send keys, and read what is answered to them. Put it around everything else, so that
/// refusals can be read too, and replays get the headers that this layer adds.
pub fn layer(origin: HeaderValue) -> CorsLayer {
    CorsLayer::new()
        .allow_origin([origin])
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE, KEY, TOKEN])
        .expose_headers([REPLAYED, KEY, RETRY_AFTER, LOCATION])
        .max_age(Duration::from_secs(3600))
}

/// Reads an origin as a browser sends it: a scheme, a host, a port if it is not the usual one, and nothing else.
pub(crate) fn origin(text: &str) -> Option<HeaderValue> {
    let uri: Uri = text.parse().ok()?;
    let origin = format!("{}://{}", uri.scheme_str()?, uri.authority()?);
    (origin == text && !origin.contains('@')).then_some(HeaderValue::from_str(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        for good in ["https://shop.example", "http://localhost:5173", "http://[::1]:80"] {
            assert_eq!(origin(good).expect(good), good);
        }
        let path = ["https://shop.example/", "https://shop.example/path", "https://shop.example?"];
        for bad in
            path.into_iter().chain(["*", "null", "shop.example", "https://me@shop.example", "https://a, https://b"])
        {
            assert_eq!(origin(bad), None, "{bad}");
        }
    }
}
