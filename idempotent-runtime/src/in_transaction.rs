//! A connection that must not go back to its pool with a transaction on it.

use std::ops::{Deref, DerefMut};

use crate::pool::Pooled;
use crate::store::Driver;

/// A connection of the pool with a transaction on it. If the run is dropped before that has ended, it is rolled back in
/// the background: in the pool it would keep its locks until somebody takes the connection.
pub(crate) struct InTransaction<C: Send + 'static> {
    conn: Option<Pooled<C>>,
    /// How deep it was before.
    base: u32,
    driver: &'static dyn Driver<C>,
}

impl<C: Send + 'static> InTransaction<C> {
    pub(crate) fn new(conn: Pooled<C>, base: u32, driver: &'static dyn Driver<C>) -> Self {
        Self { conn: Some(conn), base, driver }
    }

    /// Gives the connection back.
    pub(crate) fn ended(mut self) {
        self.conn = None;
    }
}

impl<C: Send + 'static> Deref for InTransaction<C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.conn.as_ref().unwrap_or_else(|| unreachable!("only `ended` takes it, and takes all"))
    }
}

impl<C: Send + 'static> DerefMut for InTransaction<C> {
    fn deref_mut(&mut self) -> &mut C {
        self.conn.as_mut().unwrap_or_else(|| unreachable!("only `ended` takes it, and takes all"))
    }
}

impl<C: Send + 'static> Drop for InTransaction<C> {
    fn drop(&mut self) {
        let Some(mut conn) = self.conn.take() else { return };
        let (driver, base) = (self.driver, self.base);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // What cannot be rolled back is closed by its pool.
                while driver.depth(&mut conn).is_ok_and(|depth| depth > base) {
                    if driver.roll_back(&mut conn).await.is_err() {
                        break;
                    }
                }
            });
        }
    }
}
