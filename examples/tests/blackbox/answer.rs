//! What a program answered.

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn read(response: reqwest::Response) -> reqwest::Result<Self> {
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Self { status, headers, body: response.text().await? })
    }

    /// The answer itself, if its status is the one that is expected.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a header in ASCII"))
    }

    pub(crate) fn is_replayed(&self) -> bool {
        self.header("Idempotent-Replayed") == Some("true")
    }

    /// The answer itself, if it is a replay.
    #[track_caller]
    pub(crate) fn replayed(self) -> Self {
        assert!(self.is_replayed(), "{self:?}");
        self
    }

    /// The answer itself, if it is none.
    #[track_caller]
    pub(crate) fn fresh(self) -> Self {
        assert!(!self.is_replayed(), "{self:?}");
        self
    }

    /// `error.code` of the body.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Whether the first request with this key still runs.
    pub(crate) fn is_in_use(&self) -> bool {
        self.status == StatusCode::CONFLICT && self.code() == "idempotency_key_in_use"
    }

    /// `error.current` of the body, if it says that the order's state does not permit the request.
    #[track_caller]
    pub(crate) fn conflicting_state(self) -> String {
        let answer = self.expect(409);
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "state_conflict", "{answer:?}");
        error["current"].as_str().expect("a state").to_owned()
    }

    /// How long to wait, in seconds.
    #[track_caller]
    pub(crate) fn retry_after(&self) -> u64 {
        self.header("Retry-After").and_then(|seconds| seconds.parse().ok()).unwrap_or_else(|| panic!("{self:?}"))
    }
}
