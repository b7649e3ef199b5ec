//! A database on a server, by a driver in pure Rust.

use diesel::Connection;
use diesel::migration::Result as MigrationResult;
use diesel::pg::Pg;
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::pooled_connection::AsyncDieselConnectionManager;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::start::{Cause, StartError};

/// A connection to the database.
pub type Db = AsyncPgConnection;

/// The database's clock, in milliseconds since the epoch.
pub const CLOCK: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The id that this connection was given last.
pub(super) const LAST_ID: &str = "lastval()";

/// Two programs that start together must not create the same thing at once.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtext('examples: migrations'));";

/// A program that is told no database has none.
pub fn default_url(_file: &str) -> Result<String, StartError> {
    Err(StartError::Missing { name: "DATABASE_URL", fix: "write `postgres://USER:PASSWORD@HOST/DATABASE`" })
}

/// A second database beside the one at `url`: a schema of its own within it.
pub async fn beside(url: &str, name: &str) -> Result<String, StartError> {
    use diesel_async::{AsyncConnection as _, SimpleAsyncConnection as _};

    let mut conn = Db::establish(location(url)?).await.map_err(StartError::database)?;
    let create = format!("BEGIN; {LOCK} CREATE SCHEMA IF NOT EXISTS {name}; COMMIT");
    conn.batch_execute(&create).await.map_err(StartError::database)?;
    let separator = if url.contains('?') { '&' } else { '?' };
    Ok(format!("{url}{separator}options=-csearch_path%3D{name}"))
}

pub(super) fn manager(url: &str) -> Result<AsyncDieselConnectionManager<Db>, StartError> {
    Ok(AsyncDieselConnectionManager::new(location(url)?))
}

/// The URL itself, if it is one of such a server.
pub(super) fn location(url: &str) -> Result<&str, StartError> {
    let refuse = |problem: &str| Err(StartError::setting("DATABASE_URL", url, problem));
    match url.split_once("://") {
        Some(("postgres" | "postgresql", _)) => Ok(url),
        None | Some(("sqlite", _)) => refuse(
            "is for SQLite, but this program was built for PostgreSQL; build it with `--features sqlite`, the default, \
             or write `postgres://USER:PASSWORD@HOST/DATABASE`",
        ),
        Some(("mysql", _)) => refuse(
            "is for MySQL, but this program was built for PostgreSQL; \
             build it with `--no-default-features --features mysql`, or write `postgres://USER:PASSWORD@HOST/DATABASE`",
        ),
        Some(_) => refuse("is no PostgreSQL database; write `postgres://USER:PASSWORD@HOST/DATABASE`"),
    }
}

pub(super) async fn migrate(conn: Object<Db>, migrations: EmbeddedMigrations) -> Result<(), Cause> {
    // diesel's migrations are blocking code.
    let migrated = tokio::task::spawn_blocking(move || {
        migrate_blocking(&mut AsyncConnectionWrapper::<Object<Db>>::from(conn), migrations)
    });
    migrated.await?
}

pub(super) fn migrate_blocking<C>(conn: &mut C, migrations: EmbeddedMigrations) -> Result<(), Cause>
where
    C: Connection<Backend = Pg> + MigrationHarness<Pg>,
{
    conn.transaction(|conn| -> MigrationResult<()> {
        conn.batch_execute(LOCK)?;
        conn.run_pending_migrations(migrations)?;
        Ok(())
    })
}
