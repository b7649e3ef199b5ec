//! A claimed transaction one statement after the other: on a caller's connection, and without a statement cache.

use diesel::QueryResult;
use diesel::sql_types::Bool;

use super::texts::{LOCK, RENEW_AND_RECORD};
use super::{Pipes, begin, complete_new, judge, look, roll_back_to};
use crate::claim::{Claim, Claimed, Fence};
use crate::store::statement::{Bind, Statement};
use crate::store::{End, Isolation, Level};

/// The same, one statement after the other, on a connection that may be in a transaction already.
pub(super) async fn open(conn: &mut impl Pipes, claim: &Claim, level: Level) -> QueryResult<Claimed> {
    match level {
        Level::Own(own) => begin(conn, own.isolation).await?,
        Level::Nested { .. } => conn.begin().await?,
    }
    let opened = async {
        let lock = Statement::<Bool>::new(LOCK, vec![Bind::Int(claim.address.lock())]);
        let free: Vec<bool> = conn.rows(lock).await?;
        let judged = judge(claim, free == [true], look(conn, &claim.address).await?);
        if let (Claimed::Won(_), Level::Own(_)) = (&judged, level) {
            conn.begin().await?;
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

/// The same, one statement after the other.
pub(super) async fn close(
    conn: &mut impl Pipes,
    claim: &Claim,
    fence: Fence,
    level: Level,
    end: End,
) -> QueryResult<()> {
    if let Level::Own(_) = level {
        match end {
            End::Undo(_) | End::RollBack => conn.roll_back().await?,
            End::Commit(_) | End::Forget => conn.commit().await?,
        }
    }
    if let End::Commit(stored) | End::Undo(stored) = end {
        conn.execute(complete_new(claim, fence, &stored)).await?;
    }
    conn.commit().await
}

/// BEGIN, and the renewal of the lease; false if the fence is not ours any more.
pub(super) async fn open_step(conn: &mut impl Pipes, isolation: Isolation, renew: Statement) -> QueryResult<bool> {
    begin(conn, isolation).await?;
    let ours = conn.execute(renew).await.map(|renewed| renewed == 1);
    if !matches!(ours, Ok(true)) {
        conn.roll_back().await?;
    }
    ours
}

/// The record of a step, and COMMIT.
pub(super) async fn close_step(conn: &mut impl Pipes, record: Vec<Bind>) -> QueryResult<()> {
    match conn.execute(Statement::new(RENEW_AND_RECORD, record)).await? {
        1 => conn.commit().await,
        _ => Err(diesel::result::Error::NotFound),
    }
}
