//! The steps of a function without `async`.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::runtime::wait;
use crate::connection::Connection;
use crate::error::Error;
use crate::lease::Lease;
use crate::steps;

/// The recovery points of one run of a blocking function: what [`Steps`](crate::Steps) is to an async one.
///
/// ```
/// # #[cfg(feature = "sqlite")] mod example {
/// use idempotent_runtime::{Error, blocking::Steps, idempotent};
/// # use diesel::SqliteConnection;
/// # fn charge_at_provider(key: &str) -> Result<String, Error> { Ok(key.to_owned()) }
///
/// #[idempotent(key = order, ttl = "72h", lease = "30s")]
/// fn pay(#[steps] steps: &mut Steps<SqliteConnection>, order: i64) -> Result<String, Error> {
///     steps.tx("start", |_conn| Ok::<_, Error>(()))?; // writes and recovery point commit together
///     steps.run("charge", |key| charge_at_provider(&key)) // not repeated once it is recorded
/// }
/// # }
/// ```
pub struct Steps<C: 'static>(steps::Steps<C>);

impl<C> std::fmt::Debug for Steps<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<C: Connection> Steps<C> {
    pub(super) fn of(steps: steps::Steps<C>) -> Self {
        Self(steps)
    }

    /// The lease of this run.
    ///
    /// ```
    /// # fn look<C: idempotent_runtime::BlockingConnection>(steps: &idempotent_runtime::blocking::Steps<C>) {
    /// if steps.lease().is_lost() { /* stop */ }
    /// # }
    /// ```
    #[must_use]
    pub fn lease(&self) -> &Lease {
        self.0.lease()
    }

    /// How often this operation was begun, this run included.
    ///
    /// ```
    /// # fn look<C: idempotent_runtime::BlockingConnection>(steps: &idempotent_runtime::blocking::Steps<C>) {
    /// println!("attempt {}", steps.attempt());
    /// # }
    /// ```
    #[must_use]
    pub fn attempt(&self) -> i64 {
        self.0.attempt()
    }

    /// The key that the step of this name sends to another system, the same in every attempt.
    ///
    /// ```
    /// # fn look<C: idempotent_runtime::BlockingConnection>(steps: &idempotent_runtime::blocking::Steps<C>) {
    /// let key = steps.downstream_key("charge");
    /// # }
    /// ```
    #[must_use]
    pub fn downstream_key(&self, step: &str) -> String {
        self.0.downstream_key(step)
    }

    /// Runs a step outside the database and records its value; one that is recorded is handed back instead. The step is
    /// given its downstream key. `Err` records nothing.
    ///
    /// ```
    /// # use idempotent_runtime::{BlockingConnection, Error, blocking::Steps};
    /// # fn charge_at_provider(key: &str) -> Result<String, Error> { Ok(key.to_owned()) }
    /// # fn pay<C: BlockingConnection>(steps: &mut Steps<C>) -> Result<(), Error> {
    /// let charge = steps.run("charge", |key| charge_at_provider(&key))?;
    /// # let _ = charge; Ok(())
    /// # }
    /// ```
    pub fn run<T, E, F>(&mut self, name: &str, step: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
        F: FnOnce(String) -> Result<T, E>,
    {
        wait(self.0.run(name, async move |key| step(key)))
    }

    /// Runs a step in a transaction that also records its value: both commit, or neither. It runs again, from a clone,
    /// after a serialization failure, a deadlock, or a COMMIT whose answer was lost.
    ///
    /// ```
    /// # use idempotent_runtime::{BlockingConnection, Error, blocking::Steps};
    /// # fn insert<C>(conn: &mut C) -> Result<i64, Error> { let _ = conn; Ok(1) }
    /// # fn pay<C: BlockingConnection>(steps: &mut Steps<C>) -> Result<(), Error> {
    /// let order = steps.tx("start", |conn| insert(conn))?;
    /// # let _ = order; Ok(())
    /// # }
    /// ```
    pub fn tx<T, E, F>(&mut self, name: &str, step: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
        F: FnOnce(&mut C) -> Result<T, E> + Clone,
    {
        wait(self.0.tx(name, async move |conn: &mut C| step(conn)))
    }
}
