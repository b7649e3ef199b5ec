//! A database in a file: one writer at a time.

use std::time::Duration;

use diesel::migration::Result as MigrationResult;
use diesel::{ConnectionError, ConnectionResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_async::{AsyncConnection, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::start::{Cause, StartError};

/// A connection to the database.
pub type Db = SyncConnectionWrapper<SqliteConnection>;

/// The database's clock, in milliseconds since the epoch.
pub const CLOCK: &str = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";

/// The id that this connection was given last.
pub(super) const LAST_ID: &str = "last_insert_rowid()";

/// Readers beside one writer, every commit on the disk, and 30 s of patience with other writers.
pub(super) const SETUP: &str = "PRAGMA busy_timeout = 30000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                     PRAGMA foreign_keys = ON;";

/// How often a connection is set up while another program keeps the file to itself, and the time between two tries.
pub(super) const TRIES: u32 = 100;
pub(super) const REST: Duration = Duration::from_millis(50);

/// The database of a program that is told none: a file beside the program itself, under the target folder.
pub fn default_url(file: &str) -> Result<String, StartError> {
    let program = std::env::current_exe().map_err(StartError::database)?;
    Ok(program.with_file_name(file).to_string_lossy().into_owned())
}

/// A second database beside the one at `url`: another file, next to it.
pub async fn beside(url: &str, name: &str) -> Result<String, StartError> {
    Ok(format!("{}.{name}.db", location(url)?))
}

pub(super) fn manager(url: &str) -> Result<AsyncDieselConnectionManager<Db>, StartError> {
    let mut config = ManagerConfig::default();
    config.custom_setup = Box::new(|path| Box::pin(connect(path)));
    Ok(AsyncDieselConnectionManager::new_with_config(location(url)?, config))
}

async fn connect(path: &str) -> ConnectionResult<Db> {
    let mut conn = Db::establish(path).await?;
    let mut tries = 1;
    loop {
        match conn.batch_execute(SETUP).await {
            Ok(()) => return Ok(conn),
            // Two programs open a new file at once: the change to WAL does not wait by itself.
            Err(error) if tries < TRIES && error.to_string().contains("database is locked") => {
                tokio::time::sleep(REST).await;
                tries += 1;
            }
            Err(error) => return Err(ConnectionError::CouldntSetupConfiguration(error)),
        }
    }
}

/// The file that is meant by a path or by `sqlite://path`.
pub(super) fn location(url: &str) -> Result<&str, StartError> {
    let (scheme, path) = url.split_once("://").unwrap_or(("sqlite", url));
    let refuse = |problem: &str| Err(StartError::setting("DATABASE_URL", url, problem));
    match scheme {
        "sqlite" if path.is_empty() || path.contains(":memory:") => refuse("names no file; write the path of one"),
        "sqlite" => Ok(path),
        "postgres" | "postgresql" => refuse(
            "is for PostgreSQL, but this program was built for SQLite; \
             build it with `--no-default-features --features postgres`",
        ),
        "mysql" => refuse(
            "is for MySQL, but this program was built for SQLite; \
             build it with `--no-default-features --features mysql`",
        ),
        _ => refuse("is no SQLite database; write a path, or `sqlite://path`"),
    }
}

pub(super) async fn migrate(mut conn: Object<Db>, migrations: EmbeddedMigrations) -> Result<(), Cause> {
    conn.spawn_blocking(move |conn| Ok(migrate_blocking(conn, migrations))).await?
}

pub(super) fn migrate_blocking(conn: &mut SqliteConnection, migrations: EmbeddedMigrations) -> Result<(), Cause> {
    conn.immediate_transaction(|conn| -> MigrationResult<()> {
        conn.run_pending_migrations(migrations)?;
        Ok(())
    })
}
