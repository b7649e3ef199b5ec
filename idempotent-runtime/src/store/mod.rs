//! The store: one verb a statement, the same for every database. `sql` has the texts, `statement` the node that
//! carries them, and each backend its driver.

#[cfg(any(feature = "postgres", feature = "mysql"))]
mod direct;
pub(crate) mod fault;
mod row;
mod sql;
pub(crate) mod statement;
mod watch;
pub(crate) mod wire;

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "__nowhere")]
pub(crate) mod nowhere;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use diesel::QueryResult;
use futures_util::future::BoxFuture;

use crate::answer::{Answer, write_headers};
use crate::claim::{Address, Claim, Claimed, Fence, Row, StepRow, Unresolved};
use crate::database::Database;
use crate::lifetime::{Term, Ttl};
use crate::vault::Part;
use statement::{Bind, Statement};

pub(crate) use row::{FoundRow, FoundSql};

/// How strictly `PostgreSQL`, `MySQL` and `MariaDB` keep a transaction from others. `SQLite` has one writer at a time and
/// is always serializable.
///
/// ```
/// use idempotent_runtime::Isolation;
/// assert_eq!(Isolation::default(), Isolation::ReadCommitted);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Each statement sees what was committed before it.
    #[default]
    ReadCommitted,
    /// Each transaction sees what was committed before it.
    RepeatableRead,
    /// As if one transaction ran after the other; those that cannot are run again.
    Serializable,
}

/// A transaction of ours on a connection of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) isolation: Isolation,
    /// Whether the connection caches its statements: then a driver may send several together.
    pub(crate) cached: bool,
    /// How many transactions and savepoints were open before it.
    pub(crate) base: u32,
}

/// Whose transaction a claim lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// One of ours, with the handler under a savepoint.
    Own(Own),
    /// One level deeper on the caller's connection.
    Nested { base: u32 },
}

impl Level {
    /// How many transactions and savepoints were open before ours.
    pub(crate) fn base(self) -> u32 {
        match self {
            Self::Own(Own { base, .. }) | Self::Nested { base } => base,
        }
    }

    /// How many are open while the body runs.
    pub(crate) fn depth_inside(self) -> u32 {
        match self {
            Self::Own(own) => own.base + 2,
            Self::Nested { base } => base + 1,
        }
    }
}

/// What a transaction without a claim will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// How a claimed transaction ends.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// The writes stay; the record holds what is said.
    Commit(Stored),
    /// The writes go; the record stays and holds what is said.
    Undo(Stored),
    /// The writes stay, and there is no record.
    Forget,
    /// Nothing stays.
    RollBack,
}

/// What a completed record holds.
#[derive(Debug, Clone)]
pub(crate) enum Stored {
    Answer(Answer),
    /// It ran, but its answer cannot be given back.
    Tombstone,
}

/// A change of a claim, under its fence.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change<'a> {
    /// It ran, and holds what is said.
    Complete(&'a Stored),
    /// It is given back.
    Release,
    /// It ended without an outcome, and is held.
    Hold,
    /// Its lease begins anew. One that has lapsed, and that nobody took, is revived.
    Renew(Term),
    /// Somebody decided about a held one: with what it did, or given back with all its attempts. Refused if it is not
    /// held any more, or lives again.
    Decide(Option<&'a Stored>),
}

impl Change<'_> {
    /// The statement of this change.
    fn text(self, texts: &sql::Texts) -> &'static str {
        match self {
            Self::Complete(_) => sql::COMPLETE,
            Self::Release => sql::RELEASE,
            Self::Hold => sql::HOLD,
            Self::Renew(_) => texts.renew,
            Self::Decide(Some(_)) => texts.complete_held,
            Self::Decide(None) => texts.release_held,
        }
    }
}

/// What came of ending a claimed transaction.
#[derive(Debug)]
pub(crate) enum Ended {
    Done,
    /// The record was not ours to write, or the transaction not able to commit: everything was rolled back.
    RolledBack(diesel::result::Error),
}

