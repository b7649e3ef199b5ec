//! The verbs on the connection's own thread.

use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::migration::MigrationConnection;
use diesel::sqlite::SqliteConnection;
use diesel::{OptionalExtension, QueryResult, RunQueryDsl};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::texts::{BEGIN_READ, BEGIN_WRITE, CLAIM, PATIENCE, TEXTS, TRIES};
use crate::claim::{Address, Claim, Claimed, Fence, Row, UNSEEN};
use crate::failpoint::failpoint;
use crate::lifetime::Term;
use crate::owner::owner;
use crate::store::row::{LookRow, LookSql, WonSql, read_look};
use crate::store::statement::{Bind, Statement};
use crate::store::{End, Ended, Level, Stored, address_binds, claim_binds, fence_binds, sql, stored_binds, unbalanced};

type Manager = AnsiTransactionManager;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

pub(super) fn migrate(conn: &mut SqliteConnection) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
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
pub(super) enum Opening {
    Alone,
    Within,
}

/// Begins a transaction and claims in it. Unless it was won, the transaction is over again.
pub(super) fn open(conn: &mut SqliteConnection, claim: &Claim, opening: Opening) -> QueryResult<Claimed> {
    conn.batch_execute(PATIENCE)?;
    for _ in 0..TRIES {
        if opening == Opening::Alone {
            // Before the write lock is asked for: a replay does not wait for writers.
            if let Some(settled) = claim.settle(look(conn, &claim.address)?) {
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
                if let Some(settled) = row?.and_then(|row| claim.settle(Some(row))) {
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
pub(super) fn close(
    conn: &mut SqliteConnection,
    address: &Address,
    fence: Fence,
    level: Level,
    end: &End,
) -> QueryResult<Ended> {
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

pub(super) fn finish(
    conn: &mut SqliteConnection,
    address: &Address,
    fence: Fence,
    level: Level,
    end: &End,
) -> QueryResult<()> {
    let under_savepoint = matches!(level, Level::Own(_));
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

pub(super) fn look(conn: &mut SqliteConnection, address: &Address) -> QueryResult<Option<Row>> {
    let look = Statement::<LookSql>::new(TEXTS.look, address_binds(address));
    Ok(look.get_result::<LookRow>(conn).optional()?.map(|row| read_look(address, row)))
}

/// Writes the claim; `None` if the row may not be claimed.
pub(super) fn upsert(conn: &mut SqliteConnection, claim: &Claim) -> QueryResult<Option<Fence>> {
    let owner = owner();
    let won =
        Statement::<WonSql>::new(CLAIM, claim_binds(claim, owner)).get_result::<(i64, i64, i64)>(conn).optional()?;
    Ok(won.map(|(token, generation, attempt)| Fence { owner, token, generation, attempt }))
}

pub(super) fn complete(
    conn: &mut SqliteConnection,
    address: &Address,
    fence: Fence,
    stored: &Stored,
) -> QueryResult<bool> {
    let mut binds = fence_binds(address, fence);
    binds.extend(stored_binds(address, stored));
    Ok(Statement::<()>::new(sql::COMPLETE, binds).execute(conn)? == 1)
}

/// Runs a statement that needs nothing but the fence; false if that is not ours any more.
pub(super) fn fenced(
    conn: &mut SqliteConnection,
    text: &'static str,
    address: &Address,
    fence: Fence,
) -> QueryResult<bool> {
    Ok(Statement::<()>::new(text, fence_binds(address, fence)).execute(conn)? == 1)
}

pub(super) fn renew(conn: &mut SqliteConnection, address: &Address, fence: Fence, lease: Term) -> QueryResult<bool> {
    let mut binds = fence_binds(address, fence);
    binds.push(Bind::Int(lease.millis()));
    Ok(Statement::<()>::new(TEXTS.renew, binds).execute(conn)? == 1)
}

/// Runs one writing statement in a transaction that waits for other writers.
pub(super) fn write<R>(
    conn: &mut SqliteConnection,
    verb: impl FnOnce(&mut SqliteConnection) -> QueryResult<R>,
) -> QueryResult<R> {
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

pub(super) fn depth(conn: &mut SqliteConnection) -> QueryResult<u32> {
    Ok(Manager::transaction_manager_status_mut(conn).transaction_depth()?.map_or(0, u32::from))
}

/// Begins a write transaction, or a savepoint inside the caller's.
pub(super) fn begin_write(conn: &mut SqliteConnection) -> QueryResult<()> {
    match depth(conn)? {
        0 => Manager::begin_transaction_sql(conn, BEGIN_WRITE),
        _ => Manager::begin_transaction(conn),
    }
}

pub(super) fn commit(conn: &mut SqliteConnection) -> QueryResult<()> {
    Manager::commit_transaction(conn)
}

pub(super) fn roll_back(conn: &mut SqliteConnection) -> QueryResult<()> {
    Manager::rollback_transaction(conn)
}

pub(super) fn roll_back_to(conn: &mut SqliteConnection, base: u32) -> QueryResult<()> {
    while depth(conn)? > base {
        roll_back(conn)?;
    }
    Ok(())
}

pub(super) fn begin_read(conn: &mut SqliteConnection) -> QueryResult<()> {
    match depth(conn)? {
        0 => Manager::begin_transaction_sql(conn, BEGIN_READ),
        _ => Manager::begin_transaction(conn),
    }
}

pub(super) fn begin_savepoint(conn: &mut SqliteConnection) -> QueryResult<()> {
    Manager::begin_transaction(conn)
}
