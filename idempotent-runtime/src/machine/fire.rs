//! Events without a body: `OrderStatus::pay().of(id).execute(conn)`.

use std::marker::PhantomData;

use serde::Serialize;

use super::ask::Ask;
use super::error::TransitionError;
use super::firing::{Fired, Firing, Session, check_declared, driver};
use super::many::FireMany;
use super::note::json;
use super::row::LoadRow;
use super::row_id::RowId;
use super::sql::{Key, Sql};
use super::transition::{Moved, Transition};
use super::{StateMachine, state_at};
use crate::connection::Connection;
use crate::transaction::begin;

/// An event of a machine, as in `OrderStatus::pay()`.
///
/// ```
/// # use idempotent_runtime::doc::OrderStatus;
/// assert_eq!(OrderStatus::pay().name(), "pay");
/// ```
#[derive(Debug)]
pub struct EventOf<M> {
    event: usize,
    machine: PhantomData<fn() -> M>,
}

impl<M> Clone for EventOf<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for EventOf<M> {}

impl<M: StateMachine> EventOf<M> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(event: usize) -> Self {
        Self { event, machine: PhantomData }
    }

    /// The event of a name, if the machine has it.
    ///
    /// ```
    /// # use idempotent_runtime::{EventOf, doc::OrderStatus};
    /// assert!(EventOf::<OrderStatus>::named("pay").is_some());
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        M::GRAPH.events.iter().position(|event| event.name == name).map(Self::new)
    }

    /// The name, as the history holds it.
    ///
    /// ```
    /// # use idempotent_runtime::doc::OrderStatus;
    /// assert_eq!(OrderStatus::cancel().name(), "cancel");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        M::GRAPH.events[self.event].name
    }

    /// The event, at one row.
    ///
    /// ```
    /// # use idempotent_runtime::{TransitionError, doc::{OrderStatus, Sqlite as Db}};
    /// # async fn pay(conn: &mut Db) -> Result<(), TransitionError> {
    /// if OrderStatus::pay().of(42).execute(conn).await?.is_applied() {
    ///     println!("it was this call");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(self, id: impl RowId<M::IdType>) -> Fire<M> {
        Fire { firing: Firing::new::<M>(self.ask(), id.row_name()), machine: PhantomData }
    }

    /// The event, at many rows at once.
    ///
    /// ```
    /// # use idempotent_runtime::{TransitionError, doc::{OrderStatus, Sqlite as Db}};
    /// # async fn cancel(conn: &mut Db) -> Result<(), TransitionError> {
    /// let done = OrderStatus::cancel().of_many([1, 2, 3]).execute(conn).await?;
    /// println!("moved {:?}, skipped {:?}", done.moved, done.skipped);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_many<I: RowId<M::IdType>>(self, ids: impl IntoIterator<Item = I>) -> FireMany<M, I> {
        FireMany::new(self.ask(), ids.into_iter().collect())
    }

    fn ask(self) -> Ask {
        Ask::event(M::GRAPH.events[self.event].ident)
    }
}

/// An event at one row, ready to be fired.
///
/// ```
/// # use idempotent_runtime::{TransitionError, doc::{OrderStatus, Sqlite as Db}};
/// # async fn cancel(conn: &mut Db) -> Result<(), TransitionError> {
/// let fire: idempotent_runtime::Fire<OrderStatus> = OrderStatus::cancel().of(42).actor("ann").reason("out of stock");
/// let cancelled = fire.execute(conn).await?;
/// # let _ = cancelled; Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing happens before `execute`"]
pub struct Fire<M> {
    firing: Firing,
    machine: PhantomData<fn() -> M>,
}

impl<M: StateMachine> Fire<M> {
    /// Only if the row still has the version that was seen. The machine declares `version = …`.
    pub fn version(mut self, seen: i64) -> Self {
        self.firing.version = Some(seen);
        self
    }

    /// Chooses the target, where the event leaves that to the outcome.
    pub fn to(mut self, target: &M) -> Self {
        self.firing.target = M::GRAPH.state_of(target.name());
        self
    }

    /// Who did it, for the history.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.firing.notes.actor = Some(actor.into());
        self
    }

    /// Why, for the history.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.firing.notes.reason = Some(reason.into());
        self
    }

    /// What else is worth remembering, for the history: anything that serde can write as JSON. What it cannot is left
    /// out, and said in the log.
    pub fn metadata(mut self, metadata: &impl Serialize) -> Self {
        self.firing.notes.metadata = json(metadata);
        self
    }

    /// Moves the row, if it is where the event may leave from, in a transaction of its own (a savepoint inside the
    /// caller's). The history is appended in the same transaction.
    ///
    /// The guarded update decides: of any number of calls at once one is `Applied`.
    pub fn execute<C>(self, conn: &mut C) -> C::Returns<'_, Result<Transition<Moved<M>>, TransitionError>>
    where
        C: Connection,
        M::Row: LoadRow<C>,
    {
        C::returns(self.run(conn))
    }

    pub(crate) async fn run<C>(self, conn: &mut C) -> Result<Transition<Moved<M>>, TransitionError>
    where
        C: Connection,
        M::Row: LoadRow<C>,
    {
        let firing = self.firing;
        check_declared::<M>(firing.version, &firing.notes)?;
        let sql = Sql::of::<M>(driver::<C>().database());
        let chosen = firing.target.is_none() && firing.ask.is_chosen(M::GRAPH);
        let open = begin(conn).await?;
        let mut session = Session { conn: &mut *conn, sql: &sql };
        let fired = async {
            let edge = match session.fire::<M>(&firing, None, chosen).await? {
                Fired::Moved { edge } => edge,
                Fired::Undecided { stored, edges } if edges.len() > 1 => {
                    return Err(undecided::<M>(&firing, stored, &edges, None));
                }
                Fired::Undecided { stored, edges } => {
                    let edge = edges.first().copied().unwrap_or_default();
                    session.leave_exactly::<M>(&firing, edge, &stored, Key::Leave).await?;
                    edge
                }
                Fired::Already => return Ok(None),
            };
            session.append::<M>(&firing, edge).await?;
            Ok(Some(edge))
        };
        let fired = fired.await;
        let edge = open.end(conn, fired).await?;
        Ok(edge.map_or(Transition::AlreadyApplied, |edge| Transition::Applied(moved(edge))))
    }
}

pub(crate) fn moved<M: StateMachine>(edge: usize) -> Moved<M> {
    let edge = &M::GRAPH.edges[edge];
    Moved { from: state_at(edge.from), to: state_at(edge.to) }
}

pub(crate) fn undecided<M: StateMachine>(
    firing: &Firing,
    actual: String,
    edges: &[usize],
    chosen: Option<String>,
) -> TransitionError {
    let graph = M::GRAPH;
    let targets = edges.iter().map(|edge| graph.states[graph.edges[*edge].to].name).collect();
    TransitionError::Undecided { event: firing.ask.event_name(graph), actual, targets, chosen }
}
