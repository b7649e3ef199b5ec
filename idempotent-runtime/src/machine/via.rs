//! Transitions around the call of another system: a state in between is committed before the call, with the key that is
//! sent there, so that whoever finds the row stuck goes on with the same key.

use std::panic::resume_unwind;

use super::ask::Ask;
use super::decide::{Found, Request, Verdict, decide, refused};
use super::error::TransitionError;
use super::fire::undecided;
use super::firing::{Firing, Session, driver};
use super::returns::{Ran, Returns};
use super::row::LoadRow;
use super::span::Terms;
use super::sql::{Key, Sql};
use super::{StateMachine, state_at};
use crate::connection::Connection;
use crate::failpoint::failpoint;
use crate::run::plain::{Opened, Panic};
use crate::transaction::begin;

/// The ways of a transition around a call.
#[derive(Debug, Clone, Copy)]
pub struct Via {
    /// Into the state in between.
    pub claim: Ask,
    /// Out of it, when the call has succeeded.
    pub success: Ask,
    /// Out of it, when the call has failed for good.
    pub failure: Option<Ask>,
    /// After how many milliseconds another caller may go on with a row that is stuck in between.
    pub reclaim_ms: i64,
}

/// A row that is claimed, and committed, in the state in between.
#[derive(Debug)]
pub struct ViaSpan<M> {
    via: Via,
    firing: Firing,
    key: String,
    machine: std::marker::PhantomData<fn() -> M>,
}

impl<M> ViaSpan<M> {
    /// The key to send to the other system: the one that was given, or that of the caller who began.
    #[must_use]
    pub fn key(&self) -> String {
        self.key.clone()
    }
}

/// Claims the row for a call that `key` names, and commits that; or goes on with a claim that has the same key, or that
/// is old enough, with the key of that one.
pub async fn open_via<M, C, R, T, E>(
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
    let (firing, machine) = terms.into_parts();
    match claim::<M, C>(via, &firing, key, conn).await {
        Ok(Some(key)) => {
            failpoint!("via.claimed");
            Opened::Run(ViaSpan { via, firing, key, machine })
        }
        Ok(None) => Opened::Done((returns.already)()),
        Err(error) => Opened::Done((returns.refuse)(error)),
    }
}

async fn claim<M, C>(via: Via, firing: &Firing, key: String, conn: &mut C) -> Result<Option<String>, TransitionError>
where
    M: StateMachine<Row: LoadRow<C>>,
    C: Connection,
{
    let graph = M::GRAPH;
    if driver::<C>().depth(conn)? > 0 {
        let between = via.claim.edges(graph).next().map_or("", |(_, edge)| graph.states[edge.to].name);
        return Err(TransitionError::InTransaction { event: via.claim.event_name(graph), via: between });
    }
    let sql = Sql::of::<M>(driver::<C>().database());
    let open = begin(conn).await?;
    let mut session = Session { conn: &mut *conn, sql: &sql };
    let claimed = session.claim::<M>(via, firing, key).await;
    open.end(conn, claimed).await
}

/// Takes the row out of the state in between: to where the success or the failure leads. Any other error leaves it
/// there: nobody knows whether the other system did its part, and whoever goes on asks with the same key.
pub async fn close_via<M, C, R, T, E>(
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
    let ViaSpan { via, firing, key, machine: _ } = span;
    let result = ran.unwrap_or_else(|panic| resume_unwind(panic));
    failpoint!("via.executed");
    let (ask, chosen, failure) = match (returns.ran)(&result) {
        Ran::Stays => return result,
        Ran::Applied(value) => (via.success, outcome.map(|outcome| outcome(value)), false),
        Ran::Failed(error) => match via.failure {
            Some(failure) if failed.is_some_and(|failed| failed(error)) => (failure, None, true),
            _ => return result,
        },
    };
    let firing = Firing { ask, version: None, ..firing };
    match leave::<M, C>(&firing, &key, chosen, conn).await {
        Ok(left) => {
            failpoint!("via.left");
            if left || failure { result } else { (returns.already)() }
        }
        Err(error) if failure => {
            tracing::warn!(%error, row = firing.label, "a failed transition could not be taken back; it is stuck");
            result
        }
        Err(error) => (returns.refuse)(error),
    }
}

