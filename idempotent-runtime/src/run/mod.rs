//! Claim, execute, store: the protocol around one function, whatever the function answers with.

mod backoff;
mod leased;
pub mod plain;
mod transactional;
mod waiting;

pub(crate) use backoff::Backoff;
pub(crate) use leased::{Grant, leased};
pub(crate) use transactional::{transactional, unclaimed};
pub(crate) use waiting::{Patience, Turn, WaitingRoom};

use futures_util::future::BoxFuture;

use crate::claim::Kept;
use crate::store::End;

/// What a body gave, and what is to be kept of it.
#[derive(Debug)]
pub(crate) struct Ran<R> {
    pub(crate) value: R,
    pub(crate) end: End,
}

/// What runs in a transaction, again if it must.
pub(crate) trait Body<C>: Send {
    type Value;
    fn run<'c>(&'c mut self, conn: &'c mut C) -> BoxFuture<'c, Ran<Self::Value>>;
}

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Outcome<R> {
    /// The body ran.
    Ran(R),
    /// It ran before.
    Replayed(Kept),
}
