//! The connections that records and machines can be kept through.

use std::future::Future;

use crate::store::DriverOf;

/// A connection that this toolkit can keep its records through: one of diesel-async ([`AsyncConnection`]), or one of
/// blocking diesel ([`BlockingConnection`]).
///
/// ```
/// use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
///
/// fn stores<C: idempotent_runtime::Connection>() {}
/// stores::<SyncConnectionWrapper<diesel::SqliteConnection>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a connection that idempotency records can be kept through",
    label = "expected a connection such as `AsyncPgConnection`, `AsyncMysqlConnection` or `SyncConnectionWrapper<SqliteConnection>`",
    note = "enable the feature of your database: `idempotent-runtime = {{ features = [\"postgres\"] }}`, `\"mysql\"` or `\"sqlite\"`"
)]
pub trait Connection: Send + Sized + 'static {
    /// What a call gives back on such a connection: a future to be awaited, or on a blocking connection, once it is
    /// there, the value itself.
    type Returns<'c, T: Send + 'c>;

    /// The verbs of this connection's database.
    #[doc(hidden)]
    fn driver() -> DriverOf<Self>;

    /// Runs work in the background, where this connection may be used.
    #[doc(hidden)]
    fn spawn(work: impl Future<Output = ()> + Send + 'static);

    /// Gives work back in the way of this connection.
    #[doc(hidden)]
    fn returns<'c, T: Send + 'c>(work: impl Future<Output = T> + Send + 'c) -> Self::Returns<'c, T>;
}

/// A connection of diesel-async, for async functions: `AsyncPgConnection`, `AsyncMysqlConnection`, and
/// `SyncConnectionWrapper<SqliteConnection>`. The features `postgres`, `mysql` and `sqlite` add them.
///
/// ```
/// use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
///
/// fn is_awaited<C: idempotent_runtime::AsyncConnection>() {}
/// is_awaited::<SyncConnectionWrapper<diesel::SqliteConnection>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a connection of diesel-async that idempotency records can be kept through",
    label = "expected `AsyncPgConnection`, `AsyncMysqlConnection` or `SyncConnectionWrapper<SqliteConnection>`",
    note = "a connection of blocking diesel belongs to a function without `async`",
    note = "enable the feature of your database: `idempotent-runtime = {{ features = [\"postgres\"] }}`, `\"mysql\"` or `\"sqlite\"`"
)]
pub trait AsyncConnection: Connection {}

/// A connection of blocking diesel, for functions without `async`: `PgConnection`, `MysqlConnection` and
/// `SqliteConnection`. The features `blocking-postgres`, `blocking-mysql`, and `blocking` with `sqlite`, add them.
///
/// ```
/// # #[cfg(all(feature = "blocking", feature = "sqlite"))] {
/// fn blocks<C: idempotent_runtime::BlockingConnection>() {}
/// blocks::<diesel::SqliteConnection>();
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a connection of blocking diesel that idempotency records can be kept through",
    label = "expected `PgConnection`, `MysqlConnection` or `SqliteConnection`",
    note = "a connection of diesel-async belongs to a function with `async`",
    note = "enable the feature of your database: `idempotent-runtime = {{ features = [\"blocking-postgres\"] }}`, `\"blocking-mysql\"`, or `\"blocking\"` and `\"sqlite\"`"
)]
pub trait BlockingConnection: Connection {}

/// A connection of diesel-async with its driver.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! async_connection {
    ($connection:ty, $driver:expr) => {
        impl $crate::connection::Connection for $connection {
            type Returns<'c, T: Send + 'c> = futures_util::future::BoxFuture<'c, T>;

            fn driver() -> $crate::store::DriverOf<Self> {
                $crate::store::DriverOf(&$driver)
            }

            fn spawn(work: impl Future<Output = ()> + Send + 'static) {
                tokio::spawn(work);
            }

            fn returns<'c, T: Send + 'c>(work: impl Future<Output = T> + Send + 'c) -> Self::Returns<'c, T> {
                Box::pin(work)
            }
        }
    };
}

/// A connection of blocking diesel with its driver.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! blocking_connection {
    ($connection:ty, $driver:expr) => {
        impl $crate::connection::Connection for $connection {
            type Returns<'c, T: Send + 'c> = T;

            fn driver() -> $crate::store::DriverOf<Self> {
                $crate::store::DriverOf(&$driver)
            }

            fn spawn(work: impl Future<Output = ()> + Send + 'static) {
                $crate::blocking::spawn(work);
            }

            fn returns<'c, T: Send + 'c>(work: impl Future<Output = T> + Send + 'c) -> T {
                $crate::blocking::wait(work)
            }
        }
    };
}

#[allow(unused_imports, reason = "used by each backend's feature")]
pub(crate) use {async_connection, blocking_connection};
