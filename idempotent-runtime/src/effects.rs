//! Effects after the commit: what is done once the outermost transaction has committed, and never after a rollback.
//!
//! Each transaction that this crate begins has a frame, found by the address of its connection, which nobody can move
//! while the transaction borrows it. An effect lies in the innermost frame; when that commits, it goes to the frame
//! around, and from the outermost one it is run.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use once_cell::sync::Lazy;

use crate::connection::Connection;

type Effect = Box<dyn FnOnce() -> BoxFuture<'static, Result<(), String>> + Send>;

/// The frames of every connection that is in a transaction of ours, the innermost last.
static FRAMES: Lazy<Mutex<HashMap<usize, Vec<State>>>> = Lazy::new(Mutex::default);

/// Tells the frames apart, also of connections that come to lie at one address after each other.
static NEXT: AtomicU64 = AtomicU64::new(0);

struct State {
    id: u64,
    /// How deep the connection is inside.
    inside: u32,
    /// Whether a transaction is around that is not ours, so that nobody here sees its end.
    foreign: bool,
    effects: Vec<Effect>,
}

fn frames() -> MutexGuard<'static, HashMap<usize, Vec<State>>> {
    FRAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frame of a transaction. Dropped, it takes its effects with it.
#[derive(Debug)]
pub(crate) struct Frame {
    address: usize,
    id: u64,
    open: bool,
}

impl Frame {
    /// Opens the frame of a transaction on a connection that was `base` deep before, and is `inside` deep now.
    pub(crate) fn open<C>(conn: &C, base: u32, inside: u32) -> Self {
        let address = address(conn);
        let mut frames = frames();
        let around = frames.entry(address).or_default();
        let foreign = match around.last() {
            Some(outer) => outer.foreign || outer.inside != base,
            None => base > 0,
        };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        around.push(State { id, inside, foreign, effects: Vec::new() });
        Self { address, id, open: true }
    }

    /// The transaction has ended: what is to be done now.
    pub(crate) fn ended(self, committed: bool) -> Effects {
        if committed { self.committed() } else { Effects(Vec::new()) }
    }

    /// The transaction has committed: what is to be done now, which is nothing while another one of ours is around.
    pub(crate) fn committed(mut self) -> Effects {
        let Some(state) = self.close() else { return Effects(Vec::new()) };
        match frames().get_mut(&self.address).and_then(|around| around.last_mut()) {
            Some(outer) => {
                outer.effects.extend(state.effects);
                Effects(Vec::new())
            }
            None => Effects(state.effects),
        }
    }

    fn close(&mut self) -> Option<State> {
        if !std::mem::take(&mut self.open) {
            return None;
        }
        let mut frames = frames();
        let around = frames.get_mut(&self.address)?;
        let at = around.iter().rposition(|state| state.id == self.id);
        let state = at.map(|at| around.remove(at));
        if around.is_empty() {
            frames.remove(&self.address);
        }
        state
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.close();
    }
}

fn address<C>(conn: &C) -> usize {
    std::ptr::from_ref(conn).addr()
}

/// What is to be done after a commit.
#[must_use]
pub(crate) struct Effects(Vec<Effect>);

impl Effects {
    /// Runs each, in order. One that fails or panics is reported, and does not keep the next from running.
    pub(crate) async fn run(self) {
        for effect in self.0 {
            let failed = match AssertUnwindSafe(async { effect().await }).catch_unwind().await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error,
                Err(panic) => format!("it panicked: {}", said(panic.as_ref())),
            };
            tracing::error!(error = failed, "an effect after a commit failed; what it belongs to is committed");
        }
    }
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Why an effect was refused.
///
/// ```
/// let error: Option<idempotent_runtime::EffectError> = None;
/// # let _ = error;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EffectError {
    /// The connection is in no transaction, or in one that this crate did not begin and whose end it cannot see.
    #[error(
        "an effect after the commit needs a transaction of this crate; use `idempotent_runtime::transaction(conn, …)` or an `#[idempotent]` function with `#[tx]`, and no `conn.transaction(…)` in between"
    )]
    NotInTransaction,
}

/// Runs `effect` after the outermost transaction of `conn` has committed, and never if it rolls back: sends a mail,
/// calls another service, wakes a worker.
///
/// The transaction must be one of this crate's: [`transaction`](crate::transaction), an `#[idempotent]` function with
/// `#[tx]`, `steps.tx`, or a `#[state_transition]` that is the outermost one itself. Otherwise the effect is refused.
///
/// Effects run in the order in which they were given, before the function around returns. One that fails or panics is
/// reported as an error of `tracing`, and the next one runs. They are in memory: a crash between the commit and the
/// effect loses it, so that it happens **at most once**. For at least once write a row into an outbox in the same
/// transaction, and let a worker send it.
///
/// ```
/// # use idempotent_runtime::{after_commit, doc::Sqlite as Db, transaction};
/// # async fn send_mail() -> Result<(), std::io::Error> { Ok(()) }
/// # async fn pay(conn: &mut Db) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// transaction(conn, async |conn| {
///     // … writes through `conn`
///     after_commit(conn, async || send_mail().await)?;
///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
/// })
/// .await
/// # }
/// ```
pub fn after_commit<C, F, R, E>(conn: &mut C, effect: F) -> Result<(), EffectError>
where
    C: Connection,
    F: FnOnce() -> R + Send + 'static,
    R: Future<Output = Result<(), E>> + Send + 'static,
    E: fmt::Display,
{
    let depth = C::driver().0.depth(conn).unwrap_or(0);
    let mut frames = frames();
    let innermost = frames.get_mut(&address(conn)).and_then(|around| around.last_mut());
    let frame = innermost.filter(|frame| !frame.foreign && frame.inside == depth);
    let frame = frame.ok_or(EffectError::NotInTransaction)?;
    frame.effects.push(Box::new(|| effect().map(|done| done.map_err(|error| error.to_string())).boxed()));
    Ok(())
}
