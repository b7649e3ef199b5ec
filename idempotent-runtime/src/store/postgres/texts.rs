//! The statements that are `PostgreSQL`'s own.

use crate::database::postgres_now as now;
use crate::store::{Isolation, sql};

macro_rules! clock {
    () => {
        concat!("clock AS MATERIALIZED (SELECT ", now!(), " AS now)")
    };
}

pub(super) const TEXTS: sql::Texts = sql::texts!(now!(), "bigint");

/// Look, lock and claim in one statement: what may not be claimed is found and not touched; what nobody holds open is
/// claimed. Bind 12 is the lock. No row at all says that the look was overtaken.
pub(super) const CLAIM: &str = concat!(
    "WITH ",
    clock!(),
    ", ",
    "found AS MATERIALIZED (SELECT ",
    sql::columns!("clock.now", "bigint"),
    " FROM idempotency_keys AS t, clock WHERE ",
    sql::addressed!(),
    " AND NOT ",
    sql::claimable!("t", "clock.now", "?5"),
    "), ",
    "gate AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(?12) AS free WHERE NOT EXISTS (SELECT FROM found)), ",
    "won AS (",
    sql::upsert_claim!("clock, gate WHERE gate.free"),
    ") ",
    "SELECT 1::bigint, token, generation, attempts, 0::bigint, NULL::bytea, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, ",
    "NULL::bigint, NULL::bytea, NULL::bytea FROM won ",
    "UNION ALL SELECT 0, 0, 0, 0, found.* FROM found ",
    "UNION ALL SELECT 2, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM gate WHERE NOT gate.free"
);

/// Claims what has no record, under the lock. Binds as for [`CLAIM`], which says what is the matter where this does not
/// write: it is the cheaper of the two by far.
pub(super) const CLAIM_NEW: &str = concat!(
    "INSERT INTO idempotency_keys (namespace, operation, scope, key, fingerprint, state, held, owner, ",
    "token, attempts, generation, lease_until, created_at, expires_at, arguments) ",
    "SELECT ?1, ?2, ?3, ?4, ?5, 0, ?9, ?6, 1, 1, 1, clock.now + ?7, clock.now, clock.now + ?8, ?11 FROM (SELECT ",
    now!(),
    " AS now) AS clock WHERE pg_try_advisory_xact_lock(?12) ON CONFLICT DO NOTHING"
);

pub(super) const LOCK: &str = "SELECT pg_try_advisory_xact_lock(?1)";
/// Named as diesel names the savepoint of its second level, which it stands for.
pub(super) const SAVEPOINT: &str = "SAVEPOINT diesel_savepoint_1";
pub(super) const ROLL_BACK_TO_SAVEPOINT: &str = "ROLLBACK TO SAVEPOINT diesel_savepoint_1";
/// Fails in a transaction that an error has ended.
pub(super) const ALIVE: &str = "SELECT 1";
/// A prepared statement, so that it queues behind the end statement even while that one is being prepared.
pub(super) const COMMIT: &str = "COMMIT";
/// Both as one text, which prepares nothing.
pub(super) const ALIVE_AND_COMMIT: &str = "SELECT 1; COMMIT";

/// Writes the completed row where there was none, or fails, so that the COMMIT behind it rolls back: a row that is there
/// by now violates the primary key. Binds 1 to 8 as for a claim, then status, headers, body.
pub(super) const COMPLETE_NEW: &str = concat!(
    "INSERT INTO idempotency_keys (namespace, operation, scope, key, fingerprint, ",
    "state, held, owner, token, attempts, lease_until, created_at, expires_at, status, headers, body) ",
    "SELECT ?1, ?2, ?3, ?4, ?5, 1, 0, ?6, 1, 1, clock.now + ?7, clock.now, clock.now + ?8, ?9, ?10, ?11 FROM (SELECT ",
    now!(),
    " AS now) AS clock"
);

/// The same where a row stood that may be claimed, and fails with a division by zero if it may not be any more.
pub(super) const COMPLETE_OVER: &str = concat!(
    "WITH ",
    clock!(),
    ", won AS (INSERT INTO idempotency_keys AS t (namespace, operation, scope, key, fingerprint, ",
    "state, held, owner, token, attempts, lease_until, created_at, expires_at, status, headers, body) ",
    "SELECT ?1, ?2, ?3, ?4, ?5, 1, 0, ?6, 1, 1, clock.now + ?7, clock.now, clock.now + ?8, ?9, ?10, ?11 FROM clock ",
    "ON CONFLICT (namespace, operation, scope, key) DO UPDATE SET fingerprint = excluded.fingerprint, state = 1, ",
    "held = 0, owner = excluded.owner, token = t.token + 1, attempts = 1, generation = t.generation + 1, lease_until = excluded.lease_until, ",
    "created_at = excluded.created_at, expires_at = excluded.expires_at, status = excluded.status, ",
    "headers = excluded.headers, body = excluded.body WHERE ",
    sql::claimable!("t", "excluded.created_at", "excluded.fingerprint"),
    " RETURNING 1) SELECT 1 / count(*) FROM won"
);

macro_rules! renew_and_record {
    ($generation:literal FROM $from:literal) => {
        concat!(
            "WITH renewed AS (",
            sql::fenced!("lease_until = ?7 + ", now!()),
            " RETURNING 1 AS ours) INSERT INTO idempotency_steps ",
            "(namespace, operation, scope, key, generation, position, name, value) SELECT ?1, ?2, ?3, ?4, ",
            $generation,
            ", ?9, ?10, ?11 FROM ",
            $from
        )
    };
}

/// Renews and records in one statement: no step without the fence. Binds 1 to 7 as for a renewal, 8 generation,
/// 9 position, 10 name, 11 value.
pub(super) const RENEW_AND_RECORD: &str = renew_and_record!("?8" FROM "renewed");

/// The same, but fails without the fence, so that the COMMIT behind it rolls back: a generation may not be null.
pub(super) const RENEW_AND_RECORD_OR_FAIL: &str =
    renew_and_record!("?8 * renewed.ours" FROM "(SELECT 1) AS step LEFT JOIN renewed ON true");

pub(super) const SWEEP: &str = concat!(
    "DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(SELECT t.ctid FROM idempotency_keys AS t WHERE ",
    sql::sweepable!(now!()),
    " ORDER BY t.expires_at LIMIT ?1 FOR UPDATE SKIP LOCKED))"
);

pub(super) const fn begin_sql(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "BEGIN ISOLATION LEVEL READ COMMITTED",
        Isolation::RepeatableRead => "BEGIN ISOLATION LEVEL REPEATABLE READ",
        Isolation::Serializable => "BEGIN ISOLATION LEVEL SERIALIZABLE",
    }
}
