//! `SQLite`: one writer at a time. The claim row is written first, under the write lock, and completed by its fence.

mod blocking;
mod texts;

use diesel::connection::{CacheSize, SimpleConnection};
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{QueryResult, RunQueryDsl};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_async::{AsyncConnection, TransactionManager};
use futures_util::future::BoxFuture;

use super::row::{FoundRow, FoundSql, StepSql, UnresolvedRow, UnresolvedSql, read_step, read_unresolved};
use super::statement::{Bind, Statement, dialect};
use super::wire::{Rows, async_rows};
use super::{Access, Change, Driver, End, Ended, Isolation, Level, Own, Which};
use super::{address_binds, change_binds, issue_binds, sql, step_binds, unbalanced};
use crate::claim::{Address, Claim, Claimed, Fence, Row, StepRow, Unresolved};
use crate::connection::async_connection;
use crate::database::Database;
use crate::lifetime::Ttl;
use crate::pool::Pooled;
use blocking::{
    Opening, begin_read, begin_savepoint, begin_write, close, commit, depth, look, migrate, open, renew, roll_back,
    roll_back_to, write,
};
use texts::{PATIENCE, SWEEP, TEXTS};

type Async = SyncConnectionWrapper<SqliteConnection>;

dialect!(Sqlite);

async_rows!(Async);
async_connection!(Async, Visiting);

impl crate::AsyncConnection for Async {}

/// A connection of `SQLite`: where its verbs are carried out.
trait Visits: Rows<FoundSql, FoundRow> + Sized + 'static {
    /// Runs work on the connection's own thread.
    fn visit<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut SqliteConnection) -> QueryResult<T> + Send + 'static,
    ) -> BoxFuture<'_, QueryResult<T>>;
    /// How many transactions and savepoints are open.
    fn depth(&mut self) -> QueryResult<u32>;
    /// Turns the cache of prepared statements off.
    fn without_statement_cache(&mut self);
    /// Brings the tables up to date.
    fn migrate(conn: Pooled<Self>) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

impl Visits for Async {
    fn visit<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut SqliteConnection) -> QueryResult<T> + Send + 'static,
    ) -> BoxFuture<'_, QueryResult<T>> {
        self.spawn_blocking(work)
    }

    fn depth(&mut self) -> QueryResult<u32> {
        let status = <Self as AsyncConnection>::TransactionManager::transaction_manager_status_mut(self);
        Ok(status.transaction_depth()?.map_or(0, u32::from))
    }

    fn without_statement_cache(&mut self) {
        self.set_prepared_statement_cache_size(CacheSize::Disabled);
    }

    fn migrate(mut conn: Pooled<Self>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        tokio::runtime::Handle::current().block_on(conn.spawn_blocking(|conn| Ok(migrate(conn))))?
    }
}

#[cfg(feature = "blocking")]
mod blocking_diesel {
    use super::{Pooled, Visiting, Visits};
    use crate::blocking::block;
    use crate::connection::blocking_connection;
    use crate::store::wire::blocking_rows;
    use diesel::QueryResult;
    use diesel::connection::{CacheSize, Connection};
    use diesel::sqlite::SqliteConnection;
    use futures_util::future::{BoxFuture, FutureExt};

    blocking_rows!(SqliteConnection);
    blocking_connection!(SqliteConnection, Visiting);

    impl crate::BlockingConnection for SqliteConnection {}

    impl Visits for SqliteConnection {
        fn visit<T: Send + 'static>(
            &mut self,
            work: impl FnOnce(&mut SqliteConnection) -> QueryResult<T> + Send + 'static,
        ) -> BoxFuture<'_, QueryResult<T>> {
            async move { block(|| work(self)) }.boxed()
        }

        fn depth(&mut self) -> QueryResult<u32> {
            super::depth(self)
        }

        fn without_statement_cache(&mut self) {
            Connection::set_prepared_statement_cache_size(self, CacheSize::Disabled);
        }

        fn migrate(mut conn: Pooled<Self>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            super::migrate(&mut conn)
        }
    }
}

/// Runs each verb as one visit to the connection's thread.
struct Visiting;

impl<C: Visits> Driver<C> for Visiting {
    fn claim<'c>(&self, conn: &'c mut C, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>> {
        let claim = claim.clone();
        conn.visit(move |conn| {
            let claimed = open(conn, &claim, Opening::Alone)?;
            if let Claimed::Won(_) = claimed {
                commit(conn)?;
            }
            Ok(claimed)
        })
    }

    fn issue<'c>(&self, conn: &'c mut C, address: &'c Address, ttl: Ttl) -> BoxFuture<'c, QueryResult<()>> {
        let issue = Statement::<()>::new(TEXTS.issue, issue_binds(address, ttl));
        conn.visit(move |conn| write(conn, |conn| issue.execute(conn).map(drop)))
    }

    fn look<'c>(&self, conn: &'c mut C, address: &'c Address) -> BoxFuture<'c, QueryResult<Option<Row>>> {
        let address = address.clone();
        conn.visit(move |conn| {
            conn.batch_execute(PATIENCE)?;
            look(conn, &address)
        })
    }

