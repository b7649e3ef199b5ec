//! What expansions call around a body that is no future: the two halves of `run::plain` and of the machines, waited for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::runtime::{is_there, wait, wait_here};
use crate::connection::Connection;
use crate::error::Error;
use crate::global::{AnyEngine, EngineFor};
use crate::run::plain::{self, Codec, LeasedSpan, Opened, Panic, Span, SteppedSpan};
use crate::steps;
use crate::terms::{Policy, Terms};

/// Runs a body to its end or its panic.
pub fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(body))
}

/// Begins a transaction on the caller's connection (a savepoint inside an open one) and claims in it.
pub fn open<C: Connection, R>(
    codec: Codec<R>,
    policy: &'static Policy,
    terms: Terms<impl EngineFor<C>>,
    conn: &mut C,
) -> Opened<Span<C>, R> {
    wait_here(plain::open(codec, policy, terms, conn))
}

/// Completes and commits, or rolls back. Inside the caller's own transaction the record commits with that.
pub fn close<C: Connection, R>(codec: Codec<R>, span: Span<C>, conn: &mut C, ran: Result<R, Panic>) -> R {
    wait_here(plain::close(codec, span, conn, ran))
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

/// The halves around the body of a transition.
pub mod machine {
    use super::{Connection, Opened, Panic, wait_here};
    use crate::machine::{self, LoadRow, Returns, Span, StateMachine, Terms, Via, ViaSpan};

    pub use super::catch;

    /// Begins a transaction on the caller's connection, and moves the row in it.
    pub fn open<M, C, R, T, E>(
        returns: Returns<R, T, E>,
        terms: Terms<M>,
        conn: &mut C,
        guard: machine::Guard<'_, M::Row>,
        chosen: bool,
    ) -> Opened<Span<M>, R>
    where
        M: StateMachine<Row: LoadRow<C>>,
        C: Connection,
    {
        wait_here(machine::open(returns, terms, conn, guard, chosen))
    }

    /// Appends to the history and commits; or rolls everything back.
    pub fn close<M, C, R, T, E>(
        returns: Returns<R, T, E>,
        span: Span<M>,
        conn: &mut C,
        ran: Result<R, Panic>,
        outcome: Option<&(dyn Fn(&T) -> M + Send + Sync)>,
    ) -> R
    where
        M: StateMachine,
        C: Connection,
    {
        wait_here(machine::close(returns, span, conn, ran, outcome))
    }

    /// Claims the row for a call that `key` names, and commits that.
    pub fn open_via<M, C, R, T, E>(
        returns: Returns<R, T, E>,
        via: Via,
        terms: Terms<M>,
        key: String,
        conn: &mut C,
    ) -> Opened<ViaSpan<M>, R>
    where
        M: StateMachine<Row: LoadRow<C>>,
        C: Connection,
    {
        wait_here(machine::open_via(returns, via, terms, key, conn))
    }

    /// Takes the row out of the state in between.
    pub fn close_via<M, C, R, T, E>(
        returns: Returns<R, T, E>,
        span: ViaSpan<M>,
        conn: &mut C,
        ran: Result<R, Panic>,
        outcome: Option<&(dyn Fn(&T) -> M + Send + Sync)>,
        failed: Option<&(dyn Fn(&E) -> bool + Send + Sync)>,
    ) -> R
    where
        M: StateMachine,
        C: Connection,
    {
        wait_here(machine::close_via(returns, span, conn, ran, outcome, failed))
    }
}
