//! `PostgreSQL`: a claim inside a transaction takes an advisory lock and looks; its row is written at the end, with the
//! answer, by a statement that fails unless it wrote. Both ends of the transaction are sent in one piece each.

mod pipeline;
mod stepwise;
mod texts;

use diesel::connection::{InTransactionStatus, TransactionManagerStatus, ValidTransactionManagerStatus};
use diesel::pg::Pg;
use diesel::{OptionalExtension, QueryResult};
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::{AnsiTransactionManager, AsyncConnection, AsyncPgConnection, RunQueryDsl, TransactionManager};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use uuid::Uuid;

use texts::{ALIVE, CLAIM, COMPLETE_NEW, RENEW_AND_RECORD, SWEEP, TEXTS, begin_sql};

use super::direct::direct_verbs;
use super::fault::{Fault, classify};
use super::row::{ClaimRow, ClaimSql, FOUND, LookRow, LookSql, WON};
use super::row::{read_found, read_look};
use super::statement::{Bind, Statement, dialect};
use super::watch::Watch;
use super::{Access, Change, Driver, DriverOf, End, Ended, Isolation, Level, Stored};
use super::{address_binds, change_binds, claim_binds, depth, sql, step_binds, stored_binds, unbalanced};
use crate::claim::{Address, Claim, Claimed, Fence, Row, StepRow, UNSEEN};
use crate::database::Database;
use crate::pool::Pooled;

type Manager = AnsiTransactionManager;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// How often a leased claim is tried that lost a race between its look and its write.
const TRIES: usize = 10;

dialect!(Pg);

impl crate::Connection for AsyncPgConnection {
    fn driver() -> DriverOf<Self> {
        DriverOf(&Pipelining)
    }
}

struct Pipelining;

impl Driver<AsyncPgConnection> for Pipelining {
    direct_verbs!(AsyncPgConnection);

    fn claim<'c>(&self, conn: &'c mut AsyncPgConnection, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>> {
        claim_alone(conn, claim).boxed()
    }

    fn record_step<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let mut binds = change_binds(&claim.address, fence, Change::Renew(claim.lease));
        binds.extend(step_binds(&claim.address, fence, position, step).split_off(4));
        fenced(conn, RENEW_AND_RECORD, binds).boxed()
    }

    fn begin_step<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        claim: &'c Claim,
        fence: Fence,
        isolation: Isolation,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        async move {
            Watch::put_on(conn);
            begin(conn, isolation).await?;
            let ours = fenced(conn, TEXTS.renew, change_binds(&claim.address, fence, Change::Renew(claim.lease))).await;
            if !matches!(ours, Ok(true)) {
                Manager::rollback_transaction(conn).await?;
            }
            ours
        }
        .boxed()
    }

    fn end_step<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
        base: u32,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        async move {
            if depth(conn)? != base + 1 {
                roll_back_to(conn, base).await?;
                return Ok(Ended::RolledBack(unbalanced()));
            }
            let binds = step_binds(&claim.address, fence, position, step);
            let ended = match Statement::<()>::new(sql::RECORD_STEP, binds).execute(conn).await {
                Ok(_) => Manager::commit_transaction(conn).await,
                Err(error) => Err(error),
            };
            match ended {
                Ok(()) => Ok(Ended::Done),
                Err(error) if classify(&error) == Fault::Unavailable => Err(error),
                Err(error) => {
                    roll_back_to(conn, base).await?;
                    Ok(Ended::RolledBack(error))
                }
            }
        }
        .boxed()
    }

    fn sweep<'c>(&self, conn: &'c mut AsyncPgConnection, batch: i64) -> BoxFuture<'c, QueryResult<usize>> {
        async move { Statement::<()>::new(SWEEP, vec![Bind::Int(batch)]).execute(conn).await }.boxed()
    }

    fn open<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        claim: &'c Claim,
        level: Level,
    ) -> BoxFuture<'c, QueryResult<Claimed>> {
        async move {
            Watch::put_on(conn);
            match level {
                Level::Own { isolation, pipelined: true, base: 0 } => pipeline::open(conn, claim, isolation).await,
                Level::Own { .. } | Level::Nested { .. } => stepwise::open(conn, claim, level).await,
            }
        }
        .boxed()
    }

    fn close<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        claim: &'c Claim,
        fence: Fence,
        level: Level,
        end: End,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        async move {
            if depth(conn)? != level.depth_inside() {
                roll_back_to(conn, level.base()).await?;
                return Ok(Ended::RolledBack(unbalanced()));
            }
            let finished = match (level, end) {
                (_, End::RollBack) => roll_back_to(conn, level.base()).await,
                (Level::Own { pipelined: true, base: 0, .. }, end) => pipeline::close(conn, claim, fence, end).await,
                (_, end) => stepwise::close(conn, claim, fence, level, end).await,
            };
            match finished {
                Ok(()) => Ok(Ended::Done),
                Err(error) if classify(&error) == Fault::Unavailable => Err(error),
                Err(error) => {
                    roll_back_to(conn, level.base()).await?;
                    Ok(Ended::RolledBack(error))
                }
            }
        }
        .boxed()
    }

    fn begin<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        _: Access,
        isolation: Option<Isolation>,
    ) -> BoxFuture<'c, QueryResult<()>> {
        async move {
            match isolation {
                Some(isolation) => {
                    Watch::put_on(conn);
                    begin(conn, isolation).await
                }
                None => Manager::begin_transaction(conn).await,
            }
        }
        .boxed()
    }

    fn commit<'c>(&self, conn: &'c mut AsyncPgConnection) -> BoxFuture<'c, QueryResult<()>> {
        async move {
            // COMMIT of a transaction that an error has ended answers Ok, and rolls back.
            if let Err(error) = Statement::<()>::new(ALIVE, vec![]).execute(conn).await {
                Manager::rollback_transaction(conn).await?;
                return Err(error);
            }
            Manager::commit_transaction(conn).await
        }
        .boxed()
    }

    fn seal<'c>(&self, conn: &'c mut AsyncPgConnection) -> BoxFuture<'c, QueryResult<()>> {
        Manager::commit_transaction(conn).boxed()
    }

    fn roll_back<'c>(&self, conn: &'c mut AsyncPgConnection) -> BoxFuture<'c, QueryResult<()>> {
        Manager::rollback_transaction(conn).boxed()
    }

    fn database(&self) -> Database {
        Database::Postgres
    }

    fn depth(&self, conn: &mut AsyncPgConnection) -> QueryResult<u32> {
        depth(conn)
    }

    fn saw_contention(&self, conn: &mut AsyncPgConnection) -> bool {
        let doomed = matches!(
            Manager::transaction_manager_status_mut(conn),
            TransactionManagerStatus::Valid(ValidTransactionManagerStatus {
                in_transaction: Some(InTransactionStatus { requires_rollback_maybe_up_to_top_level: true, .. }),
                ..
            })
        );
        doomed || Watch::has_seen(conn)
    }

    fn migrate(&self, conn: Pooled<AsyncPgConnection>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        use diesel::connection::SimpleConnection as _;
        use diesel::migration::MigrationConnection as _;

        let mut blocking = AsyncConnectionWrapper::<Pooled<AsyncPgConnection>>::from(conn);
        diesel::Connection::transaction(&mut blocking, |blocking| {
            // Two services that start together migrate one after the other.
            blocking.batch_execute("SELECT pg_advisory_xact_lock(hashtext('idempotency_keys: migrations'))")?;
            blocking.setup()?;
            blocking.run_pending_migrations(MIGRATIONS).map(drop)
        })
    }
}

