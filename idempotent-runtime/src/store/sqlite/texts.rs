//! The statements that are SQLite's own.

use crate::database::sqlite_now as now;
use crate::store::sql;

/// Another writer is waited for up to 30 s.
pub(super) const PATIENCE: &str = "PRAGMA busy_timeout = 30000";
/// Immediate: a deferred transaction that reads first and then writes cannot wait.
pub(super) const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
pub(super) const BEGIN_READ: &str = "BEGIN";

/// How often a claim is tried whose row changed between two statements.
pub(super) const TRIES: usize = 10;

pub(super) const TEXTS: sql::Texts = sql::texts!(now!(), "bigint");
pub(super) const CLAIM: &str = sql::upsert_claim!(concat!("(SELECT ", now!(), " AS now) AS clock WHERE true"));
pub(super) const SWEEP: &str = concat!(
    "DELETE FROM idempotency_keys WHERE rowid IN (SELECT t.rowid FROM idempotency_keys AS t WHERE ",
    sql::sweepable!(now!()),
    " ORDER BY t.expires_at LIMIT ?1)"
);
