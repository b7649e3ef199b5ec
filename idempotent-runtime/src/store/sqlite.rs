//! `SQLite`: one writer at a time. The claim row is written first, under the write lock, and completed by its fence.

use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::migration::MigrationConnection;
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{OptionalExtension, QueryResult, RunQueryDsl};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use futures_util::future::BoxFuture;
use uuid::Uuid;

use super::row::{LookRow, LookSql, StepSql, UnresolvedRow, UnresolvedSql, WonSql};
use super::row::{read_look, read_step, read_unresolved};
use super::statement::{Bind, Statement, dialect};
use super::{Access, Driver, DriverOf, End, Ended, Isolation, Level, Stored, Which};
use super::{address_binds, claim_binds, decision_binds, fence_binds, sql, stored_binds};
use super::{step_binds, unbalanced};
use crate::claim::{Address, Claim, Claimed, Fence, Row, StepRow, UNSEEN, Unresolved};
use crate::failpoint::failpoint;
use crate::lifetime::Term;
use crate::pool::Pooled;

type Async = SyncConnectionWrapper<SqliteConnection>;
type Manager = AnsiTransactionManager;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// Another writer is waited for up to 30 s.
const PATIENCE: &str = "PRAGMA busy_timeout = 30000";
/// Immediate: a deferred transaction that reads first and then writes cannot wait.
const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
const BEGIN_READ: &str = "BEGIN";

/// How often a claim is tried whose row changed between two statements.
const TRIES: usize = 10;

const LOOK: &str = concat!(
    "SELECT ",
    sql::columns!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"),
    " FROM idempotency_keys AS t WHERE ",
    sql::addressed!()
);
const CLAIM: &str = sql::upsert_claim!(
    "(SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now) AS clock WHERE true"
);
const SWEEP: &str = concat!(
    "DELETE FROM idempotency_keys WHERE rowid IN (SELECT t.rowid FROM idempotency_keys AS t WHERE ",
    sql::sweepable!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"),
    " ORDER BY t.expires_at LIMIT ?1)"
);

const RENEW: &str = sql::fenced!("lease_until = ?7 + ", "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)");
const COMPLETE_HELD: &str = sql::decided!(
    "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "state = 1, held = 0, status = ?7, headers = ?8, body = ?9"
);
const RELEASE_HELD: &str =
    sql::decided!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)", "state = 2, held = 0, attempts = 0");
const HELD: &str =
    sql::unresolved!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)", "t.namespace = ?1 AND t.held = 1");
