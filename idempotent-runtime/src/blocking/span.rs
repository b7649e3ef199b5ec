//! What expansions call around a body that is no future: the two halves of a leased run, waited for. Those of a
//! transaction on the caller's connection they call themselves, inside `wait_here`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::runtime::{is_there, wait};
use crate::connection::Connection;
use crate::error::Error;
use crate::global::{AnyEngine, EngineFor};
use crate::run::plain::{self, Codec, LeasedSpan, Opened, Panic, SteppedSpan};
use crate::steps;
use crate::terms::{Policy, Terms};

/// Runs a body to its end or its panic.
pub fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(body))
}

/// Claims through the engine's pool, under a lease.
pub fn open_leased<R>(codec: Codec<R>, policy: &'static Policy, terms: Terms<impl AnyEngine>) -> Opened<LeasedSpan, R> {
    match is_there() {
        true => wait(plain::open_leased(codec, policy, terms)),
        false => Opened::Done(codec.refuse(no_threads())),
    }
}

/// Completes or releases a leased claim.
pub fn close_leased<R>(codec: Codec<R>, span: LeasedSpan, ran: Result<R, Panic>) -> R {
    wait(plain::close_leased(codec, span, ran))
}

/// Claims through the engine's pool, under a lease, and loads what earlier attempts recorded.
pub fn open_stepped<C: Connection, R>(
    codec: Codec<R>,
    policy: &'static Policy,
    terms: Terms<impl EngineFor<C>>,
) -> Opened<Stepped<C>, R> {
    if !is_there() {
        return Opened::Done(codec.refuse(no_threads()));
    }
    match wait(plain::open_stepped(codec, policy, terms)) {
        Opened::Run(span) => Opened::Run(Stepped(span)),
        Opened::Done(result) => Opened::Done(result),
    }
}

fn no_threads() -> Error {
    Error::unavailable("no thread can be started that renews leases")
}

/// A leased claim with recovery points.
#[derive(Debug)]
pub struct Stepped<C: 'static>(SteppedSpan<C>);

impl<C: Connection> Stepped<C> {
    /// The leased claim, and its steps.
    pub fn split(self) -> (LeasedSpan, super::Steps<C>) {
        let (span, steps): (LeasedSpan, steps::Steps<C>) = self.0.split();
        (span, super::Steps::of(steps))
    }
}
