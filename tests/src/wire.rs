//! What goes over the wire between a program and its database, counted.

pub(crate) mod mysql;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::ops::Sub;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diesel_async::pooled_connection::RecyclingMethod;
use futures_util::FutureExt;

/// How much of it there was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often the program waited for the server: for what is sent in one piece, once. `SQLite` has no server.
    pub round_trips: i32,
    /// Statements that were executed; what is sent as one text is one.
    pub statements: i32,
    /// Statements that were prepared. Those that `SQLite` prepares and does not keep are not seen.
    pub prepared: i32,
    /// How often a pool gave its connection out again. A pool that first asks whether it still lives, as they do by
    /// default, adds a round trip and a statement to each; the pools that are counted do not ask.
    pub checkouts: i32,
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        let Self { round_trips, statements, prepared, checkouts } = self;
        Self {
            round_trips: round_trips - earlier.round_trips,
            statements: statements - earlier.statements,
            prepared: prepared - earlier.prepared,
            checkouts: checkouts - earlier.checkouts,
        }
    }
}

/// The counts of a pool's connections.
#[derive(Debug, Clone, Default)]
pub struct Wire(Arc<Mutex<Counts>>);

impl Wire {
    /// What there was so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        *self.lock()
    }

    /// What there was while something was done, and what that gave.
    pub async fn of<T>(&self, work: impl Future<Output = T>) -> (Counts, T) {
        let before = self.counts();
        let done = work.await;
        (self.counts() - before, done)
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a checkout, in place of asking whether the connection still lives.
    pub(crate) fn recycling<C>(&self) -> RecyclingMethod<C> {
        let wire = self.clone();
        RecyclingMethod::CustomFunction(Box::new(move |_| {
            wire.lock().checkouts += 1;
            std::future::ready(Ok(())).boxed()
        }))
    }
}

/// Bytes that arrive in pieces, and are read as whole messages.
#[derive(Debug, Default)]
struct Messages(Vec<u8>);

impl Messages {
    fn arrive(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole message, of the length that its first bytes tell.
    fn next(&mut self, length: impl FnOnce(&[u8]) -> Option<usize>) -> Option<Vec<u8>> {
        let length = length(&self.0).filter(|length| *length <= self.0.len())?;
        let rest = self.0.split_off(length);
        Some(std::mem::replace(&mut self.0, rest))
    }
}
