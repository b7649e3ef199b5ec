//! A transaction of the user's own on a blocking connection, and effects that wait for its commit.

use std::fmt;

use super::runtime::wait_here;
use crate::connection::BlockingConnection;
use crate::effects::EffectError;

/// Runs `body` in a transaction on `conn`, or under a savepoint if it is in one: `Ok` commits, `Err` and a panic roll
/// back. What [`transaction`](crate::transaction()) is to an async connection.
///
/// ```
/// use idempotent_runtime::{BlockingConnection, blocking};
///
/// # fn write<C: BlockingConnection>(conn: &mut C) -> Result<(), diesel::result::Error> {
/// let number = blocking::transaction(conn, |conn| {
///     // … writes through `conn`
/// #   let _ = conn;
///     Ok::<_, diesel::result::Error>(1)
/// })?;
/// # let _ = number; Ok(())
/// # }
/// ```
pub fn transaction<C, T, E>(conn: &mut C, body: impl FnOnce(&mut C) -> Result<T, E>) -> Result<T, E>
where
    C: BlockingConnection,
    E: From<diesel::result::Error>,
{
    wait_here(crate::transaction::run(conn, async move |conn: &mut C| body(conn)))
}

/// Runs `effect` after the outermost transaction of `conn` has committed, and never if it rolls back. What
/// [`after_commit`](crate::after_commit()) is to an async connection, with the same rules; it runs on this thread.
///
/// ```
/// # use idempotent_runtime::{BlockingConnection, blocking};
/// # fn send_mail() -> Result<(), std::io::Error> { Ok(()) }
/// # fn pay<C: BlockingConnection>(conn: &mut C) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// blocking::transaction(conn, |conn| {
///     // … writes through `conn`
///     blocking::after_commit(conn, || send_mail())?;
///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
/// })
/// # }
/// ```
pub fn after_commit<C, F, E>(conn: &mut C, effect: F) -> Result<(), EffectError>
where
    C: BlockingConnection,
    F: FnOnce() -> Result<(), E> + Send + 'static,
    E: fmt::Display + 'static,
{
    crate::effects::after_commit(conn, || async { effect() })
}
