//! A claimed transaction one statement after the other: on a caller's connection, and without a statement cache.

use diesel::QueryResult;
use diesel::sql_types::Bool;

use super::texts::LOCK;
use super::{Pipes, begin, complete_new, judge, look, roll_back_to};
use crate::claim::{Claim, Claimed, Fence};
use crate::store::statement::{Bind, Statement};
use crate::store::{End, Level};

/// The same, one statement after the other, on a connection that may be in a transaction already.
pub(super) async fn open(conn: &mut impl Pipes, claim: &Claim, level: Level) -> QueryResult<Claimed> {
    match level {
        Level::Own { isolation, .. } => begin(conn, isolation).await?,
        Level::Nested { .. } => conn.begin().await?,
    }
    let opened = async {
        let lock = Statement::<Bool>::new(LOCK, vec![Bind::Int(claim.address.lock())]);
        let free: Vec<bool> = conn.rows(lock).await?;
        let judged = judge(claim, free == [true], look(conn, &claim.address).await?);
        if let (Claimed::Won(_), Level::Own { .. }) = (&judged, level) {
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
    if let Level::Own { .. } = level {
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
