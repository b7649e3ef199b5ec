//! Whose SQL it is.

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
            Self::Sqlite => "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
            Self::Postgres => "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            Self::Mysql => "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
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
