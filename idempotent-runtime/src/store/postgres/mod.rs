//! `PostgreSQL`: a claim inside a transaction takes an advisory lock and looks; its row is written at the end, with the
//! answer, by a statement that fails unless it wrote. Both ends of the transaction are sent in one piece each.

mod claim;
mod pipeline;
mod stepwise;
mod texts;

use diesel::QueryResult;
use diesel::connection::{InTransactionStatus, TransactionManagerStatus, ValidTransactionManagerStatus};
use diesel::migration::MigrationConnection;
use diesel::pg::Pg;
use diesel::sql_types::Bool;
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use texts::{ALIVE, ALIVE_AND_COMMIT, COMPLETE_NEW, COMPLETE_OVER, RENEW_AND_RECORD, SWEEP, TEXTS, begin_sql};

use super::direct::{Direct, direct_verbs};
use super::fault::{Fault, classify};
use super::row::{ClaimRow, ClaimSql, LookRow, LookSql, read_look};
use super::statement::{Bind, Statement, dialect};
use super::watch::Watch;
use super::wire::{Rows, async_rows, async_wire, depth, end_with};
use super::{Access, Change, Driver, End, Ended, Isolation, Level, Own, Stored};
use super::{address_binds, change_binds, claim_binds, step_binds, stored_binds, unbalanced};
use crate::claim::{Address, Claim, Claimed, Fence, Row, StepRow, UNSEEN};
use crate::connection::async_connection;
use crate::database::Database;
use crate::owner::owner;
use crate::pool::Pooled;

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

dialect!(Pg);

/// A connection of `PostgreSQL`: how it sends both ends of a transaction of ours.
trait Pipes: Direct + Rows<ClaimSql, ClaimRow> + Rows<Bool, bool> {
    /// Begins a transaction, claims, and goes under a savepoint.
    fn open(&mut self, claim: &Claim, level: Level) -> impl Future<Output = QueryResult<Claimed>> + Send;
    /// Ends what was won.
    fn close(
        &mut self,
        claim: &Claim,
        fence: Fence,
        level: Level,
        end: End,
    ) -> impl Future<Output = QueryResult<()>> + Send;
    /// Begins the transaction of a step, and renews the lease; false if the fence is not ours any more.
    fn open_step(&mut self, own: Own, renew: Statement) -> impl Future<Output = QueryResult<bool>> + Send;
    /// Records the step, which renews the lease, and commits; an error if the fence is not ours any more.
    fn close_step(&mut self, own: Own, record: Vec<Bind>) -> impl Future<Output = QueryResult<()>> + Send;
    /// Brings the tables up to date.
    fn migrate(conn: Pooled<Self>) -> Fallible<()>;
}

async_rows!(AsyncPgConnection);
async_wire!(AsyncPgConnection);
async_connection!(AsyncPgConnection, Postgres);

impl crate::AsyncConnection for AsyncPgConnection {}

impl Own {
    /// Whether statements may be sent together: none but cached ones keep their order.
    fn is_pipelined(self) -> bool {
        self.cached && self.base == 0
    }
}

/// Sends them in one piece, unless there is something around or nothing is prepared.
impl Pipes for AsyncPgConnection {
    async fn open(&mut self, claim: &Claim, level: Level) -> QueryResult<Claimed> {
        match level {
            Level::Own(own) if own.is_pipelined() => pipeline::open(self, claim, own.isolation).await,
            Level::Own(_) | Level::Nested { .. } => stepwise::open(self, claim, level).await,
        }
    }

    async fn close(&mut self, claim: &Claim, fence: Fence, level: Level, end: End) -> QueryResult<()> {
        match level {
            Level::Own(own) if own.is_pipelined() => pipeline::close(self, claim, fence, end).await,
            Level::Own(_) | Level::Nested { .. } => stepwise::close(self, claim, fence, level, end).await,
        }
    }

    async fn open_step(&mut self, own: Own, renew: Statement) -> QueryResult<bool> {
        match own.is_pipelined() {
            true => pipeline::open_step(self, own.isolation, renew).await,
            false => stepwise::open_step(self, own.isolation, renew).await,
        }
    }

    async fn close_step(&mut self, own: Own, record: Vec<Bind>) -> QueryResult<()> {
        match own.is_pipelined() {
            true => pipeline::close_step(self, record).await,
            false => stepwise::close_step(self, record).await,
        }
    }

    fn migrate(conn: Pooled<Self>) -> Fallible<()> {
        migrate(&mut AsyncConnectionWrapper::<Pooled<Self>>::from(conn))
    }
}

