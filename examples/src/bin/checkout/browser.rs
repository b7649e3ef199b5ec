//! What a browser gets for an answer: after what went well a redirect to the page of the order, so that reloading sends
//! nothing again (POST, redirect, GET); for a refusal a page.
//!
//! It is made of the handler's answer outside of `#[idempotent]`. What is stored is the same for a browser and for a tool.

use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Query, Request};
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::outcome::Outcome;
use crate::page;

/// How much longer an answer takes over the slow network.
const SLOW: Duration = Duration::from_secs(2);
/// No answer of ours is longer.
const LIMIT: usize = 1 << 20;

/// What the address of the page asks for. What makes no sense asks for nothing.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct View {
    order: Option<String>,
    network: Option<String>,
}

impl View {
    pub(crate) fn of(uri: &Uri) -> Self {
        Query::try_from_uri(uri).map(|Query(view)| view).unwrap_or_default()
    }

    /// The order to show.
    pub(crate) fn order(&self) -> Option<i64> {
        self.order.as_ref()?.parse().ok()
    }

    /// Whether answers are to take their time.
    pub(crate) fn is_slow(&self) -> bool {
        self.network.as_deref() == Some("slow")
    }
}

/// A layer that answers browsers in their way, and leaves everybody else's answers alone.
pub(crate) async fn answer(request: Request, next: Next) -> Response {
    let (is_browser, is_slow) = (is_browser(request.headers()), View::of(request.uri()).is_slow());
    let answer = next.run(request).await;
    if is_browser && !is_page(&answer) { for_browser(answer, is_slow).await } else { answer }
}

/// A layer that plays a slow network, for forms that ask for it: the request has been carried out and its answer is
/// stored, but whoever waits for it does not know yet.
pub(crate) async fn slow_down(request: Request, next: Next) -> Response {
    let is_slow = View::of(request.uri()).is_slow();
    let answer = next.run(request).await;
    if is_slow {
        tokio::time::sleep(SLOW).await;
    }
    answer
}

/// Who asks for HTML is a browser. Who sends a form, and does not ask for JSON, is treated like one.
fn is_browser(headers: &HeaderMap) -> bool {
    let says = |name, what| headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|it| it.contains(what));
    says(ACCEPT, "text/html")
        || says(CONTENT_TYPE, "application/x-www-form-urlencoded") && !says(ACCEPT, "application/json")
}

fn is_page(answer: &Response) -> bool {
    answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

async fn for_browser(answer: Response, is_slow: bool) -> Response {
    let (mut head, body) = answer.into_parts();
    // The answers of handlers are in memory already: it is only their type that would permit a failure.
    let body = to_bytes(body, LIMIT).await.unwrap_or_default();
    let answer = match head.status.is_success() {
        true => see_order(head.extensions.get().copied(), &body, is_slow),
        false => Refusal::page(head.status, &body),
    };
    for replaced in [CONTENT_LENGTH, CONTENT_TYPE, LOCATION] {
        head.headers.remove(replaced);
    }
    // With what the engine says of it, such as `Idempotent-Replayed`.
    (AppendHeaders(head.headers.into_iter().filter_map(|(name, value)| Some((name?, value)))), answer).into_response()
}

/// The redirect to the page of the order that an answer holds, which takes along what the page is to say of it.
fn see_order(outcome: Option<Outcome>, body: &Bytes, is_slow: bool) -> Response {
    #[derive(Deserialize)]
    struct Order {
        id: i64,
    }
    let Ok(Order { id }) = serde_json::from_slice(body) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let slow = if is_slow { "&network=slow" } else { "" };
    let cookie = outcome.and_then(|outcome| outcome.tell(id));
    (AppendHeaders(cookie), Redirect::to(&format!("/?order={id}{slow}"))).into_response()
}

/// What a refusal says.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    error: Said,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    code: String,
    message: String,
}

impl Refusal {
    /// The page that says so.
    fn page(status: StatusCode, body: &Bytes) -> Response {
        let Self { error: Said { code, message } } = serde_json::from_slice(body).unwrap_or_default();
        page::refusal(status, &code, &message)
    }
}
