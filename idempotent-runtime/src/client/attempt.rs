//! One attempt, to the last byte of its answer.

use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderMap;
use http::{Extensions, StatusCode, Version};
use reqwest::{Request, Response, ResponseBuilderExt as _, Url};
use reqwest_middleware::ClientWithMiddleware;

use super::outcome::LastAttempt;

/// An answer, read to its end: an answer whose connection breaks half way is none.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    version: Version,
    url: Url,
    extensions: Extensions,
}

impl Received {
    async fn read(mut response: Response) -> reqwest::Result<Self> {
        Ok(Self {
            status: response.status(),
            version: response.version(),
            url: response.url().clone(),
            headers: std::mem::take(response.headers_mut()),
            extensions: std::mem::take(response.extensions_mut()),
            body: response.bytes().await?,
        })
    }

    /// The response as it came, for the caller to read.
    pub(super) fn into_response(self) -> Response {
        let Self { status, headers, body, version, url, extensions } = self;
        // A URL cannot make the builder fail.
        let mut response = http::Response::builder().url(url).body(()).unwrap_or_default().map(|()| body);
        *response.status_mut() = status;
        *response.version_mut() = version;
        *response.headers_mut() = headers;
        response.extensions_mut().extend(extensions);
        response.into()
    }
}

/// Sends a request, and reads what is answered; or says what came instead of an answer.
pub(super) async fn send(
    http: &ClientWithMiddleware,
    request: Request,
    within: Duration,
) -> Result<Received, LastAttempt> {
    let exchange = async { Ok(Received::read(http.execute(request).await?).await?) };
    match tokio::time::timeout(within, exchange).await {
        Ok(received) => received.map_err(LastAttempt::Failed),
        Err(_) => Err(LastAttempt::TimedOut),
    }
}
