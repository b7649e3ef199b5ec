//! `MySQL` and `MariaDB`: the claim row is written first, and completed by its fence. Some errors end the whole
//! transaction there, and a handler that swallows one goes on: autocommit is off for the span, and what ends the
//! transaction asks for something that has gone with it.

mod step;
mod texts;
mod transaction;

use diesel::QueryResult;
use diesel::connection::LoadConnection;
use diesel::migration::MigrationConnection;
use diesel::mysql::Mysql;
use diesel_async::AsyncMysqlConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use step::{begin_step, end_step, record_step};
use texts::{CLAIM, CLAIM_NEW, LOOK_LOCKED, MINE, SWEEP, TEXTS};
use transaction::{begin, begin_unless_held, commit, roll_back, roll_back_to};

use super::direct::{Direct, direct_verbs};
use super::fault::{Fault, classify};
use super::row::read_look;
use super::row::{LookRow, LookSql, WonRow, WonSql};
use super::statement::{Bind, Statement, dialect};
use super::watch::Watch;
use super::wire::{Rows, async_rows, async_wire, depth};
use super::{Access, Driver, End, Ended, Isolation, Level, Own};
use super::{address_binds, claim_binds, fence_binds, sql, stored_binds, unbalanced};
use crate::claim::{Address, By, Claim, Claimed, Fence, Row, StepRow, UNSEEN};
use crate::connection::async_connection;
use crate::database::Database;
use crate::failpoint::failpoint;
use crate::owner::owner;
use crate::pool::Pooled;

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/mysql");

/// How often a claim is tried that lost a race between its look and its write, or met a deadlock of its neighbours.
const TRIES: usize = 20;

dialect!(Mysql);

/// A connection of `MySQL` or `MariaDB`.
trait Claims: Direct + Rows<WonSql, WonRow> {
    /// Brings the tables up to date.
    fn migrate(conn: Pooled<Self>) -> Fallible<()>;
}

async_rows!(AsyncMysqlConnection);
async_wire!(AsyncMysqlConnection);
async_connection!(AsyncMysqlConnection, ClaimFirst);

impl crate::AsyncConnection for AsyncMysqlConnection {}

impl Claims for AsyncMysqlConnection {
    fn migrate(conn: Pooled<Self>) -> Fallible<()> {
        migrate(&mut AsyncConnectionWrapper::<Pooled<Self>>::from(conn))
    }
}

#[cfg(feature = "blocking-mysql")]
mod blocking {
    use diesel::MysqlConnection;

    use super::{ClaimFirst, Claims, Fallible, migrate};
    use crate::connection::blocking_connection;
    use crate::pool::Pooled;
    use crate::store::wire::{blocking_rows, blocking_wire};

    blocking_rows!(MysqlConnection);
    blocking_wire!(MysqlConnection);
    blocking_connection!(MysqlConnection, ClaimFirst);

    impl crate::BlockingConnection for MysqlConnection {}

    impl Claims for MysqlConnection {
        fn migrate(mut conn: Pooled<Self>) -> Fallible<()> {
            migrate(&mut *conn)
        }
    }
}

struct ClaimFirst;

impl<C: Claims> Driver<C> for ClaimFirst {
    direct_verbs!(C);

    fn claim<'c>(&self, conn: &'c mut C, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>> {
        async move {
            let mut known = claim.known || claim.by != By::Key;
            for _ in 0..TRIES {
                if known && let Some(settled) = claim.settle(look(conn, &claim.address).await?) {
                    return Ok(settled);
                }
                let may_be_new = !std::mem::replace(&mut known, true);
                match win(conn, claim, may_be_new).await {
                    Ok(Some(fence)) => return Ok(Claimed::Won(fence)),
                    Ok(None) => {}
                    Err(error) if is_held(&error) => return held(conn, claim).await,
                    // Waiters of one that rolls back can meet each other.
                    Err(error) if classify(&error) == Fault::Contention => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(Claimed::Refused(UNSEEN))
        }
        .boxed()
    }

    fn record_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        record_step(conn, claim, fence, position, step).boxed()
    }

    fn begin_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        own: Own,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        begin_step(conn, claim, fence, own.isolation).boxed()
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
        end_step(conn, claim, fence, position, step, own.base).boxed()
    }

