//! A claim in a transaction of its own.

use diesel::QueryResult;
use uuid::Uuid;

use super::texts::{CLAIM, CLAIM_NEW};
use super::{Pipes, look};
use crate::claim::{By, Claim, Claimed, Fence, UNSEEN};
use crate::owner::owner;
use crate::store::claim_binds;
use crate::store::row::{ClaimRow, ClaimSql, FOUND, WON, read_found};
use crate::store::statement::{Bind, Statement};

/// How often a leased claim is tried that lost a race between its look and its write.
const TRIES: usize = 10;

/// Claims what has no record by a plain INSERT, asks a record by a plain look, and leaves the rest to the statement that
/// does both and takes over. Planning that takes a server longer than running it.
pub(super) async fn alone(conn: &mut impl Pipes, claim: &Claim) -> QueryResult<Claimed> {
    // No row is written for a token that was never issued, or over one whose time is over.
    if !claim.known && claim.by == By::Key {
        let owner = owner();
        if conn.execute(Statement::new(CLAIM_NEW, lock_and_claim_binds(claim, owner))).await? == 1 {
            return Ok(Claimed::Won(Fence { owner, token: 1, generation: 1, attempt: 1 }));
        }
    }
    if let Some(settled) = claim.settle(look(conn, &claim.address).await?) {
        return Ok(settled);
    }
    for _ in 0..TRIES {
        let owner = owner();
        let binds = lock_and_claim_binds(claim, owner);
        let rows: Vec<ClaimRow> = conn.rows(Statement::<ClaimSql>::new(CLAIM, binds)).await?;
        let Some(row) = rows.into_iter().next() else { continue };
        match row.0 {
            WON => return Ok(Claimed::Won(Fence { owner, token: row.1, generation: row.2, attempt: row.3 })),
            FOUND => {
                if let Some(settled) = read_found(&claim.address, row).and_then(|row| claim.settle(Some(row))) {
                    return Ok(settled);
                }
            }
            // Somebody holds the lock: a transaction whose row cannot be seen yet.
            _ => return Ok(Claimed::Refused(UNSEEN)),
        }
    }
    Ok(Claimed::Refused(UNSEEN))
}

/// Binds 1 to 11 of a claim, and 12 its lock.
fn lock_and_claim_binds(claim: &Claim, owner: Uuid) -> Vec<Bind> {
    let mut binds = claim_binds(claim, owner);
    binds.push(Bind::Int(claim.address.lock()));
    binds
}