/// The verbs of a backend, over a connection of type `C`. An implementation leaves a connection without an open
/// transaction, or in a state that its pool discards.
pub(crate) trait Driver<C>: Send + Sync {
    /// Claims in a transaction of its own: one statement, one winner.
    fn claim<'c>(&self, conn: &'c mut C, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>>;
    /// Issues a token: a record under which nothing was asked yet, for so long.
    fn issue<'c>(&self, conn: &'c mut C, address: &'c Address, ttl: Ttl) -> BoxFuture<'c, QueryResult<()>>;
    /// Reads a record.
    fn look<'c>(&self, conn: &'c mut C, address: &'c Address) -> BoxFuture<'c, QueryResult<Option<Row>>>;
    /// Changes a claim under its fence; false if that is not ours any more.
    fn change<'c>(
        &self,
        conn: &'c mut C,
        address: &'c Address,
        fence: Fence,
        change: Change<'c>,
    ) -> BoxFuture<'c, QueryResult<bool>>;
    /// Up to `most` claims whose leases are over and that were never ended.
    fn unresolved<'c>(
        &self,
        conn: &'c mut C,
        which: Which<'c>,
        most: i64,
    ) -> BoxFuture<'c, QueryResult<Vec<Unresolved>>>;

    /// The steps that were recorded in this life of a key, in order.
    fn steps<'c>(
        &self,
        conn: &'c mut C,
        address: &'c Address,
        fence: Fence,
    ) -> BoxFuture<'c, QueryResult<Vec<StepRow>>>;
    /// Renews the lease and records a step, both or neither; false if the fence is not ours any more.
    fn record_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
    ) -> BoxFuture<'c, QueryResult<bool>>;
    /// Begins a transaction that holds the lock of the record, and renews its lease. If the fence is not ours any more,
    /// the transaction is over again, and the answer false.
    fn begin_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        own: Own,
    ) -> BoxFuture<'c, QueryResult<bool>>;
    /// Records a step, renews the lease, which may have run out meanwhile, and commits what `begin_step` began.
    fn end_step<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        position: i64,
        step: &'c StepRow,
        own: Own,
    ) -> BoxFuture<'c, QueryResult<Ended>>;

    /// Deletes up to `batch` expired records; says how many.
    fn sweep<'c>(&self, conn: &'c mut C, batch: i64) -> BoxFuture<'c, QueryResult<usize>>;

    /// Begins a transaction and claims in it. Unless it was won, the transaction is over again.
    fn open<'c>(&self, conn: &'c mut C, claim: &'c Claim, level: Level) -> BoxFuture<'c, QueryResult<Claimed>>;
    /// Ends what `open` began.
    fn close<'c>(
        &self,
        conn: &'c mut C,
        claim: &'c Claim,
        fence: Fence,
        level: Level,
        end: End,
    ) -> BoxFuture<'c, QueryResult<Ended>>;

    /// Begins a transaction without a claim: isolated as the session is, unless it is told. Inside an open one it is a
    /// savepoint.
    fn begin<'c>(
        &self,
        conn: &'c mut C,
        access: Access,
        isolation: Option<Isolation>,
    ) -> BoxFuture<'c, QueryResult<()>>;
    /// Ends what `begin` began; rolls back if it cannot commit.
    fn commit<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>>;
    /// Ends what `begin` began, right after a statement of it that went well.
    fn seal<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>>;
    /// Ends what `begin` began.
    fn roll_back<'c>(&self, conn: &'c mut C) -> BoxFuture<'c, QueryResult<()>>;

    /// Runs a statement; says how many rows it changed.
    fn execute<'c>(&self, conn: &'c mut C, statement: Statement) -> BoxFuture<'c, QueryResult<usize>>;
    /// Reads rows of a machine.
    fn found<'c>(&self, conn: &'c mut C, statement: Statement<FoundSql>) -> BoxFuture<'c, QueryResult<Vec<FoundRow>>>;
    /// Whose SQL it is.
    fn database(&self) -> Database;

    /// How many transactions and savepoints are open.
    fn depth(&self, conn: &mut C) -> QueryResult<u32>;
    /// Whether a serialization failure or a deadlock was met since the transaction began.
    fn saw_contention(&self, conn: &mut C) -> bool;
    /// Whether the transaction, which was begun with this isolation, has failed by what may have been contention, unseen.
    fn failed_unseen<'c>(&self, _: &'c mut C, _: Isolation) -> BoxFuture<'c, bool> {
        Box::pin(std::future::ready(false))
    }
    /// Turns the cache of prepared statements off.
    fn without_statement_cache(&self, conn: &mut C);

    /// Brings the tables up to date. Blocks: call it where that is allowed.
    fn migrate(&self, conn: crate::pool::Pooled<C>) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Which unresolved claims are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which<'a> {
    /// Those of a namespace that wait for somebody's decision.
    Held { namespace: &'a str },
    /// The one of this address, if it waits for somebody's decision.
    HeldAt(&'a Address),
    /// Those of an operation that may be taken over, and whose arguments are kept.
    Resumable { namespace: &'a str, operation: &'a str },
}

impl Which<'_> {
    /// The statement that looks for them.
    fn text(&self, texts: &sql::Texts) -> &'static str {
        match self {
            Self::Held { .. } => texts.held,
            Self::HeldAt(_) => texts.held_at,
            Self::Resumable { .. } => texts.resumable,
        }
    }

    fn namespace(&self) -> &str {
        match self {
            Self::Held { namespace } | Self::Resumable { namespace, .. } => namespace,
            Self::HeldAt(address) => &address.namespace,
        }
    }

    /// Binds 1 to 4, whatever the statement uses of them, and 5 the most rows.
    fn binds(&self, most: i64) -> Vec<Bind> {
        let mut binds = match self {
            Self::Held { namespace } => vec![Bind::Text((*namespace).to_owned())],
            Self::Resumable { namespace, operation } => {
                vec![Bind::Text((*namespace).to_owned()), Bind::Text((*operation).to_owned())]
            }
            Self::HeldAt(address) => address_binds(address),
        };
        binds.resize(4, Bind::NoInt);
        binds.push(Bind::Int(most));
        binds
    }
}

