//! One logical call: one key, and as many attempts as it takes.

use std::fmt;

use http::header::{HeaderName, HeaderValue};
use reqwest::Body;
use reqwest_middleware::RequestBuilder;
use serde::Serialize;

use super::error::CallError;
use super::idempotent_client::IdempotentClient;
use super::name::Name;
use super::outcome::Outcome;

/// One logical call, which [`send`](Self::send) makes in as many attempts as it takes.
///
/// ```
/// # async fn order(client: idempotent_runtime::client::IdempotentClient) -> Result<(), Box<dyn std::error::Error>> {
/// let call = client.post("https://shop.example/orders").bearer_auth("…").json(&["book"]);
/// let response = call.send().await?.answer()?;
/// # let _ = response;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is made by `.send().await`"]
pub struct Call {
    client: IdempotentClient,
    request: RequestBuilder,
    key: Option<String>,
    id: Option<String>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, request: _, key, id } = self;
        f.debug_struct("Call").field("client", client).field("key", key).field("id", id).finish_non_exhaustive()
    }
}

impl Call {
    pub(super) fn new(client: IdempotentClient, request: RequestBuilder) -> Self {
        Self { client, request, key: None, id: None }
    }

    /// Sends this key in place of a new one: to go on with a call that was begun before, or where the key comes from
    /// whoever asked you.
    ///
    /// ```
    /// # async fn again(client: idempotent_runtime::client::IdempotentClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let call = client.post("https://shop.example/orders").json(&["book"]);
    /// let outcome = call.key("8e03978e-40d5-43e8-bc93-6894a57f9324").send().await?;
    /// # let _ = outcome;
    /// # Ok(())
    /// # }
    /// ```
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// Names the call for the client's [`Journal`](super::Journal), such as `invoice 42`. Its key is written down before
    /// the first attempt; a later call under this id goes out under the same key, also in another process, so that it is
    /// answered with a replay for as long as the server keeps the answer. Another request (method, path, query or body) needs
    /// another id.
    ///
    /// ```
    /// # async fn charge(client: idempotent_runtime::client::IdempotentClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let call = client.post("https://pay.example/charges").json(&42);
    /// let outcome = call.id("invoice 42").send().await?;
    /// # let _ = outcome;
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Adds a header. One that carries a key is kept, as with [`key`](Self::key).
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.post("https://shop.example/orders").header("Accept", "application/json");
    /// # let _ = call;
    /// # }
    /// ```
    pub fn header<N, V>(self, name: N, value: V) -> Self
    where
        HeaderName: TryFrom<N>,
        <HeaderName as TryFrom<N>>::Error: Into<http::Error>,
        HeaderValue: TryFrom<V>,
        <HeaderValue as TryFrom<V>>::Error: Into<http::Error>,
    {
        self.with(|request| request.header(name, value))
    }

    /// Says who is calling.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.post("https://shop.example/orders").bearer_auth("alice");
    /// # let _ = call;
    /// # }
    /// ```
    pub fn bearer_auth(self, token: impl fmt::Display) -> Self {
        self.with(|request| request.bearer_auth(token))
    }

    /// Sets the body, as JSON. It is serialised once, and the same in every attempt.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.post("https://shop.example/orders").json(&["book"]);
    /// # let _ = call;
    /// # }
    /// ```
    pub fn json<T: Serialize + ?Sized>(self, body: &T) -> Self {
        self.with(|request| request.json(body))
    }

    /// Sets the body. A stream cannot be sent again, and is refused.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.post("https://shop.example/orders").body("book");
    /// # let _ = call;
    /// # }
    /// ```
    pub fn body(self, body: impl Into<Body>) -> Self {
        self.with(|request| request.body(body))
    }

    /// Whatever else the builder of a request can do.
    ///
    /// ```
    /// # fn call(client: &idempotent_runtime::client::IdempotentClient) {
    /// let call = client.post("https://shop.example/orders").with(|request| request.basic_auth("alice", Some("…")));
    /// # let _ = call;
    /// # }
    /// ```
    pub fn with(self, build: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Self {
        let Self { client, request, key, id } = self;
        Self { client, request: build(request), key, id }
    }

    /// Makes the call: attempt after attempt under one key, until there is an answer that settles it, or until attempts or
    /// time are used up. The answer is read to its end, since one that breaks off is no answer.
    ///
    /// A call that is dropped half way is an unknown one whose key, without a journal, is lost.
    ///
    /// ```
    /// # async fn order(client: idempotent_runtime::client::IdempotentClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let outcome = client.post("https://shop.example/orders").body("book").send().await?;
    /// # let _ = outcome;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn send(self) -> Result<Outcome, CallError> {
        let Self { client, request, key, id } = self;
        let mut request = request.build().map_err(|error| CallError::Request(error.into()))?;
        let name = Name::of(&client, &request, key, id.as_deref()).await?;
        name.write(&client, &mut request)?;
        let outcome = client.try_until_settled(name, &request).await?;
        if let (Some(id), Some(journal), Outcome::New(_) | Outcome::Replayed(_)) = (&id, &client.journal, &outcome) {
            // The answer is worth more than the line: without it the next call under this id is a replay.
            if let Err(error) = journal.finish(id).await {
                tracing::warn!(%error, id, "a call has its answer, but the journal could not be told");
            }
        }
        Ok(outcome)
    }
}
