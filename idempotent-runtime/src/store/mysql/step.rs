//! The transactions in which steps are recorded: each holds the lock of the record, and renews its lease.

use diesel::QueryResult;

use super::super::statement::Statement;
use super::super::watch::Watch;
use super::super::wire::depth;
use super::super::{Change, Ended, Isolation, change_binds, step_binds, unbalanced};
use super::texts::{RECORD_STEP, TEXTS};
use super::transaction::{begin, commit, roll_back, roll_back_to};
use super::{Claims, ended_or_rolled_back, fenced};
use crate::claim::{Claim, Fence, StepRow};

pub(super) async fn begin_step(
    conn: &mut impl Claims,
    claim: &Claim,
    fence: Fence,
    isolation: Isolation,
) -> QueryResult<bool> {
    Watch::put_on(conn);
    begin(conn, Some(isolation)).await?;
    let ours = renew(conn, claim, fence).await;
    if !matches!(ours, Ok(true)) {
        roll_back(conn).await?;
    }
    ours
}

async fn renew(conn: &mut impl Claims, claim: &Claim, fence: Fence) -> QueryResult<bool> {
    fenced(conn, TEXTS.renew, change_binds(&claim.address, fence, Change::Renew(claim.lease))).await
}

/// Records a step, and commits.
async fn record(conn: &mut impl Claims, claim: &Claim, fence: Fence, position: i64, step: &StepRow) -> QueryResult<()> {
    conn.execute(Statement::new(RECORD_STEP, step_binds(&claim.address, fence, position, step))).await?;
    commit(conn).await
}

pub(super) async fn end_step(
    conn: &mut impl Claims,
    claim: &Claim,
    fence: Fence,
    position: i64,
    step: &StepRow,
    base: u32,
) -> QueryResult<Ended> {
    if depth(conn)? != base + 1 {
        roll_back_to(conn, base).await?;
        return Ok(Ended::RolledBack(unbalanced()));
    }
    let ended = match renew(conn, claim, fence).await {
        Ok(true) => record(conn, claim, fence, position, step).await,
        Ok(false) => Err(diesel::result::Error::NotFound),
        Err(error) => Err(error),
    };
    ended_or_rolled_back(conn, ended, base).await
}

/// Records a step in a transaction of its own; false if the fence is not ours any more.
pub(super) async fn record_step(
    conn: &mut impl Claims,
    claim: &Claim,
    fence: Fence,
    position: i64,
    step: &StepRow,
) -> QueryResult<bool> {
    if !begin_step(conn, claim, fence, Isolation::ReadCommitted).await? {
        return Ok(false);
    }
    let recorded = record(conn, claim, fence, position, step).await;
    match ended_or_rolled_back(conn, recorded, 0).await? {
        Ended::Done => Ok(true),
        Ended::RolledBack(error) => Err(error),
    }
}