/// Runs a statement under the fence; false if that is not ours any more.
async fn fenced(conn: &mut AsyncPgConnection, text: &'static str, binds: Vec<Bind>) -> QueryResult<bool> {
    Ok(Statement::<()>::new(text, binds).execute(conn).await? == 1)
}

async fn claim_alone(conn: &mut AsyncPgConnection, claim: &Claim) -> QueryResult<Claimed> {
    for _ in 0..TRIES {
        let owner = Uuid::new_v4();
        let mut binds = claim_binds(claim, owner);
        binds.push(Bind::Int(claim.address.lock()));
        let rows = Statement::<ClaimSql>::new(CLAIM, binds).load::<ClaimRow>(conn).await?;
        let Some(row) = rows.into_iter().next() else { continue };
        match row.0 {
            WON => return Ok(Claimed::Won(Fence { owner, token: row.1, generation: row.2, attempt: row.3 })),
            FOUND => {
                if let Some(settled) = read_found(row).and_then(|row| row.settle(claim.fingerprint)) {
                    return Ok(settled);
                }
            }
            // Somebody holds the lock: a transaction whose row cannot be seen yet.
            _ => return Ok(Claimed::Refused(UNSEEN)),
        }
    }
    Ok(Claimed::Refused(UNSEEN))
}

async fn look(conn: &mut AsyncPgConnection, address: &Address) -> QueryResult<Option<Row>> {
    let look = Statement::<LookSql>::new(TEXTS.look, address_binds(address));
    Ok(look.get_result::<LookRow>(conn).await.optional()?.map(read_look))
}

/// What a look and a lock say together. The look is judged first: concurrent replays fail the lock.
fn judge(claim: &Claim, free: bool, row: Option<Row>) -> Claimed {
    match row.and_then(|row| row.settle(claim.fingerprint)) {
        Some(settled) => settled,
        None if !free => Claimed::Refused(UNSEEN),
        // The row is written at the end, and finds its own token.
        None => Claimed::Won(Fence { owner: Uuid::new_v4(), token: 0, generation: 0, attempt: 1 }),
    }
}

fn complete_new(claim: &Claim, fence: Fence, stored: &Stored) -> Statement {
    let mut binds = claim_binds(claim, fence.owner);
    binds.truncate(8);
    binds.extend(stored_binds(stored));
    Statement::new(COMPLETE_NEW, binds)
}

async fn begin(conn: &mut AsyncPgConnection, isolation: Isolation) -> QueryResult<()> {
    match depth(conn)? {
        0 => Manager::begin_transaction_sql(conn, begin_sql(isolation)).await,
        _ => Manager::begin_transaction(conn).await,
    }
}

async fn roll_back_to(conn: &mut AsyncPgConnection, base: u32) -> QueryResult<()> {
    while depth(conn)? > base {
        Manager::rollback_transaction(conn).await?;
    }
    Ok(())
}
