//! One request.

use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::answer::Answer;
use crate::program::Program;

/// A request of `alice`, unless said otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    method: Method,
    path: String,
    user: Option<String>,
    headers: Vec<(&'static str, String)>,
    body: Option<String>,
}

impl Ask {
    fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), user: Some("alice".into()), headers: Vec::new(), body: None }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path)
    }

    pub(crate) fn put(path: impl Into<String>) -> Self {
        Self::new(Method::PUT, path)
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// `POST /orders` for a book of 20.00 dollars.
    pub(crate) fn order() -> Self {
        Self::post("/orders").json(&json!({ "item": "book", "amount": 2000, "currency": "usd" }))
    }

    /// `POST /orders/{order}/pay` by a card.
    pub(crate) fn pay(order: i64, card: &str) -> Self {
        Self::post(format!("/orders/{order}/pay")).json(&json!({ "card": card }))
    }

    pub(crate) fn by(mut self, user: &str) -> Self {
        self.user = Some(user.into());
        self
    }

    pub(crate) fn by_nobody(mut self) -> Self {
        self.user = None;
        self
    }

    /// Adds a header line `Idempotency-Key`.
    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    /// Adds a header line.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.text(&body.to_string())
    }

    /// A body that is sent as JSON, whatever it is.
    pub(crate) fn text(self, body: &str) -> Self {
        self.header("Content-Type", "application/json").body(body)
    }

    /// The body of a form, as a browser writes it.
    pub(crate) fn form(self, fields: &str) -> Self {
        self.header("Content-Type", "application/x-www-form-urlencoded").body(fields)
    }

    fn body(mut self, body: &str) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) async fn send(self, to: &Program) -> Answer {
        self.try_send(to).await.expect("an answer")
    }

    /// Sends over a connection of its own; fails if the program goes away.
    pub(crate) async fn try_send(self, to: &Program) -> reqwest::Result<Answer> {
        let client = Client::builder().no_proxy().redirect(Policy::none()).build()?;
        let mut request = client.request(self.method, format!("{}{}", to.url(), self.path));
        if let Some(user) = self.user {
            request = request.bearer_auth(user);
        }
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = self.body {
            request = request.body(body);
        }
        Answer::read(request.send().await?).await
    }
}

pub(crate) fn new_key() -> String {
    Uuid::new_v4().to_string()
}

/// Creates an order of `alice`, and says its id.
pub(crate) async fn new_order(orders: &Program) -> i64 {
    let answer = Ask::order().key(&new_key()).send(orders).await.expect(201);
    answer.json()["id"].as_i64().expect("an id")
}

/// A list that a program answers with.
pub(crate) async fn list(path: &str, user: &str, from: &Program) -> Vec<Value> {
    let answer = Ask::get(path).by(user).send(from).await.expect(200);
    answer.json().as_array().expect("a list").clone()
}

/// How many charges the account `orders` has.
pub(crate) async fn charges_of_orders(charges: &Program) -> usize {
    list("/v1/charges", "orders", charges).await.len()
}

/// The status of an order of `alice`.
pub(crate) async fn status(order: i64, orders: &Program) -> String {
    let answer = Ask::get(format!("/orders/{order}")).send(orders).await.expect(200);
    answer.json()["status"].as_str().expect("a status").to_owned()
}
