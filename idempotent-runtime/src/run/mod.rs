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

use std::future::Future;

use crate::claim::Kept;
use crate::store::End;

/// What a body gave, and what is to be kept of it.
#[derive(Debug)]
pub(crate) struct Ran<R> {
    pub(crate) value: R,
    pub(crate) end: End,
}

/// What runs in a transaction, again if it must. A run is `Send` where its framework wants it, and nowhere else.
pub(crate) trait Body<C: 'static>: 'static {
    type Value;
    type Run<'c>: Future<Output = Ran<Self::Value>>;
    fn run<'c>(&'c mut self, conn: &'c mut C) -> Self::Run<'c>;
}

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Outcome<R> {
    /// The body ran.
    Ran(R),
    /// It ran before.
    Replayed(Kept),
}
