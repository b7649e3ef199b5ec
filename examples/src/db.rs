//! The database that the features choose. The queries are the same for each.

use diesel::QueryResult;
use diesel::dsl::sql;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use diesel_async::pooled_connection::deadpool;
use diesel_migrations::EmbeddedMigrations;

use crate::start::StartError;

#[cfg(all(feature = "sqlite", feature = "postgres", not(feature = "mysql")))]
compile_error!("choose one database; `--features postgres` needs `--no-default-features` beside it");
#[cfg(all(feature = "sqlite", feature = "mysql", not(feature = "postgres")))]
compile_error!("choose one database; `--features mysql` needs `--no-default-features` beside it");
#[cfg(all(feature = "postgres", feature = "mysql"))]
compile_error!("choose one database; write `--no-default-features --features postgres`, or `mysql` in its place");
#[cfg(not(any(feature = "sqlite", feature = "postgres", feature = "mysql")))]
compile_error!("choose a database: `--features sqlite` (the default), `--features postgres` or `--features mysql`");

#[cfg(all(feature = "blocking", feature = "postgres", not(feature = "blocking-postgres")))]
compile_error!("`blocking` needs libpq there; write `--no-default-features --features blocking-postgres`");
#[cfg(all(feature = "blocking", feature = "mysql", not(feature = "blocking-mysql")))]
compile_error!("`blocking` needs libmysqlclient there; write `--no-default-features --features blocking-mysql`");

#[cfg(feature = "blocking")]
pub mod blocking;

#[cfg(feature = "mysql")]
#[path = "db/mysql.rs"]
mod backend;
#[cfg(all(feature = "postgres", not(feature = "mysql")))]
#[path = "db/postgres.rs"]
mod backend;
#[cfg(all(feature = "sqlite", not(any(feature = "postgres", feature = "mysql"))))]
#[path = "db/sqlite.rs"]
mod backend;

pub use backend::{CLOCK, Db, beside, default_url};

/// Connections to one database.
pub type Pool = deadpool::Pool<Db>;

/// How many connections a program opens at most.
const MAX_CONNECTIONS: usize = 16;

/// Opens a database, and makes sure that it is there.
pub async fn open(url: &str) -> Result<Pool, StartError> {
    let manager = backend::manager(url)?;
    let pool = Pool::builder(manager).max_size(MAX_CONNECTIONS).build().map_err(StartError::database)?;
    let _ = pool.get().await.map_err(StartError::database)?;
    Ok(pool)
}

/// Brings a program's own tables up to date. Programs that start together migrate one after the other.
pub async fn migrate(pool: &Pool, migrations: EmbeddedMigrations) -> Result<(), StartError> {
    let conn = pool.get().await.map_err(StartError::database)?;
    backend::migrate(conn, migrations).await.map_err(StartError::database)
}

/// The id of the row that this connection has inserted last, where the table counts its rows itself.
pub async fn last_id(conn: &mut Db) -> QueryResult<i64> {
    diesel::select(sql::<BigInt>(backend::LAST_ID)).get_result(conn).await
}

/// What databases say, without a code of diesel's, of a statement that may succeed later: `SQLite` of another writer,
/// `MySQL` and `MariaDB` of other transactions, and their driver of a connection that is gone.
const PASSING: [&str; 6] = [
    "database is locked",
    "Deadlock found",
    "Lock wait timeout exceeded",
    "Record has changed since last read",
    "Input/output error",
    "Driver error",
];

/// Whether the same statement may succeed later.
#[must_use]
pub fn is_passing(error: &Error) -> bool {
    use DatabaseErrorKind::{ClosedConnection, SerializationFailure, UnableToSendCommand};
    match error {
        Error::DatabaseError(ClosedConnection | SerializationFailure | UnableToSendCommand, _)
        | Error::BrokenTransactionManager => true,
        Error::DatabaseError(_, info) => PASSING.iter().any(|text| info.message().contains(text)),
        _ => false,
    }
}