    fn sweep<'c>(&self, conn: &'c mut C, batch: i64) -> BoxFuture<'c, QueryResult<usize>> {
        async move {
            let mut tries = TRIES;
            loop {
                match conn.execute(Statement::new(SWEEP, vec![Bind::Int(batch)])).await {
                    // The index is locked in another order than the rows: sweeps and claims can meet in it.
                    Err(error) if classify(&error) == Fault::Contention && tries > 1 => tries -= 1,
                    swept => return swept,
                }
            }
        }
        .boxed()
    }

    fn open<'c>(&self, conn: &'c mut C, claim: &'c Claim, level: Level) -> BoxFuture<'c, QueryResult<Claimed>> {
        open(conn, claim, level).boxed()
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
            let finished = finish(conn, &claim.address, fence, level, &end).await;
            ended_or_rolled_back(conn, finished, level.base()).await
        }
        .boxed()
    }

    fn begin<'c>(&self, conn: &'c mut C, _: Access, isolation: Option<Isolation>) -> BoxFuture<'c, QueryResult<()>> {
        async move {
            Watch::put_on(conn);
            begin(conn, isolation).await
        }
        .boxed()
    }

    fn commit<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        commit(conn).boxed()
    }

    fn seal<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        commit(conn).boxed()
    }

    fn roll_back<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>> {
        roll_back(conn).boxed()
    }

    fn database(&self) -> Database {
        Database::Mysql
    }

    fn depth(&self, conn: &mut C) -> QueryResult<u32> {
        depth(conn)
    }

    fn saw_contention(&self, conn: &mut C) -> bool {
        Watch::has_seen(conn)
    }

    fn migrate(&self, conn: Pooled<C>) -> Fallible<()> {
        C::migrate(conn)
    }
}

fn migrate<M>(conn: &mut M) -> Fallible<()>
where
    M: MigrationHarness<Mysql> + MigrationConnection<Backend = Mysql> + LoadConnection,
{
    // Two services that start together migrate one after the other. A table is created outside of any transaction
    // there; each statement does nothing where it was done before.
    let lock = diesel::dsl::sql::<diesel::sql_types::Nullable<diesel::sql_types::BigInt>>(
        "GET_LOCK(CONCAT(MD5(DATABASE()), ': idempotency_keys'), 60)",
    );
    let locked: Option<i64> = diesel::RunQueryDsl::get_result(diesel::select(lock), conn)?;
    if locked != Some(1) {
        return Err("another service has been migrating for a minute; look whether it is stuck".into());
    }
    let migrated = conn.setup().map_err(Into::into).and_then(|_| conn.run_pending_migrations(MIGRATIONS).map(drop));
    conn.batch_execute("DO RELEASE_LOCK(CONCAT(MD5(DATABASE()), ': idempotency_keys'))")?;
    migrated
}

/// Whether a claim met a row that an open transaction holds.
fn is_held(error: &diesel::result::Error) -> bool {
    let diesel::result::Error::DatabaseError(_, info) = error else { return false };
    ["Lock wait timeout exceeded", "could not be acquired immediately"].iter().any(|text| info.message().contains(text))
}

/// What a claim is told that met a row which an open transaction holds: another's run, or no more than another's claim of
/// something that has ended.
async fn held(conn: &mut impl Claims, claim: &Claim) -> QueryResult<Claimed> {
    Ok(claim.settle(look(conn, &claim.address).await?).unwrap_or(Claimed::Refused(UNSEEN)))
}

/// Begins a transaction and claims in it. Unless it was won, the transaction is over again.
async fn open(conn: &mut impl Claims, claim: &Claim, level: Level) -> QueryResult<Claimed> {
    let nested = level.base() > 0;
    let mut known = claim.known || claim.by != By::Key;
    for _ in 0..TRIES {
        // Before anything is locked: a replay waits for nobody.
        if known
            && !nested
            && let Some(settled) = claim.settle(look(conn, &claim.address).await?)
        {
            return Ok(settled);
        }
        let may_be_new = !std::mem::replace(&mut known, true) && !nested;
        Watch::put_on(conn);
        let begun = match level {
            Level::Own(own) => begin_unless_held(conn, claim, own.isolation).await,
            Level::Nested { .. } => begin(conn, None).await,
        };
        match begun {
            Err(error) if is_held(&error) => return held(conn, claim).await,
            begun => begun?,
        }
        failpoint!("mysql.begun");
        match win(conn, claim, may_be_new).await {
            Ok(Some(fence)) => {
                failpoint!("mysql.claimed");
                if let Level::Own(_) = level {
                    conn.begin().await?;
                }
                // What a claim met on its way is not what the body meets.
                Watch::put_on(conn);
                return Ok(Claimed::Won(fence));
            }
            Ok(None) => {
                let row = if nested { look_locked(conn, &claim.address).await } else { Ok(None) };
                roll_back_to(conn, level.base()).await?;
                if let Some(settled) = row?.and_then(|row| claim.settle(Some(row))) {
                    return Ok(settled);
                }
            }
            Err(error) => {
                let rolled_back = roll_back_to(conn, level.base()).await;
                if is_held(&error) {
                    rolled_back?;
                    return held(conn, claim).await;
                }
                // Inside the caller's transaction there is nothing left to try again in.
                if nested || classify(&error) != Fault::Contention {
                    return Err(error);
                }
                rolled_back?;
            }
        }
    }
    Ok(Claimed::Refused(UNSEEN))
}