#[cfg(feature = "blocking-postgres")]
mod blocking {
    use diesel::PgConnection;

    use super::{Fallible, Pipes, Postgres, migrate, stepwise};
    use crate::claim::{Claim, Claimed, Fence};
    use crate::connection::blocking_connection;
    use crate::pool::Pooled;
    use crate::store::statement::{Bind, Statement};
    use crate::store::wire::{blocking_rows, blocking_wire};
    use crate::store::{End, Level, Own};
    use diesel::QueryResult;

    blocking_rows!(PgConnection);
    blocking_wire!(PgConnection);
    blocking_connection!(PgConnection, Postgres);

    impl crate::BlockingConnection for PgConnection {}

    impl Pipes for PgConnection {
        async fn open(&mut self, claim: &Claim, level: Level) -> QueryResult<Claimed> {
            stepwise::open(self, claim, level).await
        }

        async fn close(&mut self, claim: &Claim, fence: Fence, level: Level, end: End) -> QueryResult<()> {
            stepwise::close(self, claim, fence, level, end).await
        }

        async fn open_step(&mut self, own: Own, renew: Statement) -> QueryResult<bool> {
            stepwise::open_step(self, own.isolation, renew).await
        }

        async fn close_step(&mut self, _: Own, record: Vec<Bind>) -> QueryResult<()> {
            stepwise::close_step(self, record).await
        }

        fn migrate(mut conn: Pooled<Self>) -> Fallible<()> {
            migrate(&mut *conn)
        }
    }
}

struct Postgres;

impl<C: Pipes> Driver<C> for Postgres {
    direct_verbs!(C);

    fn claim<'c>(&self, conn: &'c mut C, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>> {
        claim::alone(conn, claim).boxed()
    }

    fn record_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        fenced(conn, RENEW_AND_RECORD, renew_and_record(claim, fence, position, step)).boxed()
    }

    fn begin_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        own: Own,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        Watch::put_on(conn);
        let renew = change_binds(&claim.address, fence, Change::Renew(claim.lease));
        conn.open_step(own, Statement::new(TEXTS.renew, renew)).boxed()
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
        async move {
            if depth(conn)? != own.base + 1 {
                roll_back_to(conn, own.base).await?;
                return Ok(Ended::RolledBack(unbalanced()));
            }
            let ended = conn.close_step(own, renew_and_record(claim, fence, position, step)).await;
            ended_or_rolled_back(conn, ended, own.base).await
        }
        .boxed()
    }

    fn sweep<'c>(&self, conn: &'c mut C, batch: i64) -> BoxFuture<'c, QueryResult<usize>> {
        conn.execute(Statement::new(SWEEP, vec![Bind::Int(batch)])).boxed()
    }

    fn open<'c>(&self, conn: &'c mut C, claim: &'c Claim, level: Level) -> BoxFuture<'c, QueryResult<Claimed>> {
        async move {
            Watch::put_on(conn);
            // A replay begins no transaction.
            if let Level::Own { .. } = level
                && claim.known
                && let Some(settled) = claim.settle(look(conn, &claim.address).await?)
            {
                return Ok(settled);
            }
            conn.open(claim, level).await
        }
        .boxed()
    }

    fn close<'c>(
        &self,
        conn: &'c mut C,
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
            let finished = match end {
                End::RollBack => roll_back_to(conn, level.base()).await,
                end => conn.close(claim, fence, level, end).await,
            };
            ended_or_rolled_back(conn, finished, level.base()).await
        }
        .boxed()
    }

    fn begin<'c>(&self, conn: &'c mut C, _: Access, isolation: Option<Isolation>) -> BoxFuture<'c, QueryResult<()>> {
        async move {
            match isolation {
                Some(isolation) => {
                    Watch::put_on(conn);
                    begin(conn, isolation).await
                }
                None => conn.begin().await,
            }
        }
        .boxed()
    }

    fn commit<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        commit(conn).boxed()
    }

    fn seal<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        conn.commit().boxed()
    }

    fn roll_back<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        conn.roll_back().boxed()
    }

    fn database(&self) -> Database {
        Database::Postgres
    }

    fn depth(&self, conn: &mut C) -> QueryResult<u32> {
        depth(conn)
    }

    fn saw_contention(&self, conn: &mut C) -> bool {
        let doomed = matches!(
            conn.status(),
            TransactionManagerStatus::Valid(ValidTransactionManagerStatus {
                in_transaction: Some(InTransactionStatus { requires_rollback_maybe_up_to_top_level: true, .. }),
                ..
            })
        );
        doomed || Watch::has_seen(conn)
    }

    /// The error of a statement that returns rows comes with its rows, past any instrumentation. What it was the server
    /// does not tell a second time. Where transactions must be prepared for serialization failures it may have been one.
    fn failed_unseen<'c>(&self, conn: &'c mut C, isolation: Isolation) -> BoxFuture<'c, bool> {
        async move {
            isolation != Isolation::ReadCommitted
                && !Watch::has_seen_error(conn)
                && conn.execute(Statement::new(ALIVE, vec![])).await.is_err()
        }
        .boxed()
    }

    fn migrate(&self, conn: Pooled<C>) -> Fallible<()> {
        C::migrate(conn)
    }
}

