//! Whether an answer was new. The answer that is stored is the same each time: only the header that comes with it,
//! `Idempotent-Replayed`, tells. The browser follows the redirect without showing it to anybody, so that it is taken
//! along in a cookie, and shown by the next page: once.

use std::str::FromStr;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use crate::cookie;

const COOKIE: &str = "outcome";
const A_MINUTE: u32 = 60;

/// What became of a request with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was carried out.
    New,
    /// It had been carried out before.
    Replayed,
}

/// A layer for handlers that take a token: writes down with each answer whether it is new.
pub(crate) async fn mark(request: Request, next: Next) -> Response {
    let mut answer = next.run(request).await;
    let is_replayed = answer.headers().contains_key("idempotent-replayed");
    answer.extensions_mut().insert(if is_replayed { Outcome::Replayed } else { Outcome::New });
    answer
}

impl Outcome {
    /// A word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Replayed => "replayed",
        }
    }

    /// The header that tells the page of this order.
    pub(crate) fn tell(self, order: i64) -> Option<(HeaderName, HeaderValue)> {
        cookie::set(COOKIE, &format!("{}-{order}", self.word()), A_MINUTE)
    }

    /// What the page of this order is told.
    pub(crate) fn told(headers: &HeaderMap, order: i64) -> Option<Self> {
        let Told { outcome, order: of } = cookie::read(headers, COOKIE)?;
        (of == order).then_some(outcome)
    }

    /// The header that has it forgotten.
    pub(crate) fn forget() -> Option<(HeaderName, HeaderValue)> {
        cookie::set(COOKIE, "", 0)
    }
}

/// `new-3`, `replayed-3`
struct Told {
    outcome: Outcome,
    order: i64,
}

impl FromStr for Told {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (word, order) = text.split_once('-').ok_or(())?;
        let outcome = [Outcome::New, Outcome::Replayed].into_iter().find(|outcome| outcome.word() == word).ok_or(())?;
        Ok(Self { outcome, order: order.parse().map_err(drop)? })
    }
}
