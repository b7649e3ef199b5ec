//! Whole calls, against a server that answers as it is told.

mod answers;
mod connections;
mod journals;
mod keys;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Request, Response};
use reqwest_middleware::{ClientBuilder, Next};
use tokio::time::Instant;

use super::*;

const ORDERS: &str = "http://shop.example/orders";

/// An answer that is given.
#[derive(Clone, Copy)]
struct Given {
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
}

const fn given(status: u16) -> Given {
    Given { status, headers: &[], body: "" }
}

const CREATED: Given = Given { body: "order 1", ..given(201) };
const REPLAY: Given = Given { headers: &[("Idempotent-Replayed", "true")], ..CREATED };
/// A server in place of a network: gives its answers one after the other, the last one for ever, and keeps what it is
/// sent. Time can stand still around it.
#[derive(Clone, Default)]
struct Server {
    answers: Arc<Mutex<VecDeque<Given>>>,
    seen: Arc<Mutex<Vec<(Instant, Request)>>>,
}

impl Server {
    fn that_answers(answers: impl IntoIterator<Item = Given>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), ..Self::default() }
    }

    fn client(&self) -> IdempotentClient {
        let server = self.clone();
        let answer = move |request: Request, _: &mut http::Extensions, _: Next<'_>| server.answer(request);
        IdempotentClient::new(ClientBuilder::new(reqwest::Client::new()).with(boxed(answer)).build())
    }

    fn answer(&self, request: Request) -> Response {
        self.seen.lock().unwrap().push((Instant::now(), request));
        let mut answers = self.answers.lock().unwrap();
        let Given { status, headers, body } = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0] };
        let mut response = http::Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        response.body(body).unwrap().into()
    }

    /// The key of each attempt.
    fn keys(&self) -> Vec<String> {
        let key = |(_, request): &(_, Request)| request.headers()["idempotency-key"].to_str().unwrap().to_owned();
        self.seen.lock().unwrap().iter().map(key).collect()
    }

    /// How long after the one before each attempt came.
    fn pauses(&self) -> Vec<Duration> {
        let seen = self.seen.lock().unwrap();
        seen.windows(2).map(|two| two[1].0 - two[0].0).collect()
    }
}

/// A middleware of a function that answers by itself.
fn boxed(
    answer: impl Fn(Request, &mut http::Extensions, Next<'_>) -> Response + Send + Sync + 'static,
) -> impl reqwest_middleware::Middleware {
    typed(move |request, extensions, next| {
        let response = answer(request, extensions, next);
        Box::pin(async { Ok(response) })
    })
}

/// Tells the compiler for which lifetimes a function is a middleware.
fn typed<F>(function: F) -> F
where
    F: for<'a> Fn(
            Request,
            &'a mut http::Extensions,
            Next<'a>,
        ) -> futures_util::future::BoxFuture<'a, reqwest_middleware::Result<Response>>
        + Send
        + Sync
        + 'static,
{
    function
}

async fn unknown(call: Call) -> Unknown {
    match call.send().await.unwrap() {
        Outcome::Unknown(unknown) => unknown,
        known => panic!("{known:?}"),
    }
}

async fn new(call: Call) -> Response {
    match call.send().await.unwrap() {
        Outcome::New(response) => response,
        other => panic!("{other:?}"),
    }
}

async fn replayed(call: Call) -> Response {
    match call.send().await.unwrap() {
        Outcome::Replayed(response) => response,
        other => panic!("{other:?}"),
    }
}
