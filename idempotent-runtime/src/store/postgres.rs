//! PostgreSQL: a claim inside a transaction takes an advisory lock and looks; its row is written at the end, with the
//! answer, by a statement that fails unless it wrote. Both ends of the transaction are sent in one piece each.

use diesel::connection::{
    InTransactionStatus, TransactionDepthChange, TransactionManagerStatus, ValidTransactionManagerStatus,
};
use diesel::pg::Pg;
use diesel::sql_types::Bool;
use diesel::{OptionalExtension, QueryResult};
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::{AnsiTransactionManager, AsyncConnection, AsyncPgConnection, RunQueryDsl, TransactionManager};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, join, try_join};
use uuid::Uuid;

use super::fault::{Fault, classify};
use super::row::{ClaimRow, ClaimSql, FOUND, LookRow, LookSql, WON, read_found, read_look};
use super::statement::{Bind, Statement, dialect};
use super::watch::Watch;
use super::{Access, Driver, DriverOf, End, Ended, Isolation, Level, Stored};
use super::{address_binds, claim_binds, depth, fence_binds, sql, stored_binds, unbalanced};
use crate::claim::{Address, Claim, Claimed, Fence, Row, UNSEEN};
use crate::pool::Pooled;

type Manager = AnsiTransactionManager;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// How often a leased claim is tried that lost a race between its look and its write.
const TRIES: usize = 10;

macro_rules! clock {
    () => {
        "clock AS MATERIALIZED (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now)"
    };
}

