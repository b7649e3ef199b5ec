//! The other side: a client that may repeat itself.
//!
//! A client that draws a new key for every attempt is the commonest cause of duplicates, and no server can tell.
//! [`IdempotentClient`] draws one for each logical call, sends it with every attempt, and retries what may pass: lost
//! connections and timeouts, 408, 425, 429, 5xx, and a 409 that says that the key is in use. It tells the caller whether
//! the answer is [new](Outcome::New), [replayed](Outcome::Replayed), or [not known](Outcome::Unknown).
//!
//! ```
//! use idempotent_runtime::client::{IdempotentClient, Outcome};
//!
//! # async fn order() -> Result<(), Box<dyn std::error::Error>> {
//! let client = IdempotentClient::new(reqwest::Client::new());
//! match client.post("https://shop.example/orders").bearer_auth("…").json(&["book"]).send().await? {
//!     Outcome::New(response) | Outcome::Replayed(response) => println!("{}", response.status()),
//!     Outcome::Unknown(unknown) => println!("{unknown}"), // repeat it later under `unknown.key`
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | the attempt ends with | then |
//! |---|---|
//! | an answer with `Idempotent-Replayed: true`, of any status | [`Replayed`](Outcome::Replayed) |
//! | no connection, a broken one, a timeout, half an answer | tried again |
//! | 408, 425, 429, 5xx, 409 with `idempotency_key_in_use` or `"retryable": true` | tried again, after `Retry-After` if there is one |
//! | 409 or 422 with `idempotency_key_reused` | [`CallError::Reused`] |
//! | 409 with `idempotency_outcome_unknown` | [`Unknown`], [`Doubt::Held`] |
//! | 409 with `idempotency_response_not_stored` | [`Unknown`], [`Doubt::CarriedOut`] |
//! | 401 or 403, when an earlier attempt may have reached the server | [`Unknown`]: it says nothing of that one |
//! | any other answer | [`New`](Outcome::New) |
//! | attempts or time used up | [`Unknown`], [`Doubt::NoAnswer`] |
//!
//! Refusals are understood in both profiles of this toolkit, and those of other servers that follow
//! draft-ietf-httpapi-idempotency-key-header-07 by their titles. A server that does not honour the key carries every
//! attempt out.
//!
//! With a [`Journal`] a key outlives the process: see [`Call::id`].
//!
//! TLS, proxies, HTTP/2 and whatever else a connection needs are up to the [`reqwest::Client`], and to the features of
//! reqwest 0.13 that your own `Cargo.toml` turns on. Middlewares of `reqwest-middleware` run in every attempt.

mod attempt;
mod call;
mod error;
mod file_journal;
mod idempotent_client;
mod journal;
mod name;
mod outcome;
mod retry_after;
mod retry_policy;
mod settle;
#[cfg(test)]
mod tests;
mod verdict;

pub use call::Call;
pub use error::CallError;
pub use file_journal::FileJournal;
pub use idempotent_client::{IdempotentClient, KeyForm};
pub use journal::{Entry, Journal, JournalError};
pub use outcome::{Doubt, LastAttempt, Outcome, Unknown};
pub use retry_policy::RetryPolicy;
