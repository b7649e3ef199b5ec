//! Both ends of a claimed transaction in one round trip each.
//!
//! The statements go past diesel's transaction manager, which is told before any other code may use the connection.

use diesel::connection::{TransactionDepthChange, TransactionManagerStatus, ValidTransactionManagerStatus};
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::Bool;
use diesel::{OptionalExtension, QueryResult};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::{join, try_join};

use super::texts::{
    ALIVE, COMMIT, LOCK, RENEW_AND_RECORD_OR_FAIL, ROLL_BACK_TO_SAVEPOINT, SAVEPOINT, TEXTS, begin_sql,
};
use super::{complete_new, judge};
use crate::claim::{Claim, Claimed, Fence};
use crate::failpoint::failpoint;
use crate::store::row::{LookRow, LookSql, read_look};
use crate::store::statement::{Bind, Statement};
use crate::store::wire::Wire;
use crate::store::{End, Isolation, address_binds};

/// BEGIN, lock, look and SAVEPOINT in one round trip. Lock and look are two statements: in one, the look would be older
/// than the lock, and miss a row that was committed between them.
pub(super) async fn open(conn: &mut AsyncPgConnection, claim: &Claim, isolation: Isolation) -> QueryResult<Claimed> {
    // Whoever finds the connection while this is under way must not use it.
    conn.status().set_in_error();
    let shared = &*conn;
    let (mut first, mut second, mut third, mut fourth) = (shared, shared, shared, shared);
    let (begun, free, row, saved) = join!(
        Statement::<()>::new(begin_sql(isolation), vec![]).execute(&mut first),
        Statement::<Bool>::new(LOCK, vec![Bind::Int(claim.address.lock())]).get_result::<bool>(&mut second),
        Statement::<LookSql>::new(TEXTS.look, address_binds(&claim.address)).get_result::<LookRow>(&mut third),
        Statement::<()>::new(SAVEPOINT, vec![]).execute(&mut fourth),
    );
    failpoint!("postgres.begun");
    begun?;
    // Known to the transaction manager before any code of the user runs: its own transactions must be savepoints.
    set_depth(conn, 1);
    let judged =
        free.and_then(|free| Ok(judge(claim, free, row.optional()?.map(|row| read_look(&claim.address, row)))));
    match (judged, saved) {
        (Ok(Claimed::Won(fence)), Ok(_)) => {
            set_depth(conn, 2);
            failpoint!("postgres.opened");
            Ok(Claimed::Won(fence))
        }
        (judged, saved) => {
            let rolled_back = conn.roll_back().await;
            let settled = judged?;
            saved?;
            rolled_back?;
            Ok(settled)
        }
    }
}

/// The end statement and COMMIT in one round trip, after a rollback to the savepoint where the writes go.
pub(super) async fn close(conn: &mut AsyncPgConnection, claim: &Claim, fence: Fence, end: End) -> QueryResult<()> {
    conn.status().set_in_error();
    let shared = &*conn;
    let (mut undo, mut complete, mut commit) = (shared, shared, shared);
    let commit = Statement::<()>::new(COMMIT, vec![]).execute(&mut commit);
    failpoint!("postgres.ending");
    let sent = match end {
        End::Commit(stored) => try_join!(complete_new(claim, fence, &stored).execute(&mut complete), commit).map(drop),
        End::Undo(stored) => {
            let undo = Statement::<()>::new(ROLL_BACK_TO_SAVEPOINT, vec![]).execute(&mut undo);
            try_join!(undo, complete_new(claim, fence, &stored).execute(&mut complete), commit).map(drop)
        }
        // COMMIT of a transaction that an error has ended answers Ok, and rolls back: something has to fail before it.
        End::Forget | End::RollBack => {
            try_join!(Statement::<()>::new(ALIVE, vec![]).execute(&mut complete), commit).map(drop)
        }
    };
    failpoint!("postgres.committed");
    match sent {
        Ok(()) => set_depth(conn, 0),
        Err(_) => set_depth(conn, 1),
    }
    sent
}

/// BEGIN and the renewal of the lease in one round trip; false if the fence is not ours any more.
pub(super) async fn open_step(
    conn: &mut AsyncPgConnection,
    isolation: Isolation,
    renew: Statement,
) -> QueryResult<bool> {
    conn.status().set_in_error();
    let shared = &*conn;
    let (mut first, mut second) = (shared, shared);
    let (begun, renewed) = join!(
        Statement::<()>::new(begin_sql(isolation), vec![]).execute(&mut first),
        RunQueryDsl::execute(renew, &mut second),
    );
    begun?;
    set_depth(conn, 1);
    let ours = renewed.map(|renewed| renewed == 1);
    if !matches!(ours, Ok(true)) {
        conn.roll_back().await?;
    }
    ours
}

/// The record of a step and COMMIT in one round trip: without the fence the record fails, and COMMIT rolls back.
pub(super) async fn close_step(conn: &mut AsyncPgConnection, record: Vec<Bind>) -> QueryResult<()> {
    conn.status().set_in_error();
    let shared = &*conn;
    let (mut first, mut second) = (shared, shared);
    failpoint!("postgres.step.ending");
    let sent = try_join!(
        Statement::<()>::new(RENEW_AND_RECORD_OR_FAIL, record).execute(&mut first),
        Statement::<()>::new(COMMIT, vec![]).execute(&mut second),
    );
    failpoint!("postgres.step.committed");
    set_depth(conn, u32::from(sent.is_err()));
    match sent {
        Err(Error::DatabaseError(DatabaseErrorKind::NotNullViolation, _)) => Err(Error::NotFound),
        sent => sent.map(drop),
    }
}

/// Tells the transaction manager what the pipeline, which goes past it, has done.
fn set_depth(conn: &mut AsyncPgConnection, depth: u32) {
    let mut status = ValidTransactionManagerStatus::default();
    for _ in 0..depth {
        // Going deeper cannot fail.
        let _ = status.change_transaction_depth(TransactionDepthChange::IncreaseDepth);
    }
    *conn.status() = TransactionManagerStatus::Valid(status);
}
