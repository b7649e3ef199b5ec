//! The client: how it sends, retries and remembers.

use std::sync::Arc;

use http::header::HeaderName;
use reqwest::{IntoUrl, Method};
use reqwest_middleware::ClientWithMiddleware;

use super::call::Call;
use super::journal::Journal;
use super::retry_policy::RetryPolicy;

/// A client whose calls can be retried without being carried out twice. Cheap to clone.
///
/// ```
/// use std::time::Duration;
/// use idempotent_runtime::client::{IdempotentClient, RetryPolicy};
///
/// let client = IdempotentClient::new(reqwest::Client::new())
///     .retries(RetryPolicy::default().attempts(5).within(Duration::from_secs(20)));
/// # let _ = client;
/// ```
#[derive(Debug, Clone)]
pub struct IdempotentClient {
    pub(super) http: ClientWithMiddleware,
    pub(super) retries: RetryPolicy,
    pub(super) key_header: HeaderName,
    pub(super) key_form: KeyForm,
    pub(super) journal: Option<Arc<dyn Journal>>,
}

/// How a key is written into its header. Servers of this toolkit understand both forms, under the IETF profile the
/// quoted one only.
///
/// ```
/// use idempotent_runtime::client::{IdempotentClient, KeyForm};
///
/// let client = IdempotentClient::new(reqwest::Client::new()).key_form(KeyForm::Quoted);
/// # let _ = client;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// As it is: `8e03978e-…`.
    Bare,
    /// A string of RFC 9651, as draft-ietf-httpapi-idempotency-key-header-07 has it: `"8e03978e-…"`.
    Quoted,
}

impl KeyForm {
    pub(super) fn write(self, key: &str) -> String {
        match self {
            Self::Bare => key.to_owned(),
            Self::Quoted => format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }
}

impl IdempotentClient {
    /// A client over a [`reqwest::Client`], or over one with middlewares, which run in every attempt. None of them, nor
    /// the client itself, should retry on its own account, since that would take place inside an attempt; a redirect
    /// that is followed hides the answer of the call itself, so better follow none.
    ///
    /// ```
    /// # use idempotent_runtime::client::IdempotentClient;
    /// # fn build() -> reqwest::Result<()> {
    /// let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    /// let client = IdempotentClient::new(http);
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(http: impl Into<ClientWithMiddleware>) -> Self {
        Self {
            http: http.into(),
            retries: RetryPolicy::default(),
            key_header: HeaderName::from_static("idempotency-key"),
            key_form: KeyForm::Bare,
            journal: None,
        }
    }

    /// How often and for how long a call is tried.
    ///
    /// ```
    /// # use idempotent_runtime::client::{IdempotentClient, RetryPolicy};
    /// let once = IdempotentClient::new(reqwest::Client::new()).retries(RetryPolicy::default().attempts(1));
    /// # let _ = once;
    /// ```
    #[must_use]
    pub fn retries(self, policy: RetryPolicy) -> Self {
        Self { retries: policy, ..self }
    }

    /// Remembers the keys of calls that have an [id](Call::id).
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use idempotent_runtime::client::{FileJournal, IdempotentClient};
    /// # fn open() -> std::io::Result<()> {
    /// let journal = FileJournal::open("calls.jsonl", Duration::from_secs(30 * 24 * 3600))?;
    /// let client = IdempotentClient::new(reqwest::Client::new()).journal(journal);
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn journal(self, journal: impl Journal) -> Self {
        Self { journal: Some(Arc::new(journal)), ..self }
    }

    /// How a key is written; bare, unless said otherwise.
    ///
    /// ```
    /// # use idempotent_runtime::client::{IdempotentClient, KeyForm};
    /// let client = IdempotentClient::new(reqwest::Client::new()).key_form(KeyForm::Quoted);
    /// # let _ = client;
    /// ```
    #[must_use]
    pub fn key_form(self, form: KeyForm) -> Self {
        Self { key_form: form, ..self }
    }

    /// The header that carries the key; `Idempotency-Key`, unless said otherwise.
    ///
    /// ```
    /// # use idempotent_runtime::client::IdempotentClient;
    /// let header = http::HeaderName::from_static("x-request-id");
    /// let client = IdempotentClient::new(reqwest::Client::new()).key_header(header);
    /// # let _ = client;
    /// ```
    #[must_use]
    pub fn key_header(self, header: HeaderName) -> Self {
        Self { key_header: header, ..self }
    }

    /// A call by POST.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.post("https://shop.example/orders").json(&["book"]);
    /// # let _ = call;
    /// # }
    /// ```
    pub fn post(&self, url: impl IntoUrl) -> Call {
        self.request(Method::POST, url)
    }

    /// A call by PUT.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.put("https://shop.example/orders/1/item").json(&"lamp");
    /// # let _ = call;
    /// # }
    /// ```
    pub fn put(&self, url: impl IntoUrl) -> Call {
        self.request(Method::PUT, url)
    }

    /// A call by PATCH.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.patch("https://shop.example/orders/1").body("…");
    /// # let _ = call;
    /// # }
    /// ```
    pub fn patch(&self, url: impl IntoUrl) -> Call {
        self.request(Method::PATCH, url)
    }

    /// A call by DELETE.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.delete("https://shop.example/orders/1");
    /// # let _ = call;
    /// # }
    /// ```
    pub fn delete(&self, url: impl IntoUrl) -> Call {
        self.request(Method::DELETE, url)
    }

    /// A call by any method.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.request(reqwest::Method::POST, "https://shop.example/orders");
    /// # let _ = call;
    /// # }
    /// ```
    pub fn request(&self, method: Method, url: impl IntoUrl) -> Call {
        Call::new(self.clone(), self.http.request(method, url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_key_is_a_string_of_rfc_9651() {
        assert_eq!(KeyForm::Bare.write("a-key"), "a-key");
        assert_eq!(KeyForm::Quoted.write(r#"a "key" \"#), r#""a \"key\" \\""#);
    }
}
