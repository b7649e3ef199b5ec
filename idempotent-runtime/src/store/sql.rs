//! The statements, written once. A backend gives its clock and the few words in which databases differ, and gets the
//! texts as constants.

/// The columns of a look, in the order of [`super::row::LookRow`]: `now` is the database's clock, and `int` what it calls
/// an integer of 64 bits in a CAST.
macro_rules! columns {
    ($now:expr, $int:literal) => {
        concat!(
            $now,
            ", t.fingerprint, CAST(t.state AS ",
            $int,
            "), CAST(t.held AS ",
            $int,
            "), t.lease_until, t.expires_at, CAST(t.status AS ",
            $int,
            "), t.headers, t.body"
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
    ($t:literal, $now:expr, $fingerprint:expr) => {
        concat!(
            "((",
            $t,
            ".state IN (1, 2) AND ",
            $t,
            ".expires_at <= ",
            $now,
            ") OR (",
            $t,
            ".state = 2 AND (",
            $t,
            ".fingerprint = ",
            $fingerprint,
            " OR length(",
            $t,
            ".fingerprint) = 0)) OR (",
            $t,
            ".state = 0 AND ",
            $t,
            ".held = 0 AND ",
            $t,
            ".lease_until <= ",
            $now,
            " AND (",
            $t,
            ".fingerprint = ",
            $fingerprint,
            " OR ",
            $t,
            ".expires_at <= ",
            $now,
            ")))"
        )
    };
}

/// The insertion of a claim, or its taking over: binds 1 to 4 the address, 5 fingerprint, 6 owner, 7 lease, 8 ttl,
/// 9 whether an abandoned first attempt is held, 10 the most attempts (0 = no limit), 11 the arguments to keep.
///
/// An expired record begins a new life: its attempts count from 1, and its recorded steps are not those of the next.
macro_rules! upsert_claim {
    ($from:expr) => {
        concat!(
            "INSERT INTO idempotency_keys AS t (namespace, operation, scope, key, fingerprint, state, held, owner, ",
            "token, attempts, generation, lease_until, created_at, expires_at, arguments) ",
            "SELECT ?1, ?2, ?3, ?4, ?5, 0, ?9, ?6, 1, 1, 1, clock.now + ?7, clock.now, clock.now + ?8, ?11 FROM ",
            $from,
            " ON CONFLICT (namespace, operation, scope, key) DO UPDATE SET fingerprint = excluded.fingerprint, ",
            "state = 0, owner = excluded.owner, token = t.token + 1, ",
            "attempts = CASE WHEN t.expires_at <= excluded.created_at THEN 1 ELSE t.attempts + 1 END, ",
            "generation = CASE WHEN t.expires_at <= excluded.created_at THEN t.generation + 1 ELSE t.generation END, ",
            "held = CASE WHEN t.expires_at > excluded.created_at AND ?10 > 0 AND t.attempts + 1 >= ?10 THEN 1 ",
            "ELSE excluded.held END, ",
            "lease_until = excluded.lease_until, created_at = excluded.created_at, expires_at = excluded.expires_at, ",
            "arguments = excluded.arguments, status = NULL, headers = NULL, body = NULL WHERE ",
            $crate::store::sql::claimable!("t", "excluded.created_at", "excluded.fingerprint"),
            " RETURNING token, generation, attempts"
        )
    };
}

/// Issues a token into a record that nobody has asked anything under yet: binds 1 to 4 the address, 5 no bytes, 6 no
/// owner, 7 the ttl.
macro_rules! issue {
    ($key:literal, $now:expr) => {
        concat!(
            "INSERT INTO idempotency_keys (namespace, operation, scope, ",
            $key,
            ", fingerprint, state, held, owner, token, attempts, generation, lease_until, created_at, expires_at) ",
            "SELECT ?1, ?2, ?3, ?4, ?5, 2, 0, ?6, 0, 0, 1, 0, clock.now, clock.now + ?7 FROM (SELECT ",
            $now,
            " AS now) AS clock"
        )
    };
}

/// A statement under a claim's fence: binds 1 to 4 the address, 5 owner, 6 token.
macro_rules! fenced {
    ($($set:expr),+) => {
        concat!(
            "UPDATE idempotency_keys AS t SET ", $($set,)+ " WHERE ", $crate::store::sql::addressed!(),
            " AND t.owner = ?5 AND t.token = ?6 AND t.state = 0"
        )
    };
}

/// Completes a claim: binds 7 status, 8 headers, 9 body.
pub(super) const COMPLETE: &str = fenced!("state = 1, status = ?7, headers = ?8, body = ?9");
/// Gives a claim back. The row stays until the sweep, so that its fences never repeat.
pub(super) const RELEASE: &str = fenced!("state = 2");
/// Ends a claim without an outcome: it is held from now on.
pub(super) const HOLD: &str = fenced!("held = 1, lease_until = 0");
/// Decides about a held claim, under the fence of the attempt that was looked at: only while it is over. A holder that
/// was paused may have come back since, and revived it.
macro_rules! decided {
    ($now:expr, $set:expr) => {
        concat!($crate::store::sql::fenced!($set), " AND t.held = 1 AND t.lease_until <= ", $now)
    };
}

/// The recorded steps of one life of a key: binds 1 to 4 the address, 5 the generation.
pub(super) const STEPS: &str = concat!(
    "SELECT t.name, t.value FROM idempotency_steps AS t WHERE ",
    addressed!(),
    " AND t.generation = ?5 ORDER BY t.position"
);
/// Records a step: binds 1 to 4 the address, 5 generation, 6 position, 7 name, 8 value.
pub(super) const RECORD_STEP: &str = "INSERT INTO idempotency_steps (namespace, operation, scope, key, generation, position, name, value) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// Claims that are over and were never ended: binds 1 to 4 what the condition uses of an address, 5 the most rows.
macro_rules! unresolved {
    ($now:expr, $which:expr) => {
        concat!(
            "SELECT t.operation, t.scope, t.key, t.owner, t.token, t.generation, t.attempts, t.created_at, ",
            "t.arguments FROM idempotency_keys AS t WHERE t.state = 0 AND t.lease_until <= ",
            $now,
            " AND ",
            $which,
            " ORDER BY t.created_at LIMIT ?5"
        )
    };
}

/// What a sweep may delete: never a claim that may still run, never a held one.
macro_rules! sweepable {
    ($now:expr) => {
        concat!("t.expires_at <= ", $now, " AND (t.state IN (1, 2) OR (t.held = 0 AND t.lease_until <= ", $now, "))")
    };
}

/// The statements that differ between databases in nothing but the clock.
pub(super) struct Texts {
    /// Reads a record: binds 1 to 4 the address.
    pub(super) look: &'static str,
    /// Begins a lease anew: bind 7 its length.
    pub(super) renew: &'static str,
    /// Issues a token.
    pub(super) issue: &'static str,
    /// Decides that a held claim was carried out: binds 7 status, 8 headers, 9 body.
    pub(super) complete_held: &'static str,
    /// Gives a held claim back, with all its attempts.
    pub(super) release_held: &'static str,
    /// The held claims of a namespace.
    pub(super) held: &'static str,
    /// The held claim of an address.
    pub(super) held_at: &'static str,
    /// The abandoned claims of an operation whose arguments are kept.
    pub(super) resumable: &'static str,
}

/// The [`Texts`] of a database.
macro_rules! texts {
    ($now:expr, $int:literal) => {
        $crate::store::sql::texts!($now, $int, "key")
    };
    ($now:expr, $int:literal, $key:literal) => {
        $crate::store::sql::Texts {
            look: concat!(
                "SELECT ",
                $crate::store::sql::columns!($now, $int),
                " FROM idempotency_keys AS t WHERE ",
                $crate::store::sql::addressed!()
            ),
            renew: $crate::store::sql::fenced!("lease_until = ?7 + ", $now),
            issue: $crate::store::sql::issue!($key, $now),
            complete_held: $crate::store::sql::decided!(
                $now,
                "state = 1, held = 0, status = ?7, headers = ?8, body = ?9"
            ),
            release_held: $crate::store::sql::decided!($now, "state = 2, held = 0, attempts = 0"),
            held: $crate::store::sql::unresolved!($now, "t.namespace = ?1 AND t.held = 1"),
            held_at: $crate::store::sql::unresolved!(
                $now,
                "t.namespace = ?1 AND t.operation = ?2 AND t.scope = ?3 AND t.key = ?4 AND t.held = 1"
            ),
            resumable: $crate::store::sql::unresolved!(
                $now,
                "t.namespace = ?1 AND t.operation = ?2 AND t.held = 0 AND t.arguments IS NOT NULL"
            ),
        }
    };
}

pub(super) use {addressed, claimable, columns, decided, fenced, issue, sweepable, texts, unresolved, upsert_claim};