/// Ends the transaction well, or says with an error that it has to be rolled back.
async fn finish(conn: &mut impl Claims, address: &Address, fence: Fence, level: Level, end: &End) -> QueryResult<()> {
    let under_savepoint = matches!(level, Level::Own(_));
    match end {
        End::RollBack => return roll_back_to(conn, level.base()).await,
        End::Undo(_) if under_savepoint => conn.roll_back().await?,
        End::Commit(_) | End::Forget if under_savepoint => conn.commit().await?,
        End::Undo(_) | End::Commit(_) | End::Forget => {}
    }
    failpoint!("mysql.undone");
    let mut binds = fence_binds(address, fence);
    let text = match end {
        End::Commit(stored) | End::Undo(stored) => {
            binds.extend(stored_binds(address, stored));
            sql::COMPLETE
        }
        End::Forget | End::RollBack => sql::RELEASE,
    };
    if !fenced(conn, text, binds).await? {
        return Err(diesel::result::Error::NotFound);
    }
    failpoint!("mysql.completed");
    commit(conn).await?;
    failpoint!("mysql.committed");
    Ok(())
}

/// What an end came to. A connection that is gone says nothing of its transaction.
async fn ended_or_rolled_back(conn: &mut impl Claims, ended: QueryResult<()>, base: u32) -> QueryResult<Ended> {
    match ended {
        Ok(()) => Ok(Ended::Done),
        Err(error) if classify(&error) == Fault::Unavailable => Err(error),
        Err(error) => {
            roll_back_to(conn, base).await?;
            Ok(Ended::RolledBack(error))
        }
    }
}

async fn look(conn: &mut impl Claims, address: &Address) -> QueryResult<Option<Row>> {
    let look = Statement::<LookSql>::new(TEXTS.look, address_binds(address));
    let rows: Vec<LookRow> = conn.rows(look).await?;
    Ok(rows.into_iter().next().map(|row| read_look(address, row)))
}

async fn look_locked(conn: &mut impl Claims, address: &Address) -> QueryResult<Option<Row>> {
    let look = Statement::<LookSql>::new(LOOK_LOCKED, address_binds(address));
    let rows: Vec<LookRow> = conn.rows(look).await?;
    Ok(rows.into_iter().next().map(|row| read_look(address, row)))
}

/// Writes the claim; `None` if the row may not be claimed, or if there is one that was supposed to be new.
async fn win(conn: &mut impl Claims, claim: &Claim, may_be_new: bool) -> QueryResult<Option<Fence>> {
    if may_be_new { insert(conn, claim).await } else { upsert(conn, claim).await }
}

/// Writes the claim where there is no record: then nobody has to be asked who has won.
async fn insert(conn: &mut impl Claims, claim: &Claim) -> QueryResult<Option<Fence>> {
    use diesel::result::{DatabaseErrorKind, Error};
    let owner = owner();
    match conn.execute(Statement::new(CLAIM_NEW, claim_binds(claim, owner))).await {
        Ok(_) => Ok(Some(Fence { owner, token: 1, generation: 1, attempt: 1 })),
        Err(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn upsert(conn: &mut impl Claims, claim: &Claim) -> QueryResult<Option<Fence>> {
    let owner = owner();
    conn.execute(Statement::new(CLAIM, claim_binds(claim, owner))).await?;
    let mut binds = address_binds(&claim.address);
    binds.push(Bind::Bytes(bytes::Bytes::copy_from_slice(owner.as_bytes())));
    let won: Vec<WonRow> = conn.rows(Statement::<WonSql>::new(MINE, binds)).await?;
    Ok(won.into_iter().next().map(|(token, generation, attempt)| Fence { owner, token, generation, attempt }))
}

/// Runs a statement under the fence; false if that is not ours any more.
async fn fenced(conn: &mut impl Claims, text: &'static str, binds: Vec<Bind>) -> QueryResult<bool> {
    Ok(conn.execute(Statement::new(text, binds)).await? == 1)
}
