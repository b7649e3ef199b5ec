//! Transactions on a caller's connection, and one of the user's own, in which effects can wait for the commit.

use std::panic::{AssertUnwindSafe, resume_unwind};

use diesel::QueryResult;
use futures_util::FutureExt;

use crate::connection::{AsyncConnection, Connection};
use crate::effects::Frame;
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
    C: AsyncConnection,
    E: From<diesel::result::Error>,
{
    run(conn, body).await
}

/// The same on any connection.
pub(crate) async fn run<C, T, E>(conn: &mut C, body: impl AsyncFnOnce(&mut C) -> Result<T, E>) -> Result<T, E>
where
    C: Connection,
    E: From<diesel::result::Error>,
{
    let open = begin(conn).await?;
    let frame = open.frame(conn);
    match AssertUnwindSafe(body(conn)).catch_unwind().await {
        Ok(Ok(value)) => {
            open.commit(conn, false).await?;
            frame.committed().run().await;
            Ok(value)
        }
        Ok(Err(error)) => {
            drop(frame);
            open.roll_back(conn).await?;
            Err(error)
        }
        Err(panic) => {
            drop(frame);
            if let Err(error) = open.roll_back(conn).await {
                tracing::warn!(%error, "a transaction could not be rolled back after a panic");
            }
            resume_unwind(panic);
        }
    }
}

/// A transaction on the caller's connection: a savepoint inside the caller's own.
pub(crate) struct Open {
    /// How deep the connection was before.
    base: u32,
}

/// Begins a transaction that may write.
pub(crate) async fn begin<C: Connection>(conn: &mut C) -> QueryResult<Open> {
    let driver = C::driver().0;
    let base = driver.depth(conn)?;
    driver.begin(conn, Access::Write, None).await?;
    Ok(Open { base })
}

impl Open {
    /// The frame for the effects of a body that runs inside.
    pub(crate) fn frame<C: Connection>(&self, conn: &C) -> Frame {
        Frame::open(conn, self.base, self.base + 1)
    }

    /// Commits, or rolls back if that cannot be done. `proven`: whether a statement went well after everything that
    /// could have failed unseen.
    pub(crate) async fn commit<C: Connection>(self, conn: &mut C, proven: bool) -> QueryResult<()> {
        let driver = C::driver().0;
        if driver.depth(conn)? != self.base + 1 {
            self.roll_back(conn).await?;
            return Err(unbalanced());
        }
        let committed = if proven { driver.seal(conn).await } else { driver.commit(conn).await };
        if committed.is_err() {
            self.roll_back(conn).await?;
        }
        committed
    }

    pub(crate) async fn roll_back<C: Connection>(self, conn: &mut C) -> QueryResult<()> {
        roll_back_to(C::driver().0, conn, self.base).await
    }

    /// Commits what went well to its last statement, and rolls back what did not.
    pub(crate) async fn end<C, T, E>(self, conn: &mut C, done: Result<T, E>) -> Result<T, E>
    where
        C: Connection,
        E: From<diesel::result::Error>,
    {
        match &done {
            Ok(_) => self.commit(conn, true).await?,
            Err(_) => self.roll_back(conn).await?,
        }
        done
    }
}
