//! Where one-time tokens wait for their use, if not in the records of the engine.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::claim::Address;
use crate::hex::hex;

/// Why a store of tokens could not be asked.
pub type TokenStoreError = Box<dyn std::error::Error + Send + Sync>;

/// A token as a store knows it: SHA-256 of namespace, operation, caller and token, in hexadecimal. Neither the token nor
/// the caller can be told from it.
///
/// ```
/// # fn show(ticket: &idempotent_runtime::Ticket) {
/// assert_eq!(ticket.as_str().len(), 64);
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ticket(String);

impl Ticket {
    pub(crate) fn of(address: &Address) -> Self {
        Self(hex(&address.digest_of(&["ticket"])))
    }

    /// The name under which it is kept.
    ///
    /// ```
    /// # fn show(ticket: &idempotent_runtime::Ticket) {
    /// println!("idempotency:{{{}}}", ticket.as_str());
    /// # }
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What became of spending a ticket.
///
/// ```
/// use idempotent_runtime::Spent;
/// assert_ne!(Spent::Now, Spent::Before);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// It was good, and is spent now.
    Now,
    /// It was spent before: whether its request has run, the record says.
    Before,
    /// It was never issued, or its time is over.
    Never,
}

/// A place where one-time tokens wait for their use, beside the engine's own, which is its records. Whether a request
/// runs, is in use or is replayed is decided by the record in any case: a store says which tokens there are.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// use futures_util::future::{BoxFuture, FutureExt};
/// use idempotent_runtime::{Spent, Ticket, TokenStore, TokenStoreError};
///
/// /// For one process, and until it ends.
/// struct InMemory(Mutex<HashMap<Ticket, bool>>);
///
/// impl TokenStore for InMemory {
///     fn issue<'t>(&'t self, ticket: &'t Ticket, _ttl: Duration) -> BoxFuture<'t, Result<(), TokenStoreError>> {
///         async { Ok(drop(self.0.lock().unwrap().insert(ticket.clone(), false))) }.boxed()
///     }
///
///     fn spend<'t>(&'t self, ticket: &'t Ticket, _keep: Duration) -> BoxFuture<'t, Result<Spent, TokenStoreError>> {
///         async {
///             Ok(match self.0.lock().unwrap().get_mut(ticket) {
///                 Some(spent) if *spent => Spent::Before,
///                 Some(spent) => { *spent = true; Spent::Now }
///                 None => Spent::Never,
///             })
///         }
///         .boxed()
///     }
/// }
/// ```
pub trait TokenStore: Send + Sync + 'static {
    /// Keeps a ticket that can be spent, for so long.
    ///
    /// ```
    /// # use idempotent_runtime::{Ticket, TokenStore, TokenStoreError};
    /// # async fn issue(store: &impl TokenStore, ticket: &Ticket) -> Result<(), TokenStoreError> {
    /// store.issue(ticket, std::time::Duration::from_secs(600)).await
    /// # }
    /// ```
    fn issue<'t>(&'t self, ticket: &'t Ticket, ttl: Duration) -> BoxFuture<'t, Result<(), TokenStoreError>>;

    /// Spends a ticket, as one step: of any number of calls at once one is told [`Spent::Now`]. Afterwards it is kept as
    /// spent for what is left of its time, but no longer than `keep`, which is how long its record will be.
    ///
    /// ```
    /// # use idempotent_runtime::{Spent, Ticket, TokenStore, TokenStoreError};
    /// # async fn spend(store: &impl TokenStore, ticket: &Ticket) -> Result<Spent, TokenStoreError> {
    /// store.spend(ticket, std::time::Duration::from_secs(600)).await
    /// # }
    /// ```
    fn spend<'t>(&'t self, ticket: &'t Ticket, keep: Duration) -> BoxFuture<'t, Result<Spent, TokenStoreError>>;
}

impl fmt::Debug for dyn TokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenStore")
    }
}
