//! Whose SQL it is.

/// The clock of each database, in milliseconds since the epoch: macros, so that constants can be put together with them.
macro_rules! sqlite_now {
    () => {
        "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    };
}
macro_rules! postgres_now {
    () => {
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    };
}
/// Not of the local time, of which one hour in a year comes twice.
macro_rules! mysql_now {
    () => {
        "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)"
    };
}
#[cfg(feature = "mysql")]
pub(crate) use mysql_now;
#[cfg(feature = "postgres")]
pub(crate) use postgres_now;
#[cfg(feature = "sqlite")]
pub(crate) use sqlite_now;

/// A database, where a text differs between them.
///
/// ```
/// use idempotent_runtime::{Database, StateMachine};
/// # use idempotent_runtime::doc::OrderStatus;
/// println!("{}", OrderStatus::migration_sql(Database::Postgres));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Database {
    /// `SQLite` 3.35 or later.
    Sqlite,
    /// `PostgreSQL`.
    Postgres,
    /// `MySQL` 8 and `MariaDB` 10.5 or later.
    Mysql,
}

impl Database {
    /// An identifier, quoted.
    pub(crate) fn quote(self, name: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
            Self::Mysql => format!("`{}`", name.replace('`', "``")),
        }
    }

    /// A string, quoted.
    pub(crate) fn literal(self, text: &str) -> String {
        let text = text.replace('\'', "''");
        match self {
            Self::Sqlite | Self::Postgres => format!("'{text}'"),
            Self::Mysql => format!("'{}'", text.replace('\\', "\\\\")),
        }
    }

    /// Its clock, in milliseconds since the epoch.
    pub(crate) fn now(self) -> &'static str {
        match self {
            Self::Sqlite => sqlite_now!(),
            Self::Postgres => postgres_now!(),
            Self::Mysql => mysql_now!(),
        }
    }

    /// A column of names, to be compared byte by byte: by most of `MySQL`'s collations letters are alike in any case, and
    /// a space at the end counts for nothing.
    pub(crate) fn exact(self, column: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => column.to_owned(),
            Self::Mysql => format!("CAST(CONVERT({column} USING utf8mb4) AS BINARY)"),
        }
    }

    /// What makes a SELECT lock its rows. `SQLite` locks the whole database for a transaction that writes.
    pub(crate) fn for_update(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres | Self::Mysql => " FOR UPDATE",
        }
    }
}