const HELD_AT: &str = sql::unresolved!(
    "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "t.namespace = ?1 AND t.operation = ?2 AND t.scope = ?3 AND t.key = ?4 AND t.held = 1"
);
const RESUMABLE: &str = sql::unresolved!(
    "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "t.held = 0 AND t.arguments IS NOT NULL"
);

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

    fn complete<'c>(
        &self,
        conn: &'c mut Async,
        address: &'c Address,
        fence: Fence,
        stored: &'c Stored,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let (address, stored) = (address.clone(), stored.clone());
        conn.spawn_blocking(move |conn| write(conn, |conn| complete(conn, &address, fence, &stored)))
    }

    fn release<'c>(&self, conn: &'c mut Async, address: &'c Address, fence: Fence) -> BoxFuture<'c, QueryResult<bool>> {
        let address = address.clone();
        conn.spawn_blocking(move |conn| write(conn, |conn| fenced(conn, sql::RELEASE, &address, fence)))
    }

    fn hold<'c>(&self, conn: &'c mut Async, address: &'c Address, fence: Fence) -> BoxFuture<'c, QueryResult<bool>> {
        let address = address.clone();
        conn.spawn_blocking(move |conn| write(conn, |conn| fenced(conn, sql::HOLD, &address, fence)))
    }

    fn decide<'c>(
        &self,
        conn: &'c mut Async,
        address: &'c Address,
        fence: Fence,
        outcome: Option<&'c Stored>,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let text = if outcome.is_some() { COMPLETE_HELD } else { RELEASE_HELD };
        let decision = Statement::<()>::new(text, decision_binds(address, fence, outcome));
        conn.spawn_blocking(move |conn| write(conn, |conn| Ok(decision.execute(conn)? == 1)))
    }

    fn renew<'c>(
        &self,
        conn: &'c mut Async,
        address: &'c Address,
        fence: Fence,
        lease: Term,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let address = address.clone();
        conn.spawn_blocking(move |conn| write(conn, |conn| renew(conn, &address, fence, lease)))
    }

    fn unresolved<'c>(
        &self,
        conn: &'c mut Async,
        which: Which<'c>,
        most: i64,
    ) -> BoxFuture<'c, QueryResult<Vec<Unresolved>>> {
        let text = match which {
            Which::Held { .. } => HELD,
            Which::HeldAt(_) => HELD_AT,
            Which::Resumable { .. } => RESUMABLE,
        };
        let (namespace, binds) = (which.namespace().to_owned(), which.binds(most));
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
                    Manager::begin_transaction(conn)?;
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

    fn begin<'c>(&self, conn: &'c mut Async, access: Access, _: Isolation) -> BoxFuture<'c, QueryResult<()>> {
        conn.spawn_blocking(move |conn| {
            conn.batch_execute(PATIENCE)?;
            match access {
                Access::Read if depth(conn)? == 0 => Manager::begin_transaction_sql(conn, BEGIN_READ),
                Access::Read | Access::Write => begin_write(conn),
            }
        })
    }

    fn commit<'c>(&self, conn: &'c mut Async) -> BoxFuture<'c, QueryResult<()>> {
        conn.spawn_blocking(commit)
    }

    fn roll_back<'c>(&self, conn: &'c mut Async) -> BoxFuture<'c, QueryResult<()>> {
        conn.spawn_blocking(roll_back)
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

fn migrate(conn: &mut SqliteConnection) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    conn.batch_execute(PATIENCE)?;
    begin_write(conn)?;
    let migrated = conn.setup().map_err(Into::into).and_then(|_| conn.run_pending_migrations(MIGRATIONS).map(drop));
    match migrated {
        Ok(()) => Ok(commit(conn)?),
        Err(error) => {
            roll_back(conn)?;
            Err(error)
        }
    }
}

/// Whether the connection is known to be in no transaction, or may be in the caller's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    Alone,
    Within,
}

/// Begins a transaction and claims in it. Unless it was won, the transaction is over again.
fn open(conn: &mut SqliteConnection, claim: &Claim, opening: Opening) -> QueryResult<Claimed> {
    conn.batch_execute(PATIENCE)?;
    for _ in 0..TRIES {
        if opening == Opening::Alone {
            // Before the write lock is asked for: a replay does not wait for writers.
            if let Some(settled) = look(conn, &claim.address)?.and_then(|row| row.settle(claim.fingerprint)) {
                return Ok(settled);
            }
        }
        begin_write(conn)?;
        failpoint!("sqlite.begun");
        match upsert(conn, claim) {
            Ok(Some(fence)) => {
                failpoint!("sqlite.claimed");
                return Ok(Claimed::Won(fence));
            }
            Ok(None) => {
                let row = look(conn, &claim.address);
                roll_back(conn)?;
                if let Some(settled) = row?.and_then(|row| row.settle(claim.fingerprint)) {
                    return Ok(settled);
                }
            }
            Err(error) => {
                roll_back(conn)?;
                return Err(error);
            }
        }
    }
    Ok(Claimed::Refused(UNSEEN))
}

/// Ends what `open` began, and leaves the connection as deep as it was before.
fn close(conn: &mut SqliteConnection, address: &Address, fence: Fence, level: Level, end: &End) -> QueryResult<Ended> {
    if depth(conn)? != level.depth_inside() {
        roll_back_to(conn, level.base())?;
        return Ok(Ended::RolledBack(unbalanced()));
    }
    match finish(conn, address, fence, level, end) {
        Ok(()) => Ok(Ended::Done),
        Err(error) => {
            roll_back_to(conn, level.base())?;
            Ok(Ended::RolledBack(error))
        }
    }
}

