//! A transaction of the user's own, in which effects can wait for the commit.

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt;

use crate::effects::Frame;
use crate::pool::Connection;
use crate::store::{Access, roll_back_to, unbalanced};

/// Runs `body` in a transaction on `conn`, or under a savepoint if it is in one: `Ok` commits, `Err` and a panic roll
/// back. What `body` gave to [`after_commit`](crate::after_commit) runs once the outermost one has committed.
///
/// On `SQLite` the outermost transaction is an immediate one: it waits for other writers instead of failing when it
/// first writes. A commit that cannot be done is an error, also where the database itself only rolls back.
///
/// ```
/// # use idempotent_runtime::{doc::Sqlite as Db, transaction};
/// # async fn write(conn: &mut Db) -> Result<(), diesel::result::Error> {
/// let number = transaction(conn, async |conn| {
///     // … writes through `conn`
/// #   let _ = conn;
///     Ok::<_, diesel::result::Error>(1)
/// })
/// .await?;
/// # let _ = number; Ok(())
/// # }
/// ```
pub async fn transaction<C, T, E>(conn: &mut C, body: impl AsyncFnOnce(&mut C) -> Result<T, E>) -> Result<T, E>
where
    C: Connection,
    E: From<diesel::result::Error>,
{
    let driver = C::driver().0;
    let base = driver.depth(conn)?;
    driver.begin(conn, Access::Write, None).await?;
    let frame = Frame::open(conn, base, base + 1);
    let ran = AssertUnwindSafe(body(conn)).catch_unwind().await;
    match ran {
        Ok(Ok(value)) => {
            if driver.depth(conn)? != base + 1 {
                roll_back_to(driver, conn, base).await?;
                return Err(unbalanced().into());
            }
            driver.commit(conn).await?;
            frame.committed().run().await;
            Ok(value)
        }
        Ok(Err(error)) => {
            drop(frame);
            roll_back_to(driver, conn, base).await?;
            Err(error)
        }
        Err(panic) => {
            drop(frame);
            if let Err(error) = roll_back_to(driver, conn, base).await {
                tracing::warn!(%error, "a transaction could not be rolled back after a panic");
            }
            resume_unwind(panic);
        }
    }
}
