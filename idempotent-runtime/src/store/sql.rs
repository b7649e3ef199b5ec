//! The statements, written once. A backend gives its clock and the few words in which databases differ, and gets the
//! texts as constants.

/// The columns of a look, in the order of [`super::row::LookRow`]. `{now}` is the database's clock.
macro_rules! columns {
    ($now:literal) => {
        concat!(
            $now,
            ", t.fingerprint, CAST(t.state AS bigint), CAST(t.held AS bigint), t.lease_until, t.expires_at, ",
            "CAST(t.status AS bigint), t.headers, t.body"
        )
    };
}

/// The record of one address: binds 1 to 4.
macro_rules! addressed {
    () => {
        "t.namespace = ?1 AND t.operation = ?2 AND t.scope = ?3 AND t.key = ?4"
    };
}

/// When a stored row `t` may be claimed: what [`decide`](crate::decide) answers with `Claim` or `TakeOver`.
/// A test holds the two against each other.
macro_rules! claimable {
    ($now:literal, $fingerprint:literal) => {
        concat!(
            "((t.state IN (1, 2) AND t.expires_at <= ",
            $now,
            ") OR (t.state = 2 AND t.fingerprint = ",
            $fingerprint,
            ") OR (t.state = 0 AND t.held = 0 AND t.lease_until <= ",
            $now,
            " AND (t.fingerprint = ",
            $fingerprint,
            " OR t.expires_at <= ",
            $now,
            ")))"
        )
    };
}

/// The insertion of a claim, or its taking over: binds 1 to 4 the address, 5 fingerprint, 6 owner, 7 lease, 8 ttl,
/// 9 whether the first attempt is the last, 10 the most attempts (0 = no limit).
macro_rules! upsert_claim {
    ($from:literal) => {
        concat!(
            "INSERT INTO idempotency_keys AS t (namespace, operation, scope, key, fingerprint, state, held, owner, ",
            "token, attempts, lease_until, created_at, expires_at) ",
            "SELECT ?1, ?2, ?3, ?4, ?5, 0, ?9, ?6, 1, 1, clock.now + ?7, clock.now, clock.now + ?8 FROM ",
            $from,
            " ON CONFLICT (namespace, operation, scope, key) DO UPDATE SET fingerprint = excluded.fingerprint, ",
            "state = 0, owner = excluded.owner, token = t.token + 1, ",
            "attempts = CASE WHEN t.expires_at <= excluded.created_at THEN 1 ELSE t.attempts + 1 END, ",
            "held = CASE WHEN t.expires_at <= excluded.created_at THEN excluded.held ",
            "WHEN ?10 > 0 AND t.attempts + 1 >= ?10 THEN 1 ELSE 0 END, ",
            "lease_until = excluded.lease_until, created_at = excluded.created_at, expires_at = excluded.expires_at, ",
            "status = NULL, headers = NULL, body = NULL WHERE ",
            $crate::store::sql::claimable!("excluded.created_at", "excluded.fingerprint"),
            " RETURNING token"
        )
    };
}

/// The statement that ends a claim under its fence: binds 1 to 4 the address, 5 owner, 6 token.
macro_rules! fenced {
    ($set:literal) => {
        concat!(
            "UPDATE idempotency_keys AS t SET ",
            $set,
            " WHERE ",
            $crate::store::sql::addressed!(),
            " AND t.owner = ?5 AND t.token = ?6 AND t.state = 0"
        )
    };
}

/// Completes a claim: binds 7 status, 8 headers, 9 body.
pub(super) const COMPLETE: &str = fenced!("state = 1, status = ?7, headers = ?8, body = ?9");
/// Gives a claim back. The row stays until the sweep, so that its fences never repeat.
pub(super) const RELEASE: &str = fenced!("state = 2");

/// What a sweep may delete: never a claim that may still run, never a held one.
macro_rules! sweepable {
    ($now:literal) => {
        concat!("t.expires_at <= ", $now, " AND (t.state IN (1, 2) OR (t.held = 0 AND t.lease_until <= ", $now, "))")
    };
}

pub(super) use {addressed, claimable, columns, sweepable, upsert_claim};