/// Whether this call took the row out.
async fn leave<M: StateMachine, C: Connection>(
    firing: &Firing,
    key: &str,
    chosen: Option<M>,
    conn: &mut C,
) -> Result<bool, TransitionError> {
    let sql = Sql::of::<M>(driver::<C>().database());
    let open = begin(conn).await?;
    let mut session = Session { conn: &mut *conn, sql: &sql };
    let left = session.finish::<M>(firing, key, chosen).await;
    open.end(conn, left).await
}

impl<C: Connection> Session<'_, C> {
    /// Claims, or goes on; the key to send, or `None` if there is nothing left to do.
    async fn claim<M>(&mut self, via: Via, firing: &Firing, key: String) -> Result<Option<String>, TransitionError>
    where
        M: StateMachine<Row: LoadRow<C>>,
    {
        let found = self.lock(&firing.row).await?;
        let stored = found.as_ref().and_then(|found| found.state.clone()).unwrap_or_default();
        let request = Request { ask: via.claim, ..firing.request() };
        match decide::<M>(request, found.as_ref()) {
            Verdict::Move { from, edges } => {
                let edge = self.edge_of::<M>(firing, request, from, &edges).await?;
                self.leave_exactly::<M>(firing, edge, &stored, Key::Set(&key)).await?;
                self.append::<M>(firing, edge).await?;
                Ok(Some(key))
            }
            Verdict::Already => {
                let Some(Found { key: Some(begun), age, .. }) = found else {
                    return Err(busy::<M>(firing, via));
                };
                if begun != key && age.is_none_or(|age| age < via.reclaim_ms) {
                    return Err(busy::<M>(firing, via));
                }
                let Some(stay) = self.sql.stay(&firing.row.bind, &stored, &begun) else {
                    return Err(busy::<M>(firing, via));
                };
                match self.execute(stay).await? {
                    1 => Ok(Some(begun)),
                    _ => Err(busy::<M>(firing, via)),
                }
            }
            Verdict::Refuse(error) => {
                let request = Request { ask: via.success, ..request };
                match decide::<M>(request, found.as_ref()) {
                    Verdict::Already => Ok(None),
                    Verdict::Move { .. } | Verdict::Refuse(_) => {
                        // Whether the row has passed is asked of the target, not of the state in between.
                        let firing = Firing { ask: via.success, ..firing.clone() };
                        Err(self.passed::<M>(&firing, error).await?)
                    }
                }
            }
        }
    }

    /// Leaves the state in between; false if another caller with the same key was faster.
    async fn finish<M: StateMachine>(
        &mut self,
        firing: &Firing,
        key: &str,
        chosen: Option<M>,
    ) -> Result<bool, TransitionError> {
        let graph = M::GRAPH;
        let edges: Vec<usize> = firing.ask.edges(graph).map(|(edge, _)| edge).collect();
        let leads = |edge: &&usize| {
            let target = graph.states[graph.edges[**edge].to].name;
            chosen.as_ref().is_none_or(|chosen| chosen.name() == target)
        };
        let Some(edge) = edges.iter().find(leads).copied() else {
            let between =
                edges.first().map_or_else(String::new, |edge| state_at::<M>(graph.edges[*edge].from).name().to_owned());
            return Err(undecided::<M>(firing, between, &edges, chosen.map(|chosen| chosen.name().to_owned())));
        };
        let from = graph.stored_names(graph.edges[edge].from).collect();
        if self.leave::<M>(firing, edge, from, Key::Ask(key)).await? == 1 {
            self.append::<M>(firing, edge).await?;
            return Ok(true);
        }
        let found = self.lock(&firing.row).await?;
        match decide::<M>(firing.request(), found.as_ref()) {
            Verdict::Already => Ok(false),
            Verdict::Refuse(error) => Err(self.passed::<M>(firing, error).await?),
            // It is claimed anew, with another key: this call belongs to an attempt that has ended.
            Verdict::Move { from, .. } => Err(refused::<M>(firing.request(), from, Some("the key of another attempt"))),
        }
    }
}

/// The conflict of a row that somebody else is paying, so to speak.
fn busy<M: StateMachine>(firing: &Firing, via: Via) -> TransitionError {
    let between = via.success.edges(M::GRAPH).next().map_or(0, |(_, edge)| edge.from);
    refused::<M>(firing.request(), between, Some("an attempt that is under way"))
}
