//! Why a call was not made.

use reqwest::Response;

use super::journal::JournalError;
use crate::key::KeyError;

/// Why a call was not made, or cannot be made under its key.
///
/// ```
/// # use idempotent_runtime::client::CallError;
/// # fn explain(error: &CallError) -> String {
/// match error {
///     CallError::Reused { key, .. } => format!("a new wish needs a new key, {key} is taken"),
///     other => other.to_string(),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The request cannot be built, or not be sent to such a URL.
    #[error("the request cannot be built")]
    Request(#[source] reqwest_middleware::Error),
    /// A body that can be read only once cannot be sent a second time.
    #[error("the body is a stream, which cannot be sent again in a retry; read it into bytes and send those")]
    Streaming,
    /// The key that was given cannot be sent.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The call was given a key, and its header carries another one. Nothing was sent.
    #[error("the call has the key `{key}`, and its header the key `{header}`; leave one of the two out")]
    TwoKeys {
        /// The key that was given.
        key: String,
        /// The key in the header.
        header: String,
    },
    /// The server has seen the key with another request.
    #[error("the key `{key}` was used for another request; a new request needs a new key")]
    Reused {
        /// The key.
        key: String,
        /// What the server answered.
        response: Box<Response>,
    },
    /// The call has an id, and the client has no journal.
    #[error("the call has the id `{id}`, but the client keeps no journal; give it one with `.journal(…)`")]
    NoJournal {
        /// The id.
        id: String,
    },
    /// The journal knows the id with another request or another key. Nothing was sent.
    #[error("the call `{id}` was begun with another request; another request needs another id")]
    OtherRequest {
        /// The id.
        id: String,
    },
    /// The journal cannot be written. Nothing was sent.
    #[error("the call cannot be written into the journal")]
    Journal(#[source] JournalError),
}
