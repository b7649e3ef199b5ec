//! `SQLite`: one writer at a time. The claim row is written first, under the write lock, and completed by its fence.

mod blocking;
mod texts;

use diesel::connection::SimpleConnection;
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{QueryResult, RunQueryDsl};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use futures_util::future::BoxFuture;

use super::row::{FoundRow, FoundSql, StepSql, UnresolvedRow, UnresolvedSql, read_step, read_unresolved};
use super::statement::{Bind, Statement, dialect};
use super::{Access, Change, Driver, DriverOf, End, Ended, Isolation, Level, Which};
use super::{address_binds, change_binds, sql, step_binds, unbalanced};
use crate::claim::{Address, Claim, Claimed, Fence, Row, StepRow, Unresolved};
use crate::database::Database;
use crate::pool::Pooled;
use blocking::{
    Opening, begin_read, begin_savepoint, begin_write, close, commit, depth, look, migrate, open, renew, roll_back,
    roll_back_to, write,
};
use texts::{PATIENCE, SWEEP, TEXTS};

type Async = SyncConnectionWrapper<SqliteConnection>;

dialect!(Sqlite);

impl crate::Connection for Async {
    fn driver() -> DriverOf<Self> {
        DriverOf(&Blocking)
    }
}

/// Runs each verb as one visit to the connection's thread.
struct Blocking;

impl Driver<Async> for Blocking {
    fn claim<'c>(&self, conn: &'c mut Async, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>> {
        let claim = claim.clone();
        conn.spawn_blocking(move |conn| {
            let claimed = open(conn, &claim, Opening::Alone)?;
            if let Claimed::Won(_) = claimed {
                commit(conn)?;
            }
            Ok(claimed)
        })
    }

    fn look<'c>(&self, conn: &'c mut Async, address: &'c Address) -> BoxFuture<'c, QueryResult<Option<Row>>> {
        let address = address.clone();
        conn.spawn_blocking(move |conn| {
            conn.batch_execute(PATIENCE)?;
            look(conn, &address)
        })
    }

    fn change<'c>(
        &self,
        conn: &'c mut Async,
        address: &'c Address,
        fence: Fence,
        change: Change<'c>,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let statement = Statement::<()>::new(change.text(&TEXTS), change_binds(address, fence, change));
        conn.spawn_blocking(move |conn| write(conn, |conn| Ok(statement.execute(conn)? == 1)))
    }

    fn unresolved<'c>(
        &self,
        conn: &'c mut Async,
        which: Which<'c>,
        most: i64,
    ) -> BoxFuture<'c, QueryResult<Vec<Unresolved>>> {
        let (namespace, text, binds) = (which.namespace().to_owned(), which.text(&TEXTS), which.binds(most));
        conn.spawn_blocking(move |conn| {
            conn.batch_execute(PATIENCE)?;
            let rows = Statement::<UnresolvedSql>::new(text, binds).load::<UnresolvedRow>(conn)?;
            Ok(rows.into_iter().filter_map(|row| read_unresolved(&namespace, row)).collect())
        })
    }

    fn steps<'c>(
        &self,
        conn: &'c mut Async,
        address: &'c Address,
        fence: Fence,
    ) -> BoxFuture<'c, QueryResult<Vec<StepRow>>> {
        let mut binds = address_binds(address);
        binds.push(Bind::Int(fence.generation));
        conn.spawn_blocking(move |conn| {
            conn.batch_execute(PATIENCE)?;
            let rows = Statement::<StepSql>::new(sql::STEPS, binds).load::<(String, Vec<u8>)>(conn)?;
            Ok(rows.into_iter().map(read_step).collect())
        })
    }

    fn record_step<'c>(
        &self,
        conn: &'c mut Async,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let (address, lease) = (claim.address.clone(), claim.lease);
        let step = Statement::<()>::new(sql::RECORD_STEP, step_binds(&address, fence, position, step));
        conn.spawn_blocking(move |conn| {
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
        conn: &'c mut Async,
        claim: &'c Claim,
        fence: Fence,
        _: Isolation,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let (address, lease) = (claim.address.clone(), claim.lease);
        conn.spawn_blocking(move |conn| {
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
        conn: &'c mut Async,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
        base: u32,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        let step = Statement::<()>::new(sql::RECORD_STEP, step_binds(&claim.address, fence, position, step));
        conn.spawn_blocking(move |conn| {
            if depth(conn)? != base + 1 {
                roll_back_to(conn, base)?;
                return Ok(Ended::RolledBack(unbalanced()));
            }
            match step.execute(conn).and_then(|_| commit(conn)) {
                Ok(()) => Ok(Ended::Done),
                Err(error) => {
                    roll_back_to(conn, base)?;
                    Ok(Ended::RolledBack(error))
                }
            }
        })
    }

    fn sweep<'c>(&self, conn: &'c mut Async, batch: i64) -> BoxFuture<'c, QueryResult<usize>> {
        conn.spawn_blocking(move |conn| {
            write(conn, |conn| Statement::<()>::new(SWEEP, vec![Bind::Int(batch)]).execute(conn))
        })
    }

    fn open<'c>(&self, conn: &'c mut Async, claim: &'c Claim, level: Level) -> BoxFuture<'c, QueryResult<Claimed>> {
        let claim = claim.clone();
        conn.spawn_blocking(move |conn| match level {
            Level::Own { .. } => {
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
        conn: &'c mut Async,
        claim: &'c Claim,
        fence: Fence,
        level: Level,
        end: End,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        let address = claim.address.clone();
        conn.spawn_blocking(move |conn| close(conn, &address, fence, level, &end))
    }

    fn begin<'c>(&self, conn: &'c mut Async, access: Access, _: Option<Isolation>) -> BoxFuture<'c, QueryResult<()>> {
        conn.spawn_blocking(move |conn| {
            conn.batch_execute(PATIENCE)?;
            match access {
                Access::Read => begin_read(conn),
                Access::Write => begin_write(conn),
            }
        })
    }

    fn commit<'c>(&self, conn: &'c mut Async) -> BoxFuture<'c, QueryResult<()>> {
        conn.spawn_blocking(commit)
    }

    fn seal<'c>(&self, conn: &'c mut Async) -> BoxFuture<'c, QueryResult<()>> {
        conn.spawn_blocking(commit)
    }

    fn roll_back<'c>(&self, conn: &'c mut Async) -> BoxFuture<'c, QueryResult<()>> {
        conn.spawn_blocking(roll_back)
    }

    fn execute<'c>(&self, conn: &'c mut Async, statement: Statement) -> BoxFuture<'c, QueryResult<usize>> {
        conn.spawn_blocking(move |conn| statement.execute(conn))
    }

    fn found<'c>(
        &self,
        conn: &'c mut Async,
        statement: Statement<FoundSql>,
    ) -> BoxFuture<'c, QueryResult<Vec<FoundRow>>> {
        conn.spawn_blocking(move |conn| statement.load(conn))
    }

    fn database(&self) -> Database {
        Database::Sqlite
    }

    fn depth(&self, conn: &mut Async) -> QueryResult<u32> {
        super::depth(conn)
    }

    /// There is no other writer to meet once a write transaction has begun.
    fn saw_contention(&self, _: &mut Async) -> bool {
        false
    }

    fn without_statement_cache(&self, conn: &mut Async) {
        use diesel_async::AsyncConnection as _;
        conn.set_prepared_statement_cache_size(diesel::connection::CacheSize::Disabled);
    }

    fn migrate(&self, mut conn: Pooled<Async>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        tokio::runtime::Handle::current().block_on(conn.spawn_blocking(|conn| Ok(migrate(conn))))?
    }
}
