//! A connection that runs one statement after the other: the one thing in which async and blocking diesel differ.

use std::future::Future;

use diesel::QueryResult;
use diesel::connection::{Instrumentation, TransactionManagerStatus};

use super::statement::Statement;

/// A connection on which statements run that return rows of the SQL types `ST`, read as `R`.
pub trait Rows<ST, R>: Send {
    /// Runs a statement, and reads all its rows.
    fn rows(&mut self, statement: Statement<ST>) -> impl Future<Output = QueryResult<Vec<R>>> + Send;
}

/// A connection on which a driver can do its work.
pub(crate) trait Wire: Send + Sized + 'static {
    /// Runs a statement; says how many rows it changed.
    fn execute(&mut self, statement: Statement) -> impl Future<Output = QueryResult<usize>> + Send;
    /// Runs statements without values, in one round trip.
    fn batch(&mut self, sql: &str) -> impl Future<Output = QueryResult<()>> + Send;

    /// Begins a transaction, or a savepoint inside one.
    fn begin(&mut self) -> impl Future<Output = QueryResult<()>> + Send;
    /// Begins a transaction with these words.
    fn begin_with(&mut self, sql: &str) -> impl Future<Output = QueryResult<()>> + Send;
    /// Commits the innermost transaction, or releases the savepoint.
    fn commit(&mut self) -> impl Future<Output = QueryResult<()>> + Send;
    /// Rolls the innermost transaction back, or to the savepoint.
    fn roll_back(&mut self) -> impl Future<Output = QueryResult<()>> + Send;

    /// What diesel's transaction manager knows.
    fn status(&mut self) -> &mut TransactionManagerStatus;
    /// What watches the statements.
    fn watcher(&mut self) -> &mut dyn Instrumentation;
    /// Puts something else there.
    fn set_watcher(&mut self, watcher: impl Instrumentation);
    /// Turns the cache of prepared statements off.
    fn without_statement_cache(&mut self);
}

/// How many transactions and savepoints are open.
pub(crate) fn depth(conn: &mut impl Wire) -> QueryResult<u32> {
    Ok(conn.status().transaction_depth()?.map_or(0, u32::from))
}

/// Ends the outermost transaction in one round trip. Where that fails it is rolled back; where that fails too, the
/// connection is one that its pool discards.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) async fn end_with(conn: &mut impl Wire, sql: &str, roll_back: &str) -> QueryResult<()> {
    // Whoever finds the connection while this is under way must not use it.
    conn.status().set_in_error();
    let ended = conn.batch(sql).await;
    if ended.is_err() {
        conn.batch(roll_back).await?;
    }
    *conn.status() = TransactionManagerStatus::default();
    ended
}

/// Implements [`Rows`] for a connection of diesel-async. Not to be said generically: what diesel asks of a connection
/// cannot be proven for a type parameter.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! async_rows {
    ($connection:ty) => {
        impl<ST, R> $crate::store::wire::Rows<ST, R> for $connection
        where
            ST: 'static,
            R: Send + 'static,
            $crate::store::statement::Statement<ST>: for<'q> diesel_async::methods::LoadQuery<'q, $connection, R>,
        {
            fn rows(
                &mut self,
                statement: $crate::store::statement::Statement<ST>,
            ) -> impl Future<Output = diesel::QueryResult<Vec<R>>> + Send {
                diesel_async::RunQueryDsl::load(statement, self)
            }
        }
    };
}

/// The same for a connection of blocking diesel: the future is over when it is first asked.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! blocking_rows {
    ($connection:ty) => {
        impl<ST, R> $crate::store::wire::Rows<ST, R> for $connection
        where
            ST: 'static,
            R: Send + 'static,
            $crate::store::statement::Statement<ST>: for<'q> diesel::query_dsl::methods::LoadQuery<'q, $connection, R>,
        {
            async fn rows(
                &mut self,
                statement: $crate::store::statement::Statement<ST>,
            ) -> diesel::QueryResult<Vec<R>> {
                $crate::blocking::block(|| diesel::RunQueryDsl::load(statement, self))
            }
        }
    };
}