    fn change<'c>(
        &self,
        conn: &'c mut C,
        address: &'c Address,
        fence: Fence,
        change: Change<'c>,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let statement = Statement::<()>::new(change.text(&TEXTS), change_binds(address, fence, change));
        conn.visit(move |conn| write(conn, |conn| Ok(statement.execute(conn)? == 1)))
    }

    fn unresolved<'c>(
        &self,
        conn: &'c mut C,
        which: Which<'c>,
        most: i64,
    ) -> BoxFuture<'c, QueryResult<Vec<Unresolved>>> {
        let (namespace, text, binds) = (which.namespace().to_owned(), which.text(&TEXTS), which.binds(most));
        conn.visit(move |conn| {
            conn.batch_execute(PATIENCE)?;
            let rows = Statement::<UnresolvedSql>::new(text, binds).load::<UnresolvedRow>(conn)?;
            Ok(rows.into_iter().filter_map(|row| read_unresolved(&namespace, row)).collect())
        })
    }

    fn steps<'c>(
        &self,
        conn: &'c mut C,
        address: &'c Address,
        fence: Fence,
    ) -> BoxFuture<'c, QueryResult<Vec<StepRow>>> {
        let mut binds = address_binds(address);
        binds.push(Bind::Int(fence.generation));
        conn.visit(move |conn| {
            conn.batch_execute(PATIENCE)?;
            let rows = Statement::<StepSql>::new(sql::STEPS, binds).load::<(String, Vec<u8>)>(conn)?;
            Ok(rows.into_iter().map(read_step).collect())
        })
    }

    fn record_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let (address, lease) = (claim.address.clone(), claim.lease);
        let step = Statement::<()>::new(sql::RECORD_STEP, step_binds(&address, fence, position, step));
        conn.visit(move |conn| {
            write(conn, |conn| {
                let ours = renew(conn, &address, fence, lease)?;
                if ours {
                    step.execute(conn)?;
                }
                Ok(ours)
            })
        })
    }

    fn begin_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        _: Own,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let (address, lease) = (claim.address.clone(), claim.lease);
        conn.visit(move |conn| {
            conn.batch_execute(PATIENCE)?;
            begin_write(conn)?;
            let ours = renew(conn, &address, fence, lease);
            if !matches!(ours, Ok(true)) {
                roll_back(conn)?;
            }
            ours
        })
    }

    fn end_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
        own: Own,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        let (address, lease) = (claim.address.clone(), claim.lease);
        let step = Statement::<()>::new(sql::RECORD_STEP, step_binds(&address, fence, position, step));
        conn.visit(move |conn| {
            if depth(conn)? != own.base + 1 {
                roll_back_to(conn, own.base)?;
                return Ok(Ended::RolledBack(unbalanced()));
            }
            let ended = match renew(conn, &address, fence, lease) {
                Ok(true) => step.execute(conn).and_then(|_| commit(conn)),
                Ok(false) => Err(diesel::result::Error::NotFound),
                Err(error) => Err(error),
            };
            match ended {
                Ok(()) => Ok(Ended::Done),
                Err(error) => {
                    roll_back_to(conn, own.base)?;
                    Ok(Ended::RolledBack(error))
                }
            }
        })
    }

    fn sweep<'c>(&self, conn: &'c mut C, batch: i64) -> BoxFuture<'c, QueryResult<usize>> {
        conn.visit(move |conn| write(conn, |conn| Statement::<()>::new(SWEEP, vec![Bind::Int(batch)]).execute(conn)))
    }

    fn open<'c>(&self, conn: &'c mut C, claim: &'c Claim, level: Level) -> BoxFuture<'c, QueryResult<Claimed>> {
        let claim = claim.clone();
        conn.visit(move |conn| match level {
            Level::Own(_) => {
                let claimed = open(conn, &claim, Opening::Alone)?;
                if let Claimed::Won(_) = claimed {
                    begin_savepoint(conn)?;
                }
                Ok(claimed)
            }
            Level::Nested { .. } => open(conn, &claim, Opening::Within),
        })
    }

    fn close<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        level: Level,
        end: End,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        let address = claim.address.clone();
        conn.visit(move |conn| close(conn, &address, fence, level, &end))
    }

    fn begin<'c>(&self, conn: &'c mut C, access: Access, _: Option<Isolation>) -> BoxFuture<'c, QueryResult<()>> {
        conn.visit(move |conn| {
            conn.batch_execute(PATIENCE)?;
            match access {
                Access::Read => begin_read(conn),
                Access::Write => begin_write(conn),
            }
        })
    }

    fn commit<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        conn.visit(commit)
    }

    fn seal<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        conn.visit(commit)
    }

    fn roll_back<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        conn.visit(roll_back)
    }

    fn execute<'c>(&self, conn: &'c mut C, statement: Statement) -> BoxFuture<'c, QueryResult<usize>> {
        conn.visit(move |conn| statement.execute(conn))
    }

    fn found<'c>(&self, conn: &'c mut C, statement: Statement<FoundSql>) -> BoxFuture<'c, QueryResult<Vec<FoundRow>>> {
        conn.visit(move |conn| statement.load(conn))
    }

    fn database(&self) -> Database {
        Database::Sqlite
    }

    fn depth(&self, conn: &mut C) -> QueryResult<u32> {
        conn.depth()
    }

    /// There is no other writer to meet once a write transaction has begun.
    fn saw_contention(&self, _: &mut C) -> bool {
        false
    }

    fn without_statement_cache(&self, conn: &mut C) {
        conn.without_statement_cache();
    }

    fn migrate(&self, conn: Pooled<C>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        C::migrate(conn)
    }
}
