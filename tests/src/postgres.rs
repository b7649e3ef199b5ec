//! `PostgreSQL`: each test has a database of its own on the server of `TEST_POSTGRES_URL`.

use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use futures_util::FutureExt;

/// The connection of the handlers.
pub type Db = AsyncPgConnection;

/// The name in messages.
pub const NAME: &str = "postgres";
/// The column type of a number that counts itself.
pub const SERIAL: &str = "bigserial PRIMARY KEY";
/// The database's clock, in milliseconds since the epoch.
pub const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const VARIABLE: &str = "TEST_POSTGRES_URL";

/// What a claim sends: the first statement of its transaction, or the one that looks and claims.
pub const CLAIMING: &str = "pg_try_advisory_xact_lock";
/// The byte `7`.
pub const SEVEN: &str = "'\\x37'::bytea";

/// A statement of a test in the words of this database.
#[must_use]
pub fn spelled(sql: &str) -> String {
    sql.to_owned()
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
        execute(&server, &format!("CREATE DATABASE {name}")).await;
        Some(Self { server, name })
    }

    /// Where it is.
    ///
    /// # Panics
    ///
    /// If `TEST_POSTGRES_URL` has no path.
    #[must_use]
    pub fn location(&self) -> String {
        let (base, _) = self.server.rsplit_once('/').expect("a URL such as postgres://user@host:port/postgres");
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

    /// The host and port of its server.
    ///
    /// # Panics
    ///
    /// If `TEST_POSTGRES_URL` names none.
    #[must_use]
    pub fn server(&self) -> String {
        let (_, rest) = self.server.split_once("://").expect("a URL such as postgres://user@host:port/postgres");
        let (authority, _) = rest.split_once('/').expect("a URL with a path");
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        if host.contains(':') { host.to_owned() } else { format!("{host}:5432") }
    }

    /// A pool whose connections go through a proxy.
    #[must_use]
    pub fn pool_through(&self, proxy: &crate::proxy::Proxy, size: usize) -> Pool<Db> {
        pool_at(&self.location().replace(&self.server(), &proxy.address().to_string()), size, |_| {})
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
        let manager = AsyncDieselConnectionManager::new("postgres://nobody@127.0.0.1:1/nothing");
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
            let mut conn = AsyncPgConnection::establish(&url).await?;
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
            runtime.block_on(execute(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")));
        });
        let _ = dropping.join();
    }
}

async fn execute(url: &str, sql: &str) {
    let mut conn = AsyncPgConnection::establish(url).await.expect("the server of TEST_POSTGRES_URL answers");
    conn.batch_execute(sql).await.expect("the user of TEST_POSTGRES_URL may create databases");
}

/// Inserts a row; gives its id.
#[macro_export]
macro_rules! inserted_on_postgres {
    ($conn:expr, $table:expr, $values:expr, $id:expr) => {
        diesel_async::RunQueryDsl::get_result::<i64>(diesel::insert_into($table).values($values).returning($id), $conn)
    };
}
pub use inserted_on_postgres as inserted;
