//! The statements that are `MySQL`'s and `MariaDB`'s own. Where the two differ the server chooses, by the comments that
//! only one of them executes: `/*M! … */` is `MariaDB`'s, and `/*!80011 … */` is `MySQL`'s.

use crate::database::mysql_now as now;
use crate::hex::hex;
use crate::store::{Isolation, sql};

pub(super) const TEXTS: sql::Texts = sql::Texts {
    // A millisecond more where the lease would end when it does already: a server that counts the rows that have changed
    // would not count this one, and the lease be taken for lost. (diesel-async asks for the rows that match, but cannot
    // on a connection that it was given.)
    renew: sql::fenced!("lease_until = ?7 + ", now!(), " + (t.lease_until = ?7 + ", now!(), ")"),
    ..sql::texts!(now!(), "SIGNED", "`key`")
};

/// Whether the owner was written by the first assignment: then the rest follows it. Assignments are made from left to
/// right, each with what those before it have written.
macro_rules! won {
    ($column:literal, $value:expr) => {
        concat!(", ", $column, " = IF(owner = VALUES(owner), ", $value, ", ", $column, ")")
    };
}

macro_rules! insert_claim {
    () => {
        concat!(
            "/*M! SET STATEMENT innodb_lock_wait_timeout=0 FOR */ ",
            "INSERT INTO idempotency_keys (namespace, operation, scope, `key`, fingerprint, state, held, owner, ",
            "token, attempts, generation, lease_until, created_at, expires_at, arguments) ",
            "SELECT ?1, ?2, ?3, ?4, ?5, 0, ?9, ?6, 1, 1, 1, clock.now + ?7, clock.now, clock.now + ?8, ?11 FROM (SELECT ",
            now!(),
            " AS now) AS clock"
        )
    };
}

/// Claims what has no record, and fails where there is one. Binds as for [`CLAIM`], whose way it has with a row that an
/// open transaction holds.
pub(super) const CLAIM_NEW: &str = insert_claim!();

/// Binds as [`sql::upsert_claim`]. Says nothing of who has won: [`MINE`] does, by the nonce. A row that an open
/// transaction holds is an error at once, and not waited for.
pub(super) const CLAIM: &str = concat!(
    insert_claim!(),
    " ON DUPLICATE KEY UPDATE owner = IF(",
    sql::claimable!("idempotency_keys", "VALUES(created_at)", "VALUES(fingerprint)"),
    ", VALUES(owner), owner)",
    won!("held", "IF(expires_at > VALUES(created_at) AND ?10 > 0 AND attempts + 1 >= ?10, 1, VALUES(held))"),
    won!("attempts", "IF(expires_at <= VALUES(created_at), 1, attempts + 1)"),
    won!("generation", "IF(expires_at <= VALUES(created_at), generation + 1, generation)"),
    won!("token", "token + 1"),
    won!("state", "0"),
    won!("fingerprint", "VALUES(fingerprint)"),
    won!("lease_until", "VALUES(lease_until)"),
    won!("created_at", "VALUES(created_at)"),
    won!("arguments", "VALUES(arguments)"),
    won!("status", "NULL"),
    won!("headers", "NULL"),
    won!("body", "NULL"),
    won!("expires_at", "VALUES(expires_at)"),
);

/// The claim of this owner, if there is one: binds 1 to 4 the address, 5 the owner.
pub(super) const MINE: &str = concat!(
    "SELECT t.token, t.generation, t.attempts FROM idempotency_keys AS t WHERE ",
    sql::addressed!(),
    " AND t.owner = ?5 AND t.state = 0 FOR UPDATE"
);

/// The look of a transaction that may have begun before the row was written: only a locking read tells the truth.
pub(super) const LOOK_LOCKED: &str = concat!(
    "SELECT ",
    sql::columns!(now!(), "SIGNED"),
    " FROM idempotency_keys AS t WHERE ",
    sql::addressed!(),
    " LOCK IN SHARE MODE"
);

/// Binds as [`sql::RECORD_STEP`].
pub(super) const RECORD_STEP: &str = "INSERT INTO idempotency_steps (namespace, operation, scope, `key`, generation, position, name, value) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// The inner query chooses, and the outer one asks once more, of the rows that it has locked.
pub(super) const SWEEP: &str = concat!(
    "DELETE t FROM idempotency_keys AS t JOIN (SELECT t.namespace, t.operation, t.scope, t.`key` ",
    "FROM idempotency_keys AS t WHERE ",
    sql::sweepable!(now!()),
    " ORDER BY t.expires_at LIMIT ?1 FOR UPDATE SKIP LOCKED) AS old ON t.namespace = old.namespace AND t.operation = old.operation ",
    "AND t.scope = old.scope AND t.key = old.key WHERE ",
    sql::sweepable!(now!())
);

/// A transaction of ours begins. An error that ends it, of those that the server rolls back by itself, must not let a
/// handler go on in autocommit: that is off until the end. The savepoint goes with the transaction, so that its release
/// tells whether it is still the same.
pub(super) fn begin_sql(isolation: Option<Isolation>) -> String {
    let level = match isolation {
        None => "",
        Some(Isolation::ReadCommitted) => "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ",
        Some(Isolation::RepeatableRead) => "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; ",
        Some(Isolation::Serializable) => "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; ",
    };
    format!("SET autocommit = 0; {level}START TRANSACTION; SAVEPOINT idempotent_begun")
}

pub(super) const COMMIT: &str = "RELEASE SAVEPOINT idempotent_begun; COMMIT; SET autocommit = 1";
pub(super) const ROLL_BACK: &str = "ROLLBACK; SET autocommit = 1";

/// On `MySQL`, whose INSERT cannot be told not to wait: an error at once if an open transaction holds the row.
pub(super) fn held_open(address: [&[u8]; 4]) -> String {
    let [namespace, operation, scope, key] = address.map(|name| format!("X'{}'", hex(name)));
    format!(
        "; /*!80011 SELECT 1 FROM idempotency_keys WHERE namespace = {namespace} AND operation = {operation} \
         AND scope = {scope} AND `key` = {key} FOR UPDATE NOWAIT */"
    )
}
