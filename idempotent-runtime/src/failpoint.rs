//! Points at which the tests crash the process: off in normal builds.

/// Names a point before or after a statement or a step of the protocol.
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(feature = "__failpoints")]
        fail::fail_point!($name);
    };
}
pub(crate) use failpoint;

/// Every point of a leased run, of its steps, of a transition, and of a transactional run.
#[cfg(feature = "__failpoints")]
pub const FAILPOINTS: &[&str] = &[
    "claim.before",
    "claim.after",
    "complete.before",
    "complete.after",
    "release.before",
    "release.after",
    "renew.before",
    "renew.after",
    "steps.load",
    "step.run.before",
    "step.run.executed",
    "step.run.recorded",
    "step.tx.before",
    "step.tx.begun",
    "step.tx.executed",
    "step.tx.committed",
    "transition.begun",
    "transition.moved",
    "transition.executed",
    "transition.ended",
    "transition.committed",
    "via.claimed",
    "via.executed",
    "via.left",
    "transaction.before",
    "transaction.opened",
    "transaction.executed",
    "transaction.closed",
    "sqlite.begun",
    "sqlite.claimed",
    "sqlite.undone",
    "sqlite.completed",
    "sqlite.committed",
    "mysql.begun",
    "mysql.claimed",
    "mysql.undone",
    "mysql.completed",
    "mysql.committed",
    "postgres.begun",
    "postgres.opened",
    "postgres.ending",
    "postgres.committed",
];
