//! State machines that are kept in a column: a graph that the compiler checks, and guarded updates of it.

mod aged;
mod ask;
mod birth;
mod checks;
mod columns;
mod constraint;
mod current;
mod decide;
mod diesel_impls;
mod error;
mod fire;
mod firing;
mod graph;
mod many;
mod message;
mod note;
mod returns;
mod row;
mod row_id;
mod schema;
mod snapshot;
mod span;
mod sql;
mod transition;
mod verify;
mod via;

pub use aged::Aged;
pub use ask::{Ask, Sources};
pub use birth::Birth;
pub use checks::{check_edge, check_event, check_needs, check_outcome, check_state};
pub use columns::{Columns, IdType, NoRow, TableName, Tables, number_column, state_column};
pub use constraint::Constraint;
pub use current::Current;
pub use error::TransitionError;
pub use fire::{EventOf, Fire};
pub use graph::{Edge, Event, Expiry, Graph, State};
pub use many::{FireMany, Many, Skipped};
pub use note::Note;
pub use returns::{failed, guard, outcome, returns};
pub use row::LoadRow;
pub use row_id::{RowId, RowName};
pub use snapshot::{GraphDiff, Snapshot};
pub use span::{Terms, close, open};
pub use transition::{Moved, Transition};
pub use verify::{Drift, Verification};
pub use via::{Via, close_via, open_via};

pub(crate) use aged::expire;
#[cfg(feature = "testkit")]
pub(crate) use firing::stored;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::connection::Connection;
use crate::database::Database;

/// A state machine that is kept in a column. `#[derive(StateMachine)]` implements it, and nothing else should.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no state machine",
    label = "expected an enum that derives `StateMachine`"
)]
pub trait StateMachine:
    Clone + fmt::Debug + fmt::Display + FromStr<Err = UnknownState> + Send + Sync + 'static
{
    /// The SQL type of the column that names a row.
    type IdType: IdType;
    /// What guards look at: the type of `row = …`.
    type Row: Send + 'static;

    /// The graph, as it was declared.
    const GRAPH: &'static Graph;
    /// The states, in the order of the graph.
    const STATES: &'static [Self];
    #[doc(hidden)]
    const COLUMNS: &'static Columns;

    #[doc(hidden)]
    fn tables() -> Tables;

    /// The name, as the column holds it.
    fn name(&self) -> &str;

    /// The state of a name that the graph does not have: that of the `#[state(other)]` variant.
    #[doc(hidden)]
    fn of_other(name: &str) -> Option<Self>;

    /// Whether the guard of an edge lets a row pass.
    #[doc(hidden)]
    fn passes(edge: usize, row: &Self::Row) -> bool;

    /// The names of the events, in the order of their declaration.
    #[must_use]
    fn events() -> Vec<&'static str> {
        Self::GRAPH.events.iter().map(|event| event.name).collect()
    }

    /// The names of the events that are possible in this state; none in one that the graph does not have.
    fn allowed_from(&self) -> Vec<&'static str> {
        Self::GRAPH.state_of(self.name()).map_or_else(Vec::new, |state| Self::GRAPH.allowed_from(state))
    }

    /// Whether nothing leaves this state. One that the graph does not have is none: something newer may leave it.
    fn is_terminal(&self) -> bool {
        Self::GRAPH.state_of(self.name()).is_some_and(|state| Self::GRAPH.is_terminal(state))
    }

    /// The graph as a Mermaid state diagram, which rustdoc, GitHub and others draw.
    #[must_use]
    fn mermaid() -> String {
        Self::GRAPH.mermaid()
    }

    /// The graph in the language of Graphviz.
    #[must_use]
    fn dot() -> String {
        Self::GRAPH.dot()
    }

    /// The condition of a CHECK constraint that permits the states of the graph, and nothing else.
    #[must_use]
    fn check_sql(database: Database) -> String {
        schema::check::<Self>(database)
    }

    /// The statements that add what the machine needs to its table: the column with its CHECK, the columns of version,
    /// time and key, and the history. To be copied into a migration, and changed there.
    #[must_use]
    fn migration_sql(database: Database) -> String {
        schema::migration::<Self>(database)
    }

    /// The statement that creates a trigger which refuses every update of the column that is no edge of the graph, also
    /// those of other programs, and of an operator's hand.
    #[must_use]
    fn trigger_sql(database: Database) -> String {
        schema::trigger::<Self>(database)
    }

    /// The graph to be kept, and to be compared at the next release.
    #[must_use]
    fn snapshot() -> Snapshot {
        Snapshot::of(Self::GRAPH)
    }

    /// A number for the graph, that changes with its states and edges and with nothing else: [`Snapshot::hash`].
    #[must_use]
    fn graph_hash() -> String {
        Self::snapshot().hash()
    }

    /// The first line of a row's history, for the transaction that inserts it.
    fn born(self, id: impl RowId<Self::IdType>) -> Birth<Self> {
        Birth::new(self, &id)
    }

    /// Reads every value of the column with its count, and the CHECK constraint, and holds them against the graph.
    /// Writes nothing.
    fn verify<C: Connection>(conn: &mut C) -> C::Returns<'_, Result<Verification, TransitionError>> {
        C::returns(verify::verify::<Self, C>(conn))
    }

    /// The rows that have been in this state for at least `age`, the oldest first: what is stuck. The machine declares
    /// `entered = …`; without it there are none to be found.
    fn for_at_least<'c, C: Connection>(
        &self,
        age: Duration,
        limit: u32,
        conn: &'c mut C,
    ) -> C::Returns<'c, Result<Vec<Aged>, TransitionError>> {
        let names: Vec<&'static str> = match Self::GRAPH.state_of(self.name()) {
            Some(state) => Self::GRAPH.stored_names(state).collect(),
            None => Vec::new(),
        };
        C::returns(async move { aged::aged::<Self, C>(&names, age, limit, conn).await })
    }

    /// Ends what `expires(…)` says is to end by itself: at most `limit` rows, in one transaction. Says how many.
    fn expire_due<C: Connection>(limit: u32, conn: &mut C) -> C::Returns<'_, Result<usize, TransitionError>>
    where
        Self::Row: LoadRow<C>,
    {
        C::returns(aged::expire::<Self, C>(limit, conn))
    }
}

/// The state at a place of the graph.
pub(crate) fn state_at<M: StateMachine>(state: usize) -> M {
    M::STATES[state].clone()
}

/// A stored value that is no state of a machine.
///
/// ```
/// # use idempotent_runtime::doc::OrderStatus;
/// let unknown = "shipped".parse::<OrderStatus>().unwrap_err();
/// assert_eq!(unknown.value, "shipped");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is no state of `{machine}`; its states are {}", listed(.machine_states))]
pub struct UnknownState {
    /// What is stored.
    pub value: String,
    /// The name of the enum.
    pub machine: &'static str,
    machine_states: Vec<&'static str>,
}

impl UnknownState {
    pub(crate) fn new<M: StateMachine>(value: &str) -> Self {
        let machine_states = M::GRAPH.states.iter().map(|state| state.name).collect();
        Self { value: value.to_owned(), machine: M::GRAPH.name, machine_states }
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Reads a stored name, byte by byte.
#[doc(hidden)]
pub fn parse<M: StateMachine>(stored: &str) -> Result<M, UnknownState> {
    match M::GRAPH.state_of(stored) {
        Some(state) => Ok(M::STATES[state].clone()),
        None => M::of_other(stored).ok_or_else(|| UnknownState::new::<M>(stored)),
    }
}
