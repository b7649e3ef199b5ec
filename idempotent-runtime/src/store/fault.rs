//! What a database error means for the protocol: one table for all backends.

use diesel::result::{DatabaseErrorKind, Error};

/// The meaning of a database error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another transaction was met: the same one succeeds when run again.
    Contention,
    /// The connection is gone, or the database busy beyond its timeout.
    Unavailable,
    /// Anything else.
    Other,
}

/// diesel names `PostgreSQL`'s 40001 itself. The rest reaches us as `Unknown` with the server's text and without its
/// code: 40P01 and 55P03 of `PostgreSQL`, BUSY and LOCKED of `SQLite`. The texts are those of the servers' English
/// messages; under another `lc_messages` a deadlock is an ordinary error of the handler.
const TEXTS: [(&str, Fault); 13] = [
    ("deadlock detected", Fault::Contention),
    ("could not serialize access", Fault::Contention),
    ("could not obtain lock", Fault::Contention),
    ("database is locked", Fault::Unavailable),
    ("database table is locked", Fault::Unavailable),
    // The driver of MySQL, of a connection that is gone.
    ("Input/output error", Fault::Unavailable),
    ("Driver error", Fault::Unavailable),
    // MySQL's 1213 and 1205, MariaDB's 1020, and a transaction that the server has ended by itself.
    ("Deadlock found when trying to get lock", Fault::Contention),
    ("Lock wait timeout exceeded", Fault::Contention),
    ("lock(s) could not be acquired immediately", Fault::Contention),
    ("Record has changed since last read", Fault::Contention),
    ("SAVEPOINT idempotent_begun does not exist", Fault::Contention),
    ("SAVEPOINT diesel_savepoint_", Fault::Contention),
];

/// Looks an error up in the table.
pub(crate) fn classify(error: &Error) -> Fault {
    use DatabaseErrorKind as Kind;
    match error {
        Error::DatabaseError(Kind::SerializationFailure, _) => Fault::Contention,
        Error::DatabaseError(Kind::ClosedConnection | Kind::UnableToSendCommand, _)
        | Error::BrokenTransactionManager => Fault::Unavailable,
        Error::DatabaseError(_, info) => {
            let known = TEXTS.iter().find(|(text, _)| info.message().contains(text));
            known.map_or(Fault::Other, |(_, fault)| *fault)
        }
        Error::RollbackErrorOnCommit { commit_error, .. } => classify(commit_error),
        _ => Fault::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(text: &str) -> Error {
        Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new(text.to_owned()))
    }

    #[test]
    fn what_diesel_reports_as_unknown_is_told_apart() {
        assert_eq!(classify(&unknown("deadlock detected")), Fault::Contention);
        assert_eq!(classify(&unknown("database is locked")), Fault::Unavailable);
        assert_eq!(classify(&unknown("no such table: orders")), Fault::Other);
        let gone = Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, Box::new(String::new()));
        assert_eq!(classify(&gone), Fault::Unavailable);
        assert_eq!(classify(&Error::NotFound), Fault::Other);
    }
}