const LOOK: &str = concat!(
    "SELECT ",
    sql::columns!("(extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
    " FROM idempotency_keys AS t WHERE ",
    sql::addressed!()
);

/// Look, lock and claim in one statement: what may not be claimed is found and not touched; what nobody holds open is
/// claimed. Bind 11 is the lock. No row at all says that the look was overtaken.
const CLAIM: &str = concat!(
    "WITH ",
    clock!(),
    ", ",
    "found AS MATERIALIZED (SELECT ",
    sql::columns!("clock.now"),
    " FROM idempotency_keys AS t, clock WHERE ",
    sql::addressed!(),
    " AND NOT ",
    sql::claimable!("clock.now", "?5"),
    "), ",
    "gate AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(?11) AS free WHERE NOT EXISTS (SELECT FROM found)), ",
    "won AS (",
    sql::upsert_claim!("clock, gate WHERE gate.free"),
    ") ",
    "SELECT 1::bigint, token, 0::bigint, NULL::bytea, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, ",
    "NULL::bigint, NULL::bytea, NULL::bytea FROM won ",
    "UNION ALL SELECT 0, 0, found.* FROM found ",
    "UNION ALL SELECT 2, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM gate WHERE NOT gate.free"
);

const LOCK: &str = "SELECT pg_try_advisory_xact_lock(?1)";
/// Named as diesel names the savepoint of its second level, which it stands for.
const SAVEPOINT: &str = "SAVEPOINT diesel_savepoint_1";
const ROLL_BACK_TO_SAVEPOINT: &str = "ROLLBACK TO SAVEPOINT diesel_savepoint_1";
/// A prepared statement, so that it queues behind the end statement even while that one is being prepared.
const COMMIT: &str = "COMMIT";

/// Writes the completed row, or fails with a division by zero, so that the COMMIT behind it rolls back.
/// Binds 1 to 10 as for a claim, then status, headers, body.
const COMPLETE_NEW: &str = concat!(
    "WITH ",
    clock!(),
    ", won AS (INSERT INTO idempotency_keys AS t (namespace, operation, scope, key, fingerprint, ",
    "state, held, owner, token, attempts, lease_until, created_at, expires_at, status, headers, body) ",
    "SELECT ?1, ?2, ?3, ?4, ?5, 1, 0, ?6, 1, 1, clock.now + ?7, clock.now, clock.now + ?8, ?9, ?10, ?11 FROM clock ",
    "ON CONFLICT (namespace, operation, scope, key) DO UPDATE SET fingerprint = excluded.fingerprint, state = 1, ",
    "held = 0, owner = excluded.owner, token = t.token + 1, attempts = 1, lease_until = excluded.lease_until, ",
    "created_at = excluded.created_at, expires_at = excluded.expires_at, status = excluded.status, ",
    "headers = excluded.headers, body = excluded.body WHERE ",
    sql::claimable!("excluded.created_at", "excluded.fingerprint"),
    " RETURNING 1) SELECT 1 / count(*) FROM won"
);

const SWEEP: &str = concat!(
    "DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(SELECT t.ctid FROM idempotency_keys AS t WHERE ",
    sql::sweepable!("(extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
    " ORDER BY t.expires_at LIMIT ?1 FOR UPDATE SKIP LOCKED))"
);

dialect!(Pg);

impl crate::Connection for AsyncPgConnection {
    fn driver() -> DriverOf<Self> {
        DriverOf(&Pipelining)
    }
}

struct Pipelining;

impl Driver<AsyncPgConnection> for Pipelining {
    fn claim<'c>(&self, conn: &'c mut AsyncPgConnection, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>> {
        claim_alone(conn, claim).boxed()
    }

    fn look<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        address: &'c Address,
    ) -> BoxFuture<'c, QueryResult<Option<Row>>> {
        look(conn, address).boxed()
    }

    fn complete<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        address: &'c Address,
        fence: Fence,
        stored: &'c Stored,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let mut binds = fence_binds(address, fence);
        binds.extend(stored_binds(stored));
        async move { Ok(Statement::<()>::new(sql::COMPLETE, binds).execute(conn).await? == 1) }.boxed()
    }

    fn release<'c>(
        &self,
        conn: &'c mut AsyncPgConnection,
        address: &'c Address,
        fence: Fence,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        let binds = fence_binds(address, fence);
        async move { Ok(Statement::<()>::new(sql::RELEASE, binds).execute(conn).await? == 1) }.boxed()
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
            watch(conn);
            match level {
                Level::Own { isolation, pipelined: true, base: 0 } => open_pipelined(conn, claim, isolation).await,
                Level::Own { .. } | Level::Nested { .. } => open_stepwise(conn, claim, level).await,
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
                (Level::Own { pipelined: true, base: 0, .. }, end) => close_pipelined(conn, claim, fence, end).await,
                (_, end) => close_stepwise(conn, claim, fence, level, end).await,
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
        isolation: Isolation,
    ) -> BoxFuture<'c, QueryResult<()>> {
        async move {
            watch(conn);
            begin(conn, isolation).await
        }
        .boxed()
    }

    fn commit<'c>(&self, conn: &'c mut AsyncPgConnection) -> BoxFuture<'c, QueryResult<()>> {
        Manager::commit_transaction(conn).boxed()
    }

    fn roll_back<'c>(&self, conn: &'c mut AsyncPgConnection) -> BoxFuture<'c, QueryResult<()>> {
        Manager::rollback_transaction(conn).boxed()
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
        doomed || conn.instrumentation().downcast_ref::<Watch>().is_some_and(Watch::saw_contention)
    }

    fn without_statement_cache(&self, conn: &mut AsyncPgConnection) {
        conn.set_prepared_statement_cache_size(diesel::connection::CacheSize::Disabled);
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

/// Puts the watch on a connection, where it takes nothing away, and makes it forget.
fn watch(conn: &mut AsyncPgConnection) {
    if let Some(watch) = conn.instrumentation().downcast_mut::<Watch>() {
        watch.reset();
        return;
    }
    let watch = Watch::new();
    if watch.may_replace(conn.instrumentation()) {
        conn.set_instrumentation(watch);
    }
}

async fn claim_alone(conn: &mut AsyncPgConnection, claim: &Claim) -> QueryResult<Claimed> {
    for _ in 0..TRIES {
        let owner = Uuid::new_v4();
        let mut binds = claim_binds(claim, owner);
        binds.push(Bind::Int(claim.address.lock()));
        let rows = Statement::<ClaimSql>::new(CLAIM, binds).load::<ClaimRow>(conn).await?;
        let Some(row) = rows.into_iter().next() else { continue };
        match row.0 {
            WON => return Ok(Claimed::Won(Fence { owner, token: row.1 })),
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
    let look = Statement::<LookSql>::new(LOOK, address_binds(address));
    Ok(look.get_result::<LookRow>(conn).await.optional()?.map(read_look))
}

/// What a look and a lock say together. The look is judged first: concurrent replays fail the lock.
fn judge(claim: &Claim, free: bool, row: Option<Row>) -> Claimed {
    match row.and_then(|row| row.settle(claim.fingerprint)) {
        Some(settled) => settled,
        None if !free => Claimed::Refused(UNSEEN),
        None => Claimed::Won(Fence { owner: Uuid::new_v4(), token: 0 }),
    }
}

/// BEGIN, lock, look and SAVEPOINT in one round trip. Lock and look are two statements: in one, the look would be older
/// than the lock, and miss a row that was committed between them.
async fn open_pipelined(conn: &mut AsyncPgConnection, claim: &Claim, isolation: Isolation) -> QueryResult<Claimed> {
    // Whoever finds the connection while this is under way must not use it.
    Manager::transaction_manager_status_mut(conn).set_in_error();
    let shared = &*conn;
    let (mut begin, mut lock, mut look, mut savepoint) = (shared, shared, shared, shared);
    let (begun, free, row, saved) = join!(
        Statement::<()>::new(begin_sql(isolation), vec![]).execute(&mut begin),
        Statement::<Bool>::new(LOCK, vec![Bind::Int(claim.address.lock())]).get_result::<bool>(&mut lock),
        Statement::<LookSql>::new(LOOK, address_binds(&claim.address)).get_result::<LookRow>(&mut look),
        Statement::<()>::new(SAVEPOINT, vec![]).execute(&mut savepoint),
    );
    begun?;
    // Known to the transaction manager before any code of the user runs: its own transactions must be savepoints.
    set_depth(conn, 1);
    let judged = free.and_then(|free| Ok(judge(claim, free, row.optional()?.map(read_look))));
    match (judged, saved) {
        (Ok(Claimed::Won(fence)), Ok(_)) => {
            set_depth(conn, 2);
            Ok(Claimed::Won(fence))
        }
        (judged, saved) => {
            let rolled_back = Manager::rollback_transaction(conn).await;
            let settled = judged?;
            saved?;
            rolled_back?;
            Ok(settled)
        }
    }
}

/// The same, one statement after the other, on a connection that may be in a transaction already.
async fn open_stepwise(conn: &mut AsyncPgConnection, claim: &Claim, level: Level) -> QueryResult<Claimed> {
    match level {
        Level::Own { isolation, .. } => begin(conn, isolation).await?,
        Level::Nested { .. } => Manager::begin_transaction(conn).await?,
    }
    let opened = async {
        let lock = Statement::<Bool>::new(LOCK, vec![Bind::Int(claim.address.lock())]);
        let free = lock.get_result::<bool>(conn).await?;
        let judged = judge(claim, free, look(conn, &claim.address).await?);
        if let (Claimed::Won(_), Level::Own { .. }) = (&judged, level) {
            Manager::begin_transaction(conn).await?;
        }
        Ok(judged)
    }
    .await;
    if !matches!(opened, Ok(Claimed::Won(_))) {
        let rolled_back = roll_back_to(conn, level.base()).await;
        let settled = opened?;
        rolled_back?;
        return Ok(settled);
    }
    opened
}

/// The end statement and COMMIT in one round trip, after a rollback to the savepoint where the writes go.
async fn close_pipelined(conn: &mut AsyncPgConnection, claim: &Claim, fence: Fence, end: End) -> QueryResult<()> {
    Manager::transaction_manager_status_mut(conn).set_in_error();
    let shared = &*conn;
    let (mut undo, mut complete, mut commit) = (shared, shared, shared);
    let commit = Statement::<()>::new(COMMIT, vec![]).execute(&mut commit);
    let sent = match end {
        End::Commit(stored) => try_join!(complete_new(claim, fence, &stored).execute(&mut complete), commit).map(drop),
        End::Undo(stored) => {
            let undo = Statement::<()>::new(ROLL_BACK_TO_SAVEPOINT, vec![]).execute(&mut undo);
            try_join!(undo, complete_new(claim, fence, &stored).execute(&mut complete), commit).map(drop)
        }
        End::Forget | End::RollBack => commit.await.map(drop),
    };
    match sent {
        Ok(()) => set_depth(conn, 0),
        Err(_) => set_depth(conn, 1),
    }
    sent
}

/// The same, one statement after the other.
async fn close_stepwise(
    conn: &mut AsyncPgConnection,
    claim: &Claim,
    fence: Fence,
    level: Level,
    end: End,
) -> QueryResult<()> {
    if let Level::Own { .. } = level {
        match end {
            End::Undo(_) | End::RollBack => Manager::rollback_transaction(conn).await?,
            End::Commit(_) | End::Forget => Manager::commit_transaction(conn).await?,
        }
    }
    if let End::Commit(stored) | End::Undo(stored) = end {
        complete_new(claim, fence, &stored).execute(conn).await?;
    }
    Manager::commit_transaction(conn).await
}

fn complete_new(claim: &Claim, fence: Fence, stored: &Stored) -> Statement {
    let mut binds = claim_binds(claim, fence.owner);
    binds.truncate(8);
    binds.extend(stored_binds(stored));
    Statement::new(COMPLETE_NEW, binds)
}

const fn begin_sql(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "BEGIN ISOLATION LEVEL READ COMMITTED",
        Isolation::RepeatableRead => "BEGIN ISOLATION LEVEL REPEATABLE READ",
        Isolation::Serializable => "BEGIN ISOLATION LEVEL SERIALIZABLE",
    }
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

/// Tells the transaction manager what the pipeline, which goes past it, has done.
fn set_depth(conn: &mut AsyncPgConnection, depth: u32) {
    let mut status = ValidTransactionManagerStatus::default();
    for _ in 0..depth {
        // Going deeper cannot fail.
        let _ = status.change_transaction_depth(TransactionDepthChange::IncreaseDepth);
    }
    *Manager::transaction_manager_status_mut(conn) = TransactionManagerStatus::Valid(status);
}