/// The driver of a connection type, as [`Connection`](crate::Connection) hands it over.
pub struct DriverOf<C: 'static>(pub(crate) &'static dyn Driver<C>);

impl<C> std::fmt::Debug for DriverOf<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DriverOf")
    }
}

/// Rolls back until a connection is as deep as it was.
pub(crate) async fn roll_back_to<C: Send>(driver: &dyn Driver<C>, conn: &mut C, base: u32) -> QueryResult<()> {
    while driver.depth(conn)? > base {
        driver.roll_back(conn).await?;
    }
    Ok(())
}

/// The error of a body that began a transaction and did not end it, or ended ours.
pub(crate) fn unbalanced() -> diesel::result::Error {
    diesel::result::Error::QueryBuilderError(
        "the function left a transaction open, or ended the one it was given; use `conn.transaction(…)`".into(),
    )
}

fn address_binds(address: &Address) -> Vec<Bind> {
    address.parts().map(|text| Bind::Text(text.to_owned())).into()
}

/// Binds 1 to 11 of the upsert.
fn claim_binds(claim: &Claim, owner: uuid::Uuid) -> Vec<Bind> {
    let Claim { address, fingerprint, ttl, lease, hold, max_attempts, arguments, by: _, known: _ } = claim;
    let mut binds = address_binds(address);
    binds.extend([
        Bind::Bytes(bytes::Bytes::copy_from_slice(fingerprint.as_bytes())),
        Bind::Bytes(bytes::Bytes::copy_from_slice(owner.as_bytes())),
        Bind::Int(lease.millis()),
        Bind::Int(ttl.millis()),
        Bind::Int(i64::from(*hold || *max_attempts == 1)),
        Bind::Int(*max_attempts),
        arguments.clone().map_or(Bind::NoBytes, Bind::Bytes),
    ]);
    binds
}

/// Binds 1 to 7 of an issue.
fn issue_binds(address: &Address, ttl: Ttl) -> Vec<Bind> {
    let mut binds = address_binds(address);
    let (unasked, nobody) = (bytes::Bytes::new(), bytes::Bytes::from_static(&[0; 16]));
    binds.extend([Bind::Bytes(unasked), Bind::Bytes(nobody), Bind::Int(ttl.millis())]);
    binds
}

/// Binds 1 to 6 of a fenced update.
fn fence_binds(address: &Address, fence: Fence) -> Vec<Bind> {
    let mut binds = address_binds(address);
    binds.extend([Bind::Bytes(bytes::Bytes::copy_from_slice(fence.owner.as_bytes())), Bind::Int(fence.token)]);
    binds
}

/// Binds 1 to 8 of a step's record.
fn step_binds(address: &Address, fence: Fence, position: i64, step: &StepRow) -> Vec<Bind> {
    let mut binds = address_binds(address);
    binds.extend([
        Bind::Int(fence.generation),
        Bind::Int(position),
        Bind::Text(step.name.clone()),
        Bind::Bytes(step.value.clone()),
    ]);
    binds
}

/// Binds of a change: the fence, and from 7 on what the change brings.
fn change_binds(address: &Address, fence: Fence, change: Change<'_>) -> Vec<Bind> {
    let mut binds = fence_binds(address, fence);
    match change {
        Change::Complete(stored) | Change::Decide(Some(stored)) => binds.extend(stored_binds(address, stored)),
        Change::Renew(lease) => binds.push(Bind::Int(lease.millis())),
        Change::Release | Change::Hold | Change::Decide(None) => {}
    }
    binds
}

/// Status, headers and body.
fn stored_binds(address: &Address, stored: &Stored) -> [Bind; 3] {
    let Stored::Answer(Answer { status, headers, body }) = stored else { return NOT_STORED };
    let status = i64::from(status.as_u16());
    let headers = address.vault.seal(address, Part::Headers, write_headers(headers).into());
    match (headers, address.vault.seal(address, Part::Body(status), body.clone())) {
        (Ok(headers), Ok(body)) => [Bind::Int(status), Bind::Bytes(headers), Bind::Bytes(body)],
        _ => NOT_STORED,
    }
}

const NOT_STORED: [Bind; 3] = [Bind::NoInt, Bind::NoBytes, Bind::NoBytes];
