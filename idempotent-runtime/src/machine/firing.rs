//! One event at one row: what is asked, and the statements that do it.

use std::any::Any;

use crate::connection::Connection;
use crate::store::statement::Statement;
use crate::store::{Driver, FoundRow};

use super::StateMachine;
use super::ask::Ask;
use super::columns::NoRow;
use super::decide::{Found, Request, Verdict, choose, decide, label, refused};
use super::error::TransitionError;
use super::row::LoadRow;
use super::row_id::RowName;
use super::sql::{Key, Notes, Sql, Text, Update};

/// One event at one row.
#[derive(Debug, Clone)]
pub(crate) struct Firing {
    pub(crate) ask: Ask,
    pub(crate) row: RowName,
    /// The row, as in "order 42".
    pub(crate) label: String,
    pub(crate) target: Option<usize>,
    pub(crate) version: Option<i64>,
    pub(crate) notes: Notes,
}

impl Firing {
    pub(crate) fn new<M: StateMachine>(ask: Ask, row: RowName) -> Self {
        let label = label::<M>(&row.text);
        Self { ask, row, label, target: None, version: None, notes: Notes::default() }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request { ask: self.ask, row: &self.label, target: self.target, version: self.version }
    }
}

/// Refuses what the machine has no column for: it would be lost without a word.
pub(crate) fn check_declared<M: StateMachine>(version: Option<i64>, notes: &Notes) -> Result<(), TransitionError> {
    let undeclared = |what, argument| TransitionError::Undeclared { what, argument, machine: M::GRAPH.name };
    let Notes { actor, reason, metadata } = notes;
    if version.is_some() && M::COLUMNS.version.is_none() {
        return Err(undeclared("version", "version"));
    }
    let said = [("actor", actor), ("reason", reason), ("metadata", metadata)];
    match said.into_iter().find(|(_, note)| note.is_some()) {
        Some((what, _)) if !M::COLUMNS.history => Err(undeclared(what, "history")),
        _ => Ok(()),
    }
}

/// A guard of the function itself, over its arguments and the locked row.
pub(crate) type Guard<'g, R> = Option<(&'static str, &'g (dyn Fn(&R) -> bool + Send + Sync))>;

/// What came of firing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fired {
    /// The row took this edge.
    Moved { edge: usize },
    /// The row is locked, and the outcome of the function chooses one of these edges.
    Undecided { stored: String, edges: Vec<usize> },
    /// There was nothing left to do.
    Already,
}

/// A machine's statements on a connection, in a transaction that is open.
pub(crate) struct Session<'s, C> {
    pub(crate) conn: &'s mut C,
    pub(crate) sql: &'s Sql,
}

pub(crate) fn driver<C: Connection>() -> &'static dyn Driver<C> {
    C::driver().0
}

