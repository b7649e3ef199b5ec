//! One logical call: a request under one key, repeated until it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A call that has no answer by then has none: its key is stuck.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long one try may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The longest rest between two tries, whatever `Retry-After` says, and the one after a broken connection. Each failure of
/// the provider is an attempt, of which a key has ten: the rest must give the provider time to start.
const LONG_REST: Duration = Duration::from_millis(500);
const SHORT_REST: Duration = Duration::from_millis(20);
/// How many of the last failures of a call are told.
const TOLD: usize = 12;

/// A request that changes something.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) user: String,
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) body: Value,
}

/// What is the same in every answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Why a call has no answer.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// It was repeated to no end.
    Stuck(String),
    /// It was answered with what must not happen.
    Unexpected(String),
}

/// Sends requests to both programs, and counts them.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    client: reqwest::Client,
    orders: Arc<str>,
    charges: Arc<str>,
    tries: Arc<AtomicU64>,
}

impl Caller {
    pub(crate) fn new(orders: &str, charges: &str) -> Self {
        let client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build().expect("a client");
        Self { client, orders: orders.into(), charges: charges.into(), tries: Arc::default() }
    }

    /// How often a call was tried so far.
    pub(crate) fn tries(&self) -> u64 {
        self.tries.load(Ordering::Relaxed)
    }

    /// Repeats a call of `orders` until it is answered. True: the answer says that it is a repeated one.
    pub(crate) async fn call(&self, call: &Call) -> Result<(Answer, bool), Fault> {
        let Call { user, path, key, body } = call;
        let request = self.client.post(format!("{}{path}", self.orders));
        let request = request.bearer_auth(user).header("Idempotency-Key", key).json(body);
        let (status, headers, body) = self.repeat(request, &format!("{path} with the key {key}")).await?;
        let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
        let is_replayed = header("Idempotent-Replayed").as_deref() == Some("true");
        Ok((Answer { status: status.as_u16(), location: header("Location"), body }, is_replayed))
    }

    /// The orders of a user.
    pub(crate) async fn orders(&self, user: &str) -> Result<Vec<Value>, Fault> {
        self.list(&format!("{}/orders", self.orders), user).await
    }

    /// The charges of the account `orders`.
    pub(crate) async fn charges(&self) -> Result<Vec<Value>, Fault> {
        self.list(&format!("{}/v1/charges", self.charges), "orders").await
    }

    async fn list(&self, url: &str, user: &str) -> Result<Vec<Value>, Fault> {
        let what = format!("{url} of {user}");
        let (status, _, body) = self.repeat(self.client.get(url).bearer_auth(user), &what).await?;
        let list = serde_json::from_str(&body).ok().filter(|_| status == StatusCode::OK);
        list.ok_or_else(|| Fault::Unexpected(format!("{what}: {status} {body}")))
    }

    async fn repeat(
        &self,
        request: reqwest::RequestBuilder,
        what: &str,
    ) -> Result<(StatusCode, HeaderMap, String), Fault> {
        let begun = Instant::now();
        let mut failures = Vec::new();
        loop {
            self.tries.fetch_add(1, Ordering::Relaxed);
            let again = request.try_clone().expect("a request without a stream");
            let rest = match send(again).await {
                Ok((status, headers, body)) => {
                    if !is_passing(status, &body) {
                        return expected(status, &headers, body, what);
                    }
                    failures.push(format!("after {:?}: {status} {body}", begun.elapsed()));
                    let seconds = headers.get("Retry-After").and_then(|value| value.to_str().ok()?.parse().ok());
                    Duration::from_secs(seconds.unwrap_or(0)).clamp(SHORT_REST, LONG_REST)
                }
                Err(error) => {
                    failures.push(format!("after {:?}: {error:?}", begun.elapsed()));
                    SHORT_REST
                }
            };
            if begun.elapsed() > PATIENCE {
                let last = failures.split_off(failures.len().saturating_sub(TOLD)).join("\n  ");
                return Err(Fault::Stuck(format!("stuck: {what} has no answer after {PATIENCE:?}\n  {last}")));
            }
            tokio::time::sleep(rest).await;
        }
    }
}

async fn send(request: reqwest::RequestBuilder) -> reqwest::Result<(StatusCode, HeaderMap, String)> {
    let response = request.send().await?;
    let (status, headers) = (response.status(), response.headers().clone());
    Ok((status, headers, response.text().await?))
}

/// Whether the same request may be answered later.
fn is_passing(status: StatusCode, body: &str) -> bool {
    let is_in_use = || {
        let body = serde_json::from_str::<Value>(body).unwrap_or_default();
        body["error"]["code"] == "idempotency_key_in_use"
    };
    match status {
        StatusCode::INTERNAL_SERVER_ERROR | StatusCode::SERVICE_UNAVAILABLE => true,
        StatusCode::CONFLICT => is_in_use(),
        _ => false,
    }
}

fn expected(
    status: StatusCode,
    headers: &HeaderMap,
    body: String,
    what: &str,
) -> Result<(StatusCode, HeaderMap, String), Fault> {
    match status.is_success() || status == StatusCode::PAYMENT_REQUIRED {
        true => Ok((status, headers.clone(), body)),
        false => Err(Fault::Unexpected(format!("unexpected: {what} is answered with {status} {body}"))),
    }
}
