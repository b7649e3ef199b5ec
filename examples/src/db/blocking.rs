//! The same database, for programs without `async`: on the connections of diesel itself.

use diesel::Connection as _;
use diesel::r2d2::{self, ConnectionManager, CustomizeConnection};
use diesel_migrations::EmbeddedMigrations;

use super::{MAX_CONNECTIONS, backend};
use crate::start::StartError;

/// A connection to the database.
#[cfg(all(feature = "sqlite", not(any(feature = "postgres", feature = "mysql"))))]
pub type Db = diesel::SqliteConnection;
/// A connection to the database.
#[cfg(all(feature = "blocking-postgres", not(feature = "mysql")))]
pub type Db = diesel::PgConnection;
/// A connection to the database.
#[cfg(feature = "blocking-mysql")]
pub type Db = diesel::MysqlConnection;

/// Connections to one database.
pub type Pool = r2d2::Pool<ConnectionManager<Db>>;

/// Opens a database, and makes sure that it is there.
pub fn open(url: &str) -> Result<Pool, StartError> {
    let url = backend::location(url)?;
    let setup = Box::new(Setup);
    // What cannot be opened is told at once; the pool would go on trying for a while.
    let mut first = Db::establish(url).map_err(StartError::database)?;
    setup.on_acquire(&mut first).map_err(StartError::database)?;
    let pool = Pool::builder().max_size(MAX_CONNECTIONS.try_into().unwrap_or(u32::MAX)).min_idle(Some(0));
    pool.connection_customizer(setup).build(ConnectionManager::new(url)).map_err(StartError::database)
}

/// Brings a program's own tables up to date. Programs that start together migrate one after the other.
pub fn migrate(pool: &Pool, migrations: EmbeddedMigrations) -> Result<(), StartError> {
    let mut conn = pool.get().map_err(StartError::database)?;
    let conn: &mut Db = &mut conn;
    backend::migrate_blocking(conn, migrations).map_err(StartError::database)
}

/// What a connection is told before it is used.
#[derive(Debug)]
struct Setup;

impl CustomizeConnection<Db, r2d2::Error> for Setup {
    #[cfg(all(feature = "sqlite", not(any(feature = "postgres", feature = "mysql"))))]
    fn on_acquire(&self, conn: &mut Db) -> Result<(), r2d2::Error> {
        use diesel::connection::SimpleConnection as _;

        let mut tries = 1;
        loop {
            match conn.batch_execute(backend::SETUP) {
                Ok(()) => return Ok(()),
                // Two programs open a new file at once: the change to WAL does not wait by itself.
                Err(error) if tries < backend::TRIES && error.to_string().contains("database is locked") => {
                    std::thread::sleep(backend::REST);
                    tries += 1;
                }
                Err(error) => return Err(r2d2::Error::QueryError(error)),
            }
        }
    }
}
