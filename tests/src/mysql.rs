//! `MySQL` and `MariaDB`: each test has a database of its own on the server of `TEST_MYSQL_URL`.

use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, AsyncMysqlConnection, SimpleAsyncConnection};
use futures_util::FutureExt;

use crate::wire::mysql::Conversation;

/// The connection of the handlers.
pub type Db = AsyncMysqlConnection;

/// The connection of functions without `async`.
pub type Blocking = diesel::MysqlConnection;

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
    sql.replace(", key,", ", `key`,").replace("WHERE key ", "WHERE `key` ")
}

crate::server::server_database!(
    AsyncMysqlConnection,
    "CREATE DATABASE {name} CHARACTER SET utf8mb4",
    "DROP DATABASE IF EXISTS {name}",
    "mysql://nobody@127.0.0.1:1/nothing",
    3306,
    "?prefer_socket=false"
);

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
