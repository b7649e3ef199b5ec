//! The statements that are SQLite's own.

use crate::store::sql;

/// Another writer is waited for up to 30 s.
pub(super) const PATIENCE: &str = "PRAGMA busy_timeout = 30000";
/// Immediate: a deferred transaction that reads first and then writes cannot wait.
pub(super) const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
pub(super) const BEGIN_READ: &str = "BEGIN";

/// How often a claim is tried whose row changed between two statements.
pub(super) const TRIES: usize = 10;

pub(super) const LOOK: &str = concat!(
    "SELECT ",
    sql::columns!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"),
    " FROM idempotency_keys AS t WHERE ",
    sql::addressed!()
);
pub(super) const CLAIM: &str = sql::upsert_claim!(
    "(SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now) AS clock WHERE true"
);
pub(super) const SWEEP: &str = concat!(
    "DELETE FROM idempotency_keys WHERE rowid IN (SELECT t.rowid FROM idempotency_keys AS t WHERE ",
    sql::sweepable!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"),
    " ORDER BY t.expires_at LIMIT ?1)"
);

pub(super) const RENEW: &str =
    sql::fenced!("lease_until = ?7 + ", "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)");
pub(super) const COMPLETE_HELD: &str = sql::decided!(
    "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "state = 1, held = 0, status = ?7, headers = ?8, body = ?9"
);
pub(super) const RELEASE_HELD: &str =
    sql::decided!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)", "state = 2, held = 0, attempts = 0");
pub(super) const HELD: &str =
    sql::unresolved!("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)", "t.namespace = ?1 AND t.held = 1");
pub(super) const HELD_AT: &str = sql::unresolved!(
    "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "t.namespace = ?1 AND t.operation = ?2 AND t.scope = ?3 AND t.key = ?4 AND t.held = 1"
);
pub(super) const RESUMABLE: &str = sql::unresolved!(
    "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "t.namespace = ?1 AND t.operation = ?2 AND t.held = 0 AND t.arguments IS NOT NULL"
);