fn migrate<M: MigrationHarness<Pg> + MigrationConnection<Backend = Pg>>(conn: &mut M) -> Fallible<()> {
    conn.transaction(|conn| {
        // Two services that start together migrate one after the other.
        conn.batch_execute("SELECT pg_advisory_xact_lock(hashtext('idempotency_keys: migrations'))")?;
        conn.setup()?;
        conn.run_pending_migrations(MIGRATIONS).map(drop)
    })
}

/// Runs a statement under the fence; false if that is not ours any more.
async fn fenced(conn: &mut impl Pipes, text: &'static str, binds: Vec<Bind>) -> QueryResult<bool> {
    Ok(conn.execute(Statement::new(text, binds)).await? == 1)
}

/// Binds 1 to 11 of a record that renews.
fn renew_and_record(claim: &Claim, fence: Fence, position: i64, step: &StepRow) -> Vec<Bind> {
    let mut binds = change_binds(&claim.address, fence, Change::Renew(claim.lease));
    binds.extend(step_binds(&claim.address, fence, position, step).split_off(4));
    binds
}

async fn look(conn: &mut impl Pipes, address: &Address) -> QueryResult<Option<Row>> {
    let look = Statement::<LookSql>::new(TEXTS.look, address_binds(address));
    let rows: Vec<LookRow> = conn.rows(look).await?;
    Ok(rows.into_iter().next().map(|row| read_look(address, row)))
}

/// What a look and a lock say together. The look is judged first: concurrent replays fail the lock.
fn judge(claim: &Claim, free: bool, row: Option<Row>) -> Claimed {
    let stood = i64::from(row.is_some());
    match claim.settle(row) {
        Some(settled) => settled,
        None if !free => Claimed::Refused(UNSEEN),
        // The row is written at the end, and finds its own token. Till then it says whether there was one.
        None => Claimed::Won(Fence { owner: owner(), token: stood, generation: 0, attempt: 1 }),
    }
}

fn complete_new(claim: &Claim, fence: Fence, stored: &Stored) -> Statement {
    let mut binds = claim_binds(claim, fence.owner);
    binds.truncate(8);
    binds.extend(stored_binds(&claim.address, stored));
    Statement::new(if fence.token == 0 { COMPLETE_NEW } else { COMPLETE_OVER }, binds)
}

async fn begin(conn: &mut impl Pipes, isolation: Isolation) -> QueryResult<()> {
    match depth(conn)? {
        0 => conn.begin_with(begin_sql(isolation)).await,
        _ => conn.begin().await,
    }
}

/// Ends what `begin` began. COMMIT of a transaction that an error has ended answers Ok, and rolls back: something has to
/// fail before it, in the same round trip.
async fn commit(conn: &mut impl Pipes) -> QueryResult<()> {
    if depth(conn)? != 1 {
        // Releasing a savepoint fails by itself there.
        return conn.commit().await;
    }
    end_with(conn, ALIVE_AND_COMMIT, "ROLLBACK").await
}

/// What did not end well is rolled back, unless the connection is gone.
async fn ended_or_rolled_back(conn: &mut impl Pipes, ended: QueryResult<()>, base: u32) -> QueryResult<Ended> {
    match ended {
        Ok(()) => Ok(Ended::Done),
        Err(error) if classify(&error) == Fault::Unavailable => Err(error),
        Err(error) => {
            roll_back_to(conn, base).await?;
            Ok(Ended::RolledBack(error))
        }
    }
}

async fn roll_back_to(conn: &mut impl Pipes, base: u32) -> QueryResult<()> {
    while depth(conn)? > base {
        conn.roll_back().await?;
    }
    Ok(())
}
