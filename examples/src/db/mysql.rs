//! A database on a server of `MySQL` or `MariaDB`, by a driver in pure Rust.

use diesel::connection::LoadConnection;
use diesel::dsl::sql;
use diesel::mysql::Mysql;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::pooled_connection::AsyncDieselConnectionManager;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{AsyncConnection as _, AsyncMysqlConnection, RunQueryDsl, SimpleAsyncConnection as _};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};
use reqwest::Url;

use crate::start::{Cause, StartError};

/// A connection to the database.
pub type Db = AsyncMysqlConnection;

/// The database's clock, in milliseconds since the epoch.
pub const CLOCK: &str = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)";

/// The id that this connection was given last.
pub(super) const LAST_ID: &str = "CAST(LAST_INSERT_ID() AS SIGNED)";

/// Two programs that start together must not create the same thing at once. The names of locks are the whole server's,
/// and short: a digest stands for the database.
const LOCK: &str = "GET_LOCK(CONCAT('examples: migrations of ', MD5(DATABASE())), 60)";
const UNLOCK: &str = "DO RELEASE_LOCK(CONCAT('examples: migrations of ', MD5(DATABASE())))";

/// A program that is told no database has none.
pub fn default_url(_file: &str) -> Result<String, StartError> {
    Err(StartError::Missing { name: "DATABASE_URL", fix: "write `mysql://USER:PASSWORD@HOST/DATABASE`" })
}

/// A second database beside the one at `url`: another one on its server, which the user may have to be allowed to create.
pub async fn beside(url: &str, name: &str) -> Result<String, StartError> {
    let mut conn = Db::establish(location(url)?).await.map_err(StartError::database)?;
    let own = diesel::select(sql::<Text>("DATABASE()")).get_result::<String>(&mut conn);
    let beside = format!("{}_{name}", own.await.map_err(StartError::database)?);
    let create = format!("CREATE DATABASE IF NOT EXISTS `{}` CHARACTER SET utf8mb4", beside.replace('`', "``"));
    conn.batch_execute(&create).await.map_err(StartError::database)?;
    let mut url = Url::parse(url).map_err(StartError::database)?;
    if let Ok(mut path) = url.path_segments_mut() {
        path.clear().push(&beside);
    }
    Ok(url.into())
}

pub(super) fn manager(url: &str) -> Result<AsyncDieselConnectionManager<Db>, StartError> {
    Ok(AsyncDieselConnectionManager::new(location(url)?))
}

/// The URL itself, if it is one of such a server and names a database.
pub(super) fn location(url: &str) -> Result<&str, StartError> {
    let refuse = |problem: &str| Err(StartError::setting("DATABASE_URL", url, problem));
    match url.split_once("://") {
        Some(("mysql", place)) => match place.split_once('/') {
            Some((_, database)) if !database.is_empty() && !database.starts_with('?') => Ok(url),
            _ => refuse("names no database; write `mysql://USER:PASSWORD@HOST/DATABASE`"),
        },
        Some(("postgres" | "postgresql", _)) => refuse(
            "is for PostgreSQL, but this program was built for MySQL; \
             build it with `--no-default-features --features postgres`, or write `mysql://USER:PASSWORD@HOST/DATABASE`",
        ),
        None | Some(("sqlite", _)) => refuse(
            "is for SQLite, but this program was built for MySQL; build it with `--features sqlite`, the default, \
             or write `mysql://USER:PASSWORD@HOST/DATABASE`",
        ),
        Some(_) => refuse("is no MySQL database; write `mysql://USER:PASSWORD@HOST/DATABASE`"),
    }
}

pub(super) async fn migrate(conn: Object<Db>, migrations: EmbeddedMigrations) -> Result<(), Cause> {
    // diesel's migrations are blocking code.
    let migrated = tokio::task::spawn_blocking(move || {
        migrate_blocking(&mut AsyncConnectionWrapper::<Object<Db>>::from(conn), migrations)
    });
    migrated.await?
}

/// A table is created outside of any transaction there: a lock of its own keeps programs apart, and a migration that
/// broke off is begun again.
pub(super) fn migrate_blocking<C>(conn: &mut C, migrations: EmbeddedMigrations) -> Result<(), Cause>
where
    C: LoadConnection<Backend = Mysql> + MigrationHarness<Mysql>,
{
    let lock = diesel::select(sql::<Nullable<BigInt>>(LOCK));
    let locked: Option<i64> = diesel::RunQueryDsl::get_result(lock, conn)?;
    if locked != Some(1) {
        return Err("another program is changing the tables; start this one again when it has ended".into());
    }
    let migrated = conn.run_pending_migrations(migrations).map(drop);
    conn.batch_execute(UNLOCK)?;
    migrated
}