fn finish(conn: &mut SqliteConnection, address: &Address, fence: Fence, level: Level, end: &End) -> QueryResult<()> {
    let under_savepoint = matches!(level, Level::Own { .. });
    match end {
        End::RollBack => return roll_back_to(conn, level.base()),
        End::Undo(_) if under_savepoint => roll_back(conn)?,
        End::Commit(_) | End::Forget if under_savepoint => commit(conn)?,
        End::Undo(_) | End::Commit(_) | End::Forget => {}
    }
    failpoint!("sqlite.undone");
    let written = match end {
        End::Commit(stored) | End::Undo(stored) => complete(conn, address, fence, stored)?,
        End::Forget | End::RollBack => fenced(conn, sql::RELEASE, address, fence)?,
    };
    if !written {
        return Err(diesel::result::Error::NotFound);
    }
    failpoint!("sqlite.completed");
    commit(conn)?;
    failpoint!("sqlite.committed");
    Ok(())
}

fn look(conn: &mut SqliteConnection, address: &Address) -> QueryResult<Option<Row>> {
    let look = Statement::<LookSql>::new(LOOK, address_binds(address));
    Ok(look.get_result::<LookRow>(conn).optional()?.map(read_look))
}

/// Writes the claim; `None` if the row may not be claimed.
fn upsert(conn: &mut SqliteConnection, claim: &Claim) -> QueryResult<Option<Fence>> {
    let owner = Uuid::new_v4();
    let won =
        Statement::<WonSql>::new(CLAIM, claim_binds(claim, owner)).get_result::<(i64, i64, i64)>(conn).optional()?;
    Ok(won.map(|(token, generation, attempt)| Fence { owner, token, generation, attempt }))
}

fn complete(conn: &mut SqliteConnection, address: &Address, fence: Fence, stored: &Stored) -> QueryResult<bool> {
    let mut binds = fence_binds(address, fence);
    binds.extend(stored_binds(stored));
    Ok(Statement::<()>::new(sql::COMPLETE, binds).execute(conn)? == 1)
}

/// Runs a statement that needs nothing but the fence; false if that is not ours any more.
fn fenced(conn: &mut SqliteConnection, text: &'static str, address: &Address, fence: Fence) -> QueryResult<bool> {
    Ok(Statement::<()>::new(text, fence_binds(address, fence)).execute(conn)? == 1)
}

fn renew(conn: &mut SqliteConnection, address: &Address, fence: Fence, lease: Term) -> QueryResult<bool> {
    let mut binds = fence_binds(address, fence);
    binds.push(Bind::Int(lease.millis()));
    Ok(Statement::<()>::new(RENEW, binds).execute(conn)? == 1)
}

/// Runs one writing statement in a transaction that waits for other writers.
fn write<R>(conn: &mut SqliteConnection, verb: impl FnOnce(&mut SqliteConnection) -> QueryResult<R>) -> QueryResult<R> {
    conn.batch_execute(PATIENCE)?;
    begin_write(conn)?;
    match verb(conn) {
        Ok(result) => {
            commit(conn)?;
            Ok(result)
        }
        Err(error) => {
            roll_back(conn)?;
            Err(error)
        }
    }
}

fn depth(conn: &mut SqliteConnection) -> QueryResult<u32> {
    Ok(Manager::transaction_manager_status_mut(conn).transaction_depth()?.map_or(0, u32::from))
}

/// Begins a write transaction, or a savepoint inside the caller's.
fn begin_write(conn: &mut SqliteConnection) -> QueryResult<()> {
    match depth(conn)? {
        0 => Manager::begin_transaction_sql(conn, BEGIN_WRITE),
        _ => Manager::begin_transaction(conn),
    }
}

fn commit(conn: &mut SqliteConnection) -> QueryResult<()> {
    Manager::commit_transaction(conn)
}

fn roll_back(conn: &mut SqliteConnection) -> QueryResult<()> {
    Manager::rollback_transaction(conn)
}

fn roll_back_to(conn: &mut SqliteConnection, base: u32) -> QueryResult<()> {
    while depth(conn)? > base {
        roll_back(conn)?;
    }
    Ok(())
}
