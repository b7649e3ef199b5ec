//! `MySQL` and `MariaDB`: each test has a database of its own on the server of `TEST_MYSQL_URL`.

use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig};
use diesel_async::{AsyncConnection, AsyncMysqlConnection, SimpleAsyncConnection};
use futures_util::FutureExt;

/// The connection of the handlers.
pub type Db = AsyncMysqlConnection;

/// The name in messages.
pub const NAME: &str = "mysql";
/// The column type of a number that counts itself.
pub const SERIAL: &str = "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY";
/// The database's clock, in milliseconds since the epoch.
pub const NOW: &str = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)";

const VARIABLE: &str = "TEST_MYSQL_URL";

/// What a claim sends once its look has found nothing.
pub const CLAIMING: &str = "INSERT INTO idempotency_keys";
/// The byte `7`.
pub const SEVEN: &str = "X'37'";

/// A statement of a test in the words of this database, where `key` is a word of its own.
#[must_use]
pub fn spelled(sql: &str) -> String {
    sql.replace(", key,", ", `key`,").replace("WHERE key =", "WHERE `key` =")
}

/// A database that goes with its test.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    /// An empty database; `None` if there is no server.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    #[must_use]
    pub async fn fresh() -> Option<Self> {
        let Ok(server) = std::env::var(VARIABLE) else {
            crate::leave_out(NAME, VARIABLE);
            return None;
        };
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        execute(&server, &format!("CREATE DATABASE {name} CHARACTER SET utf8mb4")).await;
        Some(Self { server, name })
    }

    /// Where it is.
    ///
    /// # Panics
    ///
    /// If `TEST_MYSQL_URL` has no path.
    #[must_use]
    pub fn location(&self) -> String {
        let (base, _) = self.server.rsplit_once('/').expect("a URL such as mysql://user@host:port/mysql");
        format!("{base}/{}", self.name)
    }

    /// A pool of `size` connections.
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
        let manager = AsyncDieselConnectionManager::new("mysql://nobody@127.0.0.1:1/nothing");
        Pool::builder(manager).max_size(1).build().expect("the pool can be built")
    }
}

/// A pool over the database of a URL.
///
/// # Panics
///
/// If the pool cannot be built.
#[must_use]
pub fn pool_at(url: &str, size: usize, prepare: impl Fn(&mut Db) + Clone + Send + Sync + 'static) -> Pool<Db> {
    let mut config = ManagerConfig::default();
    config.custom_setup = Box::new(move |url| {
        let (url, prepare) = (url.to_owned(), prepare.clone());
        async move {
            let mut conn = AsyncMysqlConnection::establish(&url).await?;
            prepare(&mut conn);
            Ok(conn)
        }
        .boxed()
    });
    let manager = AsyncDieselConnectionManager::new_with_config(url, config);
    Pool::builder(manager).max_size(size).build().expect("the pool can be built")
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(execute(&server, &format!("DROP DATABASE IF EXISTS {name}")));
        });
        let _ = dropping.join();
    }
}

async fn execute(url: &str, sql: &str) {
    let mut conn = AsyncMysqlConnection::establish(url).await.expect("the server of TEST_MYSQL_URL answers");
    conn.batch_execute(sql).await.expect("a superuser may create and drop databases");
}

/// Inserts a row; gives its id.
#[macro_export]
macro_rules! inserted_on_mysql {
    ($conn:expr, $table:expr, $values:expr, $id:expr) => {
        async {
            let conn: &mut $crate::mysql::Db = $conn;
            diesel_async::RunQueryDsl::execute(diesel::insert_into($table).values($values), conn).await?;
            let _ = $id;
            let last = diesel::select(diesel::dsl::sql::<diesel::sql_types::Unsigned<diesel::sql_types::BigInt>>(
                "LAST_INSERT_ID()",
            ));
            let id: u64 = diesel_async::RunQueryDsl::get_result(last, conn).await?;
            Ok::<_, diesel::result::Error>(i64::try_from(id).unwrap_or(i64::MAX))
        }
    };
}
pub use inserted_on_mysql as inserted;
