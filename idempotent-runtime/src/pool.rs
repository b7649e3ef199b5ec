//! Where connections come from: deadpool, bb8, or a pool of the user's own.

use std::ops::{Deref, DerefMut};

use futures_util::future::BoxFuture;

/// A connection that goes back to its pool when dropped.
///
/// ```
/// # use idempotent_runtime::Pooled;
/// let mut pooled = Pooled::new(Box::new(1));
/// *pooled += 1;
/// assert_eq!(*pooled, 2);
/// ```
pub struct Pooled<C>(Box<dyn DerefMut<Target = C> + Send>);

impl<C> Pooled<C> {
    /// Wraps the guard that a pool hands out.
    ///
    /// ```
    /// # use idempotent_runtime::Pooled;
    /// let pooled = Pooled::new(Box::new("a connection"));
    /// # let _ = pooled;
    /// ```
    pub fn new(guard: impl DerefMut<Target = C> + Send + 'static) -> Self {
        Self(Box::new(guard))
    }
}

impl<C> Deref for Pooled<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0
    }
}

impl<C> DerefMut for Pooled<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.0
    }
}

impl<C> std::fmt::Debug for Pooled<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pooled")
    }
}

/// Why a pool gave no connection.
///
/// ```
/// let error: idempotent_runtime::PoolError = "the pool is closed".into();
/// # let _ = error;
/// ```
pub type PoolError = Box<dyn std::error::Error + Send + Sync>;

/// A pool of connections. Implemented for the pools of deadpool and bb8; implement it for another one here:
///
/// ```
/// use futures_util::future::{BoxFuture, FutureExt};
/// use idempotent_runtime::{ConnectionPool, PoolError, Pooled};
///
/// struct Fresh<C>(String, std::marker::PhantomData<fn() -> C>);
///
/// impl<C: idempotent_runtime::AsyncConnection + diesel_async::AsyncConnection> ConnectionPool<C> for Fresh<C> {
///     fn get(&self) -> BoxFuture<'_, Result<Pooled<C>, PoolError>> {
///         async { Ok(Pooled::new(Box::new(C::establish(&self.0).await?))) }.boxed()
///     }
/// }
/// ```
///
/// A pool must not hand out a connection again that was returned with an open transaction
/// (`is_broken_transaction_manager` of diesel-async).
pub trait ConnectionPool<C>: Send + Sync + 'static {
    /// Waits for a connection.
    ///
    /// ```
    /// # async fn take(pool: &dyn idempotent_runtime::ConnectionPool<u8>) -> Result<(), idempotent_runtime::PoolError> {
    /// let conn = pool.get().await?;
    /// # let _ = conn; Ok(())
    /// # }
    /// ```
    fn get(&self) -> BoxFuture<'_, Result<Pooled<C>, PoolError>>;
}

/// Implements the pools for one connection type. Not to be said generically: what the pools ask of a connection cannot
/// be proven for a type parameter.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! pools {
    ($connection:ty) => {
        #[cfg(feature = "deadpool")]
        impl ConnectionPool<$connection> for diesel_async::pooled_connection::deadpool::Pool<$connection> {
            fn get(&self) -> BoxFuture<'_, Result<Pooled<$connection>, PoolError>> {
                Box::pin(async move { Ok(Pooled::new(self.get().await?)) })
            }
        }

        #[cfg(feature = "bb8")]
        impl ConnectionPool<$connection> for diesel_async::pooled_connection::bb8::Pool<$connection> {
            fn get(&self) -> BoxFuture<'_, Result<Pooled<$connection>, PoolError>> {
                Box::pin(async move { Ok(Pooled::new(self.get_owned().await?)) })
            }
        }
    };
}

#[cfg(feature = "postgres")]
pools!(diesel_async::AsyncPgConnection);
#[cfg(feature = "mysql")]
pools!(diesel_async::AsyncMysqlConnection);
#[cfg(feature = "sqlite")]
pools!(diesel_async::sync_connection_wrapper::SyncConnectionWrapper<diesel::SqliteConnection>);

/// Implements the pool of r2d2 for one connection of blocking diesel. It is waited for on a thread that may block.
#[allow(unused_macros, reason = "used by each backend's feature")]
macro_rules! blocking_pool {
    ($connection:ty) => {
        impl ConnectionPool<$connection> for diesel::r2d2::Pool<diesel::r2d2::ConnectionManager<$connection>> {
            fn get(&self) -> BoxFuture<'_, Result<Pooled<$connection>, PoolError>> {
                let pool = self.clone();
                Box::pin(async move {
                    // A free one is there at once.
                    if let Some(conn) = pool.try_get() {
                        return Ok(Pooled::new(conn));
                    }
                    Ok(Pooled::new(tokio::task::spawn_blocking(move || pool.get()).await??))
                })
            }
        }
    };
}

#[cfg(feature = "blocking-postgres")]
blocking_pool!(diesel::PgConnection);
#[cfg(feature = "blocking-mysql")]
blocking_pool!(diesel::MysqlConnection);
#[cfg(all(feature = "blocking", feature = "sqlite"))]
blocking_pool!(diesel::SqliteConnection);
