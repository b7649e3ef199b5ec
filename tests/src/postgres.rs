//! `PostgreSQL`: each test has a database of its own on the server of `TEST_POSTGRES_URL`.

use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use futures_util::FutureExt;

use crate::wire::postgres::Conversation;

/// The connection of the handlers.
pub type Db = AsyncPgConnection;

/// The connection of functions without `async`.
pub type Blocking = diesel::PgConnection;

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

crate::server::server_database!(
    AsyncPgConnection,
    "CREATE DATABASE {name}",
    "DROP DATABASE IF EXISTS {name} WITH (FORCE)",
    "postgres://nobody@127.0.0.1:1/nothing",
    5432,
    ""
);

/// Inserts a row; gives its id.
#[macro_export]
macro_rules! inserted_on_postgres {
    ($conn:expr, $table:expr, $values:expr, $id:expr) => {
        diesel_async::RunQueryDsl::get_result::<i64>(diesel::insert_into($table).values($values).returning($id), $conn)
    };
}
pub use inserted_on_postgres as inserted;