impl<C: Connection> Session<'_, C> {
    pub(crate) async fn execute(&mut self, (text, binds): Text) -> Result<usize, TransitionError> {
        Ok(driver::<C>().execute(self.conn, Statement::new(text, binds)).await?)
    }

    pub(crate) async fn rows(&mut self, (text, binds): Text) -> Result<Vec<FoundRow>, TransitionError> {
        Ok(driver::<C>().found(self.conn, Statement::new(text, binds)).await?)
    }

    /// Reads a row and locks it.
    pub(crate) async fn lock(&mut self, row: &RowName) -> Result<Option<Found>, TransitionError> {
        if let Some(lock) = self.sql.lock_all() {
            self.execute(lock).await?;
        }
        let rows = self.rows(self.sql.lock(std::slice::from_ref(&row.bind))).await?;
        Ok(rows.into_iter().next().map(|(_, state, version, key, age)| Found { state, version, key, age }))
    }

    /// Fires in the open transaction: the guarded update decides. Where one state leads to one other, nothing is read
    /// before it; else the row is locked, read, and moved from exactly what was read.
    pub(crate) async fn fire<M>(
        &mut self,
        firing: &Firing,
        guard: Guard<'_, M::Row>,
        chosen: bool,
    ) -> Result<Fired, TransitionError>
    where
        M: StateMachine<Row: LoadRow<C>>,
    {
        let graph = M::GRAPH;
        let request = firing.request();
        if let (Some(edge), None, false) = (request.only_edge(graph), guard, chosen) {
            let from = graph.stored_names(graph.edges[edge].from).collect();
            if self.leave::<M>(firing, edge, from, Key::Leave).await? == 1 {
                return Ok(Fired::Moved { edge });
            }
        }
        let found = self.lock(&firing.row).await?;
        let (from, edges) = match decide::<M>(request, found.as_ref()) {
            Verdict::Move { from, edges } => (from, edges),
            Verdict::Already => return Ok(Fired::Already),
            Verdict::Refuse(error) => return Err(self.passed::<M>(firing, error).await?),
        };
        let stored = found.and_then(|found| found.state).unwrap_or_default();
        if let Some((text, passes)) = guard
            && !passes(&self.whole::<M>(firing).await?)
        {
            return Err(refused::<M>(request, from, Some(text)));
        }
        // The outcome chooses where the graph leaves it a choice from this very state.
        if chosen && (firing.ask.event.is_none() || edges.iter().any(|edge| graph.edges[*edge].chosen)) {
            return Ok(Fired::Undecided { stored, edges });
        }
        let edge = self.edge_of::<M>(firing, request, from, &edges).await?;
        self.leave_exactly::<M>(firing, edge, &stored, Key::Leave).await?;
        Ok(Fired::Moved { edge })
    }

    /// The edge that a locked row takes: the only one, or the first whose guard lets it pass.
    pub(crate) async fn edge_of<M>(
        &mut self,
        firing: &Firing,
        request: Request<'_>,
        from: usize,
        edges: &[usize],
    ) -> Result<usize, TransitionError>
    where
        M: StateMachine<Row: LoadRow<C>>,
    {
        let first = edges.first().copied().unwrap_or_default();
        if !M::GRAPH.is_guarded(first) {
            return Ok(first);
        }
        choose::<M>(request, from, edges, &self.whole::<M>(firing).await?)
    }

    async fn whole<M>(&mut self, firing: &Firing) -> Result<M::Row, TransitionError>
    where
        M: StateMachine<Row: LoadRow<C>>,
    {
        // A machine that declares no row has nothing to be loaded.
        let nothing: Box<dyn Any> = Box::new(NoRow);
        if let Ok(nothing) = nothing.downcast::<M::Row>() {
            return Ok(*nothing);
        }
        let (text, binds) = self.sql.whole(&firing.row.bind);
        let row = M::Row::load(self.conn, Statement::new(text, binds)).await?;
        row.ok_or_else(|| TransitionError::NotFound { row: firing.label.as_str().into() })
    }

    /// Takes an edge from one of these stored names; says how many rows did.
    pub(crate) async fn leave<M: StateMachine>(
        &mut self,
        firing: &Firing,
        edge: usize,
        from: Vec<&str>,
        key: Key<'_>,
    ) -> Result<usize, TransitionError> {
        let to = M::GRAPH.states[M::GRAPH.edges[edge].to].name;
        let ids = std::slice::from_ref(&firing.row.bind);
        let update = Update { to, ids, from, version: firing.version, key };
        self.execute(self.sql.update(&update)).await
    }

    /// Takes an edge from exactly what was read under the lock.
    pub(crate) async fn leave_exactly<M: StateMachine>(
        &mut self,
        firing: &Firing,
        edge: usize,
        stored: &str,
        key: Key<'_>,
    ) -> Result<(), TransitionError> {
        let moved = self.leave::<M>(firing, edge, vec![stored], key).await?;
        let edge = &M::GRAPH.edges[edge];
        // Some servers count the rows that changed, and a row that goes to where it is does not.
        if moved == 1 || edge.from == edge.to {
            return Ok(());
        }
        Err(TransitionError::Database(diesel::result::Error::NotFound))
    }

    /// Appends to the history that an edge was taken; says whether there is a history.
    pub(crate) async fn append<M: StateMachine>(
        &mut self,
        firing: &Firing,
        edge: usize,
    ) -> Result<bool, TransitionError> {
        let graph = M::GRAPH;
        let edge = &graph.edges[edge];
        let (from, to) = (graph.states[edge.from].name, graph.states[edge.to].name);
        let rows = [(firing.row.bind.clone(), Some(from))];
        let Some(append) = self.sql.append(graph.events[edge.event].name, &rows, to, &firing.notes) else {
            return Ok(false);
        };
        self.execute(append).await?;
        Ok(true)
    }

    /// A conflict, with what the history says about the target.
    pub(crate) async fn passed<M: StateMachine>(
        &mut self,
        firing: &Firing,
        mut error: TransitionError,
    ) -> Result<TransitionError, TransitionError> {
        if let TransitionError::Conflict { passed, .. } = &mut error
            && let Some(look) = self.sql.passed(&firing.row.bind, &firing.request().targets(M::GRAPH))
        {
            *passed = !self.rows(look).await?.is_empty();
        }
        Ok(error)
    }
}

/// The stored state of a row, and how many lines its history has, if there is one.
#[cfg(feature = "testkit")]
pub(crate) async fn stored<M: StateMachine, C: Connection>(
    row: &RowName,
    conn: &mut C,
) -> Result<(Option<String>, Option<usize>), TransitionError> {
    let sql = Sql::of::<M>(driver::<C>().database());
    let mut session = Session { conn, sql: &sql };
    let found = session.lock(row).await?;
    let story = match sql.story(&row.bind) {
        Some(story) => Some(session.rows(story).await?.len()),
        None => None,
    };
    Ok((found.and_then(|found| found.state), story))
}
