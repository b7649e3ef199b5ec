//! `SQLite`: each test has a file of its own.

use std::path::PathBuf;

use diesel::connection::SimpleConnection;
use diesel::{Connection as _, SqliteConnection};
use diesel_async::AsyncConnection as _;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use futures_util::FutureExt;

use crate::wire::Wire;
use crate::wire::sqlite::Statements;

/// The connection of the handlers.
pub type Db = SyncConnectionWrapper<SqliteConnection>;

/// The connection of functions without `async`.
pub type Blocking = diesel::SqliteConnection;

/// The name in messages.
pub const NAME: &str = "sqlite";
/// The column type of a number that counts itself.
pub const SERIAL: &str = "INTEGER PRIMARY KEY AUTOINCREMENT";
/// The database's clock, in milliseconds since the epoch.
pub const NOW: &str = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";

/// What a claim sends once its look has found nothing.
pub const CLAIMING: &str = "BEGIN IMMEDIATE";
/// The byte `7`.
pub const SEVEN: &str = "X'37'";

/// A statement of a test in the words of this database.
#[must_use]
pub fn spelled(sql: &str) -> String {
    sql.to_owned()
}

/// A database that goes with its test.
#[derive(Debug)]
pub struct Database {
    folder: PathBuf,
}

impl Database {
    /// An empty database.
    ///
    /// # Panics
    ///
    /// If the temporary folder cannot be written.
    #[must_use]
    #[allow(clippy::unused_async, reason = "that of the other databases connects")]
    pub async fn fresh() -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("idempotent-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir(&folder).expect("the temporary folder is writable");
        Some(Self { folder })
    }

    /// A pool of `size` connections.
    ///
    /// # Panics
    ///
    /// If the pool cannot be built.
    #[must_use]
    pub fn pool(&self, size: usize) -> Pool<Db> {
        self.pool_with(size, |_| {})
    }

    /// A pool whose connections are prepared by `prepare`.
    ///
    /// # Panics
    ///
    /// If the pool cannot be built.
    #[must_use]
    pub fn pool_with(&self, size: usize, prepare: impl Fn(&mut Db) + Clone + Send + Sync + 'static) -> Pool<Db> {
        pool_at(&self.location(), size, prepare)
    }

    /// A pool of one connection, and what it executes.
    ///
    /// # Panics
    ///
    /// If the pool cannot be built.
    #[allow(clippy::unused_async, reason = "that of the other databases goes through a proxy")]
    pub async fn counted(&self) -> (Pool<Db>, Wire) {
        let wire = Wire::default();
        let counted = wire.clone();
        let prepare = move |conn: &mut Db| conn.set_instrumentation(Statements(counted.clone()));
        (recycled(&self.location(), 1, wire.recycling(), prepare), wire)
    }

    /// Where it is.
    #[must_use]
    pub fn location(&self) -> String {
        self.folder.join("test.db").to_string_lossy().into_owned()
    }

    /// A pool of bb8.
    ///
    /// # Panics
    ///
    /// If the pool cannot be built.
    pub async fn bb8(&self) -> diesel_async::pooled_connection::bb8::Pool<Db> {
        let manager = AsyncDieselConnectionManager::new(self.location());
        diesel_async::pooled_connection::bb8::Pool::builder().build(manager).await.expect("the pool can be built")
    }

    /// A pool over a database that is not there.
    ///
    /// # Panics
    ///
    /// If the pool cannot be built.
    #[must_use]
    pub fn unreachable() -> Pool<Db> {
        let manager = AsyncDieselConnectionManager::new("/nowhere/at/all.db");
        Pool::builder(manager).max_size(1).build().expect("the pool can be built")
    }
}

/// A pool of blocking connections over the database of a path.
///
/// # Panics
///
/// If the pool cannot be built.
#[must_use]
pub fn blocking_pool(path: &str, size: u32) -> diesel::r2d2::Pool<diesel::r2d2::ConnectionManager<Blocking>> {
    #[derive(Debug)]
    struct Wal;
    impl diesel::r2d2::CustomizeConnection<SqliteConnection, diesel::r2d2::Error> for Wal {
        fn on_acquire(&self, conn: &mut SqliteConnection) -> Result<(), diesel::r2d2::Error> {
            let prepared = conn.batch_execute("PRAGMA busy_timeout = 30000; PRAGMA journal_mode = WAL;");
            prepared.map_err(diesel::r2d2::Error::QueryError)
        }
    }
    let manager = diesel::r2d2::ConnectionManager::new(path);
    let builder = diesel::r2d2::Pool::builder().max_size(size).min_idle(Some(0)).connection_customizer(Box::new(Wal));
    builder.build(manager).expect("the pool can be built")
}

/// A pool over the database of a path.
///
/// # Panics
///
/// If the pool cannot be built.
#[must_use]
pub fn pool_at(path: &str, size: usize, prepare: impl Fn(&mut Db) + Clone + Send + Sync + 'static) -> Pool<Db> {
    recycled(path, size, RecyclingMethod::default(), prepare)
}

/// One that does this with a connection before it gives it out again.
///
/// # Panics
///
/// If the pool cannot be built.
#[must_use]
pub fn recycled(
    path: &str,
    size: usize,
    recycling: RecyclingMethod<Db>,
    prepare: impl Fn(&mut Db) + Clone + Send + Sync + 'static,
) -> Pool<Db> {
    let mut config = ManagerConfig::default();
    config.recycling_method = recycling;
    config.custom_setup = Box::new(move |path| {
        let (path, prepare) = (path.to_owned(), prepare.clone());
        async move {
            let mut conn = SqliteConnection::establish(&path)?;
            conn.batch_execute("PRAGMA busy_timeout = 30000; PRAGMA journal_mode = WAL;")
                .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
            let mut conn = SyncConnectionWrapper::new(conn);
            prepare(&mut conn);
            Ok(conn)
        }
        .boxed()
    });
    let manager = AsyncDieselConnectionManager::new_with_config(path, config);
    Pool::builder(manager).max_size(size).build().expect("the pool can be built")
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Inserts a row; gives its id.
#[macro_export]
macro_rules! inserted_on_sqlite {
    ($conn:expr, $table:expr, $values:expr, $id:expr) => {
        diesel_async::RunQueryDsl::get_result::<i64>(diesel::insert_into($table).values($values).returning($id), $conn)
    };
}
pub use inserted_on_sqlite as inserted;
