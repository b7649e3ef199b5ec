//! What survives a restart of the client.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// What keeps a journal from being read or written.
pub type JournalError = Box<dyn std::error::Error + Send + Sync>;

/// Under which key a call went out, and what it asked.
///
/// ```
/// # use idempotent_runtime::client::Entry;
/// let entry = Entry { key: "8e03978e-40d5-43e8-bc93-6894a57f9324".into(), fingerprint: "01ab".into() };
/// # let _ = entry;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The key of every attempt.
    pub key: String,
    /// What tells the request from another: method, path, query and body, hashed.
    pub fingerprint: String,
}

/// Remembers under which key a call went out, so that a restarted client goes on with it. [`FileJournal`] is one in a
/// file; one in a database of yours is two statements:
///
/// ```
/// use futures_util::future::{BoxFuture, FutureExt as _};
/// use idempotent_runtime::client::{Entry, Journal, JournalError};
///
/// #[derive(Debug)]
/// struct Table;
///
/// impl Journal for Table {
///     fn begin<'a>(&'a self, id: &'a str, entry: Entry) -> BoxFuture<'a, Result<Option<Entry>, JournalError>> {
///         // INSERT … ON CONFLICT DO NOTHING, commit; if nothing was inserted, SELECT what is there
/// #       let _ = (id, entry);
///         async { Ok(None) }.boxed()
///     }
///
///     fn finish<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
///         // UPDATE … SET finished_at = now()
/// #       let _ = id;
///         async { Ok(()) }.boxed()
///     }
/// }
/// ```
///
/// [`FileJournal`]: super::FileJournal
pub trait Journal: Debug + Send + Sync + 'static {
    /// Writes down that the call goes out as `entry`; durable when it returns. If the id is known already, finished or
    /// not, nothing is written, and what is known is given back.
    fn begin<'a>(&'a self, id: &'a str, entry: Entry) -> BoxFuture<'a, Result<Option<Entry>, JournalError>>;

    /// Writes down that the call has its answer, and may be forgotten some day. Need not be durable: a call that is not
    /// known to be finished is answered with a replay.
    fn finish<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), JournalError>>;
}
