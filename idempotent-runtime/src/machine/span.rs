//! A transition with a body: what an expansion of `#[state_transition]` calls before and after it.

use std::panic::resume_unwind;

use super::StateMachine;
use super::ask::Ask;
use super::error::TransitionError;
use super::fire::undecided;
use super::firing::{Fired, Firing, Guard, Session, driver};
use super::note::{Note, json};
use super::returns::{Ran, Returns};
use super::row::LoadRow;
use super::row_id::RowId;
use super::sql::{Key, Sql};
use crate::connection::Connection;
use crate::effects::Frame;
use crate::failpoint::failpoint;
use crate::run::plain::{Opened, Panic};
use crate::transaction::{Open, begin};

/// What an attribute says about one call.
#[derive(Debug)]
pub struct Terms<M>(Firing, std::marker::PhantomData<fn() -> M>);

impl<M: StateMachine> Terms<M> {
    /// A call, at the row of an id.
    pub fn new(ask: Ask, id: &impl RowId<M::IdType>) -> Self {
        Self(Firing::new::<M>(ask, id.row_name()), std::marker::PhantomData)
    }

    pub(crate) fn into_parts(self) -> (Firing, std::marker::PhantomData<fn() -> M>) {
        (self.0, self.1)
    }

    /// The version that the caller has seen.
    #[must_use]
    pub fn version(mut self, seen: &i64) -> Self {
        self.0.version = Some(*seen);
        self
    }

    /// Who does it.
    #[must_use]
    pub fn actor(mut self, actor: &(impl Note + ?Sized)) -> Self {
        self.0.notes.actor = actor.note();
        self
    }

    /// Why.
    #[must_use]
    pub fn reason(mut self, reason: &(impl Note + ?Sized)) -> Self {
        self.0.notes.reason = reason.note();
        self
    }

    /// What else is worth remembering.
    #[must_use]
    pub fn metadata(mut self, metadata: &(impl serde::Serialize + ?Sized)) -> Self {
        self.0.notes.metadata = json(&metadata);
        self
    }
}

/// A transition whose body runs.
pub struct Span<M> {
    open: Open,
    /// Of the effects that the body leaves for the commit.
    frame: Frame,
    sql: Sql,
    firing: Firing,
    fired: Fired,
    machine: std::marker::PhantomData<fn() -> M>,
}

impl<M> std::fmt::Debug for Span<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Span").field("firing", &self.firing).finish_non_exhaustive()
    }
}

/// Begins a transaction on the caller's connection, and moves the row in it; or locks it, where the outcome will choose.
pub async fn open<M, C, R, T, E>(
    returns: Returns<R, T, E>,
    terms: Terms<M>,
    conn: &mut C,
    guard: Guard<'_, M::Row>,
    chosen: bool,
) -> Opened<Span<M>, R>
where
    M: StateMachine<Row: LoadRow<C>>,
    C: Connection,
{
    let (firing, machine) = terms.into_parts();
    let sql = Sql::of::<M>(driver::<C>().database());
    let open = match begin(conn).await {
        Ok(open) => open,
        Err(error) => return Opened::Done((returns.refuse)(error.into())),
    };
    failpoint!("transition.begun");
    let mut session = Session { conn: &mut *conn, sql: &sql };
    let done = match session.fire::<M>(&firing, guard, chosen).await {
        Ok(Fired::Already) => (returns.already)(),
        Ok(fired) => {
            failpoint!("transition.moved");
            let frame = open.frame(conn);
            return Opened::Run(Span { open, frame, sql, firing, fired, machine });
        }
        Err(error) => (returns.refuse)(error),
    };
    match open.roll_back(conn).await {
        Ok(()) => Opened::Done(done),
        Err(error) => Opened::Done((returns.refuse)(error.into())),
    }
}

/// Appends to the history and commits; or rolls everything back, also what the body wrote.
pub async fn close<M, C, R, T, E>(
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
    let Span { open, frame, sql, firing, fired, machine: _ } = span;
    let result = match ran {
        Ok(result) => result,
        Err(panic) => {
            drop(frame);
            if let Err(error) = open.roll_back(conn).await {
                tracing::warn!(%error, "a transition could not be rolled back after a panic");
            }
            resume_unwind(panic);
        }
    };
    let chosen = match (returns.ran)(&result) {
        // The function's own answer is more telling than that of its rollback.
        Ran::Failed(_) | Ran::Stays => {
            drop(frame);
            let _ = open.roll_back(conn).await;
            return result;
        }
        Ran::Applied(value) => outcome.map(|outcome| outcome(value)),
    };
    failpoint!("transition.executed");
    let mut session = Session { conn: &mut *conn, sql: &sql };
    let ended = session.end::<M>(&firing, fired, chosen).await;
    failpoint!("transition.ended");
    match ended {
        Ok(proven) => match open.commit(conn, proven).await {
            Ok(()) => {
                failpoint!("transition.committed");
                frame.committed().run().await;
                result
            }
            Err(error) => (returns.refuse)(error.into()),
        },
        Err(error) => {
            drop(frame);
            // What went wrong is more telling than what its rollback says.
            let _ = open.roll_back(conn).await;
            (returns.refuse)(error)
        }
    }
}

impl<C: Connection> Session<'_, C> {
    /// Ends a transition in its transaction; says whether a statement of it went well after the body.
    pub(crate) async fn end<M: StateMachine>(
        &mut self,
        firing: &Firing,
        fired: Fired,
        chosen: Option<M>,
    ) -> Result<bool, TransitionError> {
        let graph = M::GRAPH;
        let (stored, edges) = match fired {
            Fired::Already => return Ok(false),
            Fired::Moved { edge } => return self.append::<M>(firing, edge).await,
            Fired::Undecided { stored, edges } => (stored, edges),
        };
        let target = |edge: usize| graph.states[graph.edges[edge].to].name;
        let edge = edges.iter().find(|edge| chosen.as_ref().is_some_and(|chosen| target(**edge) == chosen.name()));
        let Some(edge) = edge.copied() else {
            let chosen = chosen.map(|chosen| chosen.name().to_owned());
            return Err(undecided::<M>(firing, stored, &edges, chosen));
        };
        self.leave_exactly::<M>(firing, edge, &stored, Key::Leave).await?;
        self.append::<M>(firing, edge).await?;
        Ok(true)
    }
}