/// Implements [`Wire`] for a connection of diesel-async.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! async_wire {
    ($connection:ty) => {
        const _: () = {
            use diesel::QueryResult;
            use diesel::connection::{CacheSize, Instrumentation, TransactionManagerStatus};
            use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection, TransactionManager};
            use $crate::store::statement::Statement;
            use $crate::store::wire::Wire;

            type Manager = <$connection as AsyncConnection>::TransactionManager;

            impl Wire for $connection {
                fn execute(&mut self, statement: Statement) -> impl Future<Output = QueryResult<usize>> + Send {
                    RunQueryDsl::execute(statement, self)
                }

                fn batch(&mut self, sql: &str) -> impl Future<Output = QueryResult<()>> + Send {
                    SimpleAsyncConnection::batch_execute(self, sql)
                }

                fn begin(&mut self) -> impl Future<Output = QueryResult<()>> + Send {
                    Manager::begin_transaction(self)
                }

                fn begin_with(&mut self, sql: &str) -> impl Future<Output = QueryResult<()>> + Send {
                    Manager::begin_transaction_sql(self, sql)
                }

                fn commit(&mut self) -> impl Future<Output = QueryResult<()>> + Send {
                    Manager::commit_transaction(self)
                }

                fn roll_back(&mut self) -> impl Future<Output = QueryResult<()>> + Send {
                    Manager::rollback_transaction(self)
                }

                fn status(&mut self) -> &mut TransactionManagerStatus {
                    Manager::transaction_manager_status_mut(self)
                }

                fn watcher(&mut self) -> &mut dyn Instrumentation {
                    AsyncConnection::instrumentation(self)
                }

                fn set_watcher(&mut self, watcher: impl Instrumentation) {
                    AsyncConnection::set_instrumentation(self, watcher);
                }

                fn without_statement_cache(&mut self) {
                    AsyncConnection::set_prepared_statement_cache_size(self, CacheSize::Disabled);
                }
            }
        };
    };
}

/// The same for a connection of blocking diesel.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! blocking_wire {
    ($connection:ty) => {
        const _: () = {
            use diesel::connection::{
                CacheSize, Connection, Instrumentation, SimpleConnection, TransactionManager, TransactionManagerStatus,
            };
            use diesel::{QueryResult, RunQueryDsl};
            use $crate::blocking::block;
            use $crate::store::statement::Statement;
            use $crate::store::wire::Wire;

            type Manager = <$connection as Connection>::TransactionManager;

            impl Wire for $connection {
                async fn execute(&mut self, statement: Statement) -> QueryResult<usize> {
                    block(|| RunQueryDsl::execute(statement, self))
                }

                async fn batch(&mut self, sql: &str) -> QueryResult<()> {
                    block(|| self.batch_execute(sql))
                }

                async fn begin(&mut self) -> QueryResult<()> {
                    block(|| Manager::begin_transaction(self))
                }

                async fn begin_with(&mut self, sql: &str) -> QueryResult<()> {
                    block(|| Manager::begin_transaction_sql(self, sql))
                }

                async fn commit(&mut self) -> QueryResult<()> {
                    block(|| Manager::commit_transaction(self))
                }

                async fn roll_back(&mut self) -> QueryResult<()> {
                    block(|| Manager::rollback_transaction(self))
                }

                fn status(&mut self) -> &mut TransactionManagerStatus {
                    Manager::transaction_manager_status_mut(self)
                }

                fn watcher(&mut self) -> &mut dyn Instrumentation {
                    Connection::instrumentation(self)
                }

                fn set_watcher(&mut self, watcher: impl Instrumentation) {
                    Connection::set_instrumentation(self, watcher);
                }

                fn without_statement_cache(&mut self) {
                    Connection::set_prepared_statement_cache_size(self, CacheSize::Disabled);
                }
            }
        };
    };
}

#[allow(unused_imports, reason = "used by each backend's feature")]
pub(crate) use {async_rows, async_wire, blocking_rows, blocking_wire};
