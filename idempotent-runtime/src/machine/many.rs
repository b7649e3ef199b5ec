//! One event at many rows: one guarded update.

use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

use super::StateMachine;
use super::ask::Ask;
use super::decide::{Found, Verdict, decide};
use super::error::TransitionError;
use super::fire::undecided;
use super::firing::{Firing, Session, check_declared, driver};
use super::note::json;
use super::row::LoadRow;
use super::row_id::{RowId, RowName};
use super::sql::{Key, Notes, Sql, Update};
use crate::connection::Connection;
use crate::transaction::begin;

/// How many rows one statement moves: what every database can take as values of one statement.
const CHUNK: usize = 5_000;

/// An event at many rows, ready to be fired.
///
/// ```
/// # use idempotent_runtime::{TransitionError, doc::{OrderStatus, Sqlite as Db}};
/// # async fn settle(conn: &mut Db) -> Result<(), TransitionError> {
/// let done = OrderStatus::settle().of_many(vec![1, 2, 3]).actor("nightly run").execute(conn).await?;
/// # let _ = done; Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "nothing happens before `execute`"]
pub struct FireMany<M, I> {
    ask: Ask,
    target: Option<usize>,
    ids: Vec<I>,
    notes: Notes,
    age: Option<i64>,
    machine: PhantomData<fn() -> M>,
}

/// What became of many rows.
///
/// ```
/// let done = idempotent_runtime::Many { moved: vec![1, 2], skipped: vec![] };
/// assert_eq!(done.moved.len(), 2);
/// ```
#[derive(Debug)]
#[must_use]
pub struct Many<I> {
    /// The rows that were moved, by this call.
    pub moved: Vec<I>,
    /// The rows that were left where they are, and why.
    pub skipped: Vec<(I, Skipped)>,
}

/// Why a row among many was left where it is.
///
/// ```
/// let skipped = idempotent_runtime::Skipped::AlreadyApplied;
/// # let _ = skipped;
/// ```
#[derive(Debug)]
pub enum Skipped {
    /// It is in the target state already.
    AlreadyApplied,
    /// The event is not possible where it is, or there is no such row.
    Refused(TransitionError),
}

impl<M: StateMachine, I: RowId<M::IdType>> FireMany<M, I> {
    pub(crate) fn new(ask: Ask, ids: Vec<I>) -> Self {
        Self { ask, target: None, ids, notes: Notes::default(), age: None, machine: PhantomData }
    }

    /// Only rows that have been where they are for so many milliseconds, and only to this state.
    pub(crate) fn aged(mut self, to: usize, age: i64) -> Self {
        (self.target, self.age) = (Some(to), Some(age));
        self
    }

    /// Chooses the target, where the event leaves that to the outcome.
    pub fn to(mut self, target: &M) -> Self {
        self.target = M::GRAPH.state_of(target.name());
        self
    }

    /// Who did it, for the histories.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.notes.actor = Some(actor.into());
        self
    }

    /// Why, for the histories.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.notes.reason = Some(reason.into());
        self
    }

    /// What else is worth remembering, for the histories.
    pub fn metadata(mut self, metadata: &impl serde::Serialize) -> Self {
        self.notes.metadata = json(metadata);
        self
    }

    /// Moves those rows that the event may move, in one transaction (a savepoint inside the caller's): locks them all
    /// in the order of their ids, moves them with one guarded update for each target, and appends to their histories.
    /// The others are told apart, and are no error.
    pub fn execute<'c, C>(self, conn: &'c mut C) -> C::Returns<'c, Result<Many<I>, TransitionError>>
    where
        C: Connection,
        M::Row: LoadRow<C>,
        I: Send + Sync + 'c,
    {
        C::returns(self.run(conn))
    }

    pub(crate) async fn run<C>(self, conn: &mut C) -> Result<Many<I>, TransitionError>
    where
        C: Connection,
        M::Row: LoadRow<C>,
    {
        let Self { ask, target, ids, notes, age, machine: _ } = self;
        check_declared::<M>(None, &notes)?;
        let sql = Sql::of::<M>(driver::<C>().database());
        let open = begin(conn).await?;
        let mut session = Session { conn: &mut *conn, sql: &sql };
        let fired = async {
            let mut many = Many { moved: Vec::new(), skipped: Vec::new() };
            let (mut seen, mut firings) = (HashSet::new(), Vec::new());
            for id in ids {
                let mut firing = Firing::new::<M>(ask, id.row_name());
                firing.target = target;
                match seen.insert(firing.row.text.clone()) {
                    true => firings.push((id, firing)),
                    false => many.skipped.push((id, Skipped::AlreadyApplied)),
                }
            }
            let mut left = firings.into_iter().peekable();
            while left.peek().is_some() {
                let chunk = left.by_ref().take(CHUNK).collect();
                session.fire_all::<M, I>(chunk, age, &notes, &mut many).await?;
            }
            Ok(many)
        };
        let fired = fired.await;
        open.end(conn, fired).await
    }
}

/// A row that takes an edge: its id, its name, and what it holds now.
type Taking<I> = (I, RowName, String);

impl<C: Connection> Session<'_, C> {
    async fn fire_all<M, I>(
        &mut self,
        firings: Vec<(I, Firing)>,
        age: Option<i64>,
        notes: &Notes,
        many: &mut Many<I>,
    ) -> Result<(), TransitionError>
    where
        M: StateMachine<Row: LoadRow<C>>,
    {
        let graph = M::GRAPH;
        if let Some(lock) = self.sql.lock_all() {
            self.execute(lock).await?;
        }
        let ids: Vec<_> = firings.iter().map(|(_, firing)| firing.row.bind.clone()).collect();
        let rows = self.rows(self.sql.lock(&ids)).await?;
        let found = |(id, state, version, key, age)| Some((id?, Found { state, version, key, age }));
        let rows: HashMap<String, Found> = rows.into_iter().filter_map(found).collect();
        // For each edge the rows that take it. Few edges, many rows.
        let mut taken: Vec<(usize, Vec<Taking<I>>)> = Vec::new();
        for (id, firing) in firings {
            let found = rows.get(&firing.row.text);
            let too_young = age.is_some_and(|age| found.and_then(|found| found.age).is_none_or(|is| is < age));
            match decide::<M>(firing.request(), found) {
                Verdict::Move { .. } if too_young => many.skipped.push((id, Skipped::AlreadyApplied)),
                Verdict::Already => many.skipped.push((id, Skipped::AlreadyApplied)),
                Verdict::Refuse(error) => many.skipped.push((id, Skipped::Refused(error))),
                Verdict::Move { from, edges } => {
                    let stored = found.and_then(|found| found.state.clone()).unwrap_or_default();
                    match self.choose_edge::<M>(&firing, from, &edges).await? {
                        Err(refused) => many.skipped.push((id, Skipped::Refused(refused))),
                        Ok(edge) => {
                            let row = (id, firing.row, stored);
                            match taken.iter_mut().find(|(other, _)| *other == edge) {
                                Some((_, rows)) => rows.push(row),
                                None => taken.push((edge, vec![row])),
                            }
                        }
                    }
                }
            }
        }
        let mut targets: Vec<usize> = taken.iter().map(|(edge, _)| graph.edges[*edge].to).collect();
        targets.sort_unstable();
        targets.dedup();
        for to in targets {
            let moving: Vec<_> = taken.iter().filter(|(edge, _)| graph.edges[*edge].to == to).collect();
            let rows = || moving.iter().flat_map(|(_, rows)| rows);
            let ids: Vec<_> = rows().map(|(_, row, _)| row.bind.clone()).collect();
            let mut from: Vec<&str> = rows().map(|(_, _, stored)| stored.as_str()).collect();
            from.sort_unstable();
            from.dedup();
            let update = Update { to: graph.states[to].name, ids: &ids, from, version: None, key: Key::Leave };
            let moved = self.execute(self.sql.update(&update)).await?;
            // Some servers count the rows that changed, and a row that goes to where it is does not.
            let all_change = moving.iter().all(|(edge, _)| graph.edges[*edge].from != to);
            if moved != ids.len() && all_change {
                return Err(TransitionError::Database(diesel::result::Error::NotFound));
            }
        }
        for (edge, rows) in taken {
            let edge = &graph.edges[edge];
            let (event, to) = (graph.events[edge.event].name, graph.states[edge.to].name);
            let from = Some(graph.states[edge.from].name);
            let lines: Vec<_> = rows.iter().map(|(_, row, _)| (row.bind.clone(), from)).collect();
            if let Some(append) = self.sql.append(event, &lines, to, notes) {
                self.execute(append).await?;
            }
            many.moved.extend(rows.into_iter().map(|(id, _, _)| id));
        }
        Ok(())
    }

    /// The edge of one row among many: the only one, or that whose guard lets it pass.
    async fn choose_edge<M>(
        &mut self,
        firing: &Firing,
        from: usize,
        edges: &[usize],
    ) -> Result<Result<usize, TransitionError>, TransitionError>
    where
        M: StateMachine<Row: LoadRow<C>>,
    {
        let graph = M::GRAPH;
        // Several events may lead to the one target that was asked for: the first that was declared.
        if edges.len() > 1 && firing.target.is_none() && !graph.is_guarded(edges[0]) {
            return Ok(Err(undecided::<M>(firing, graph.states[from].name.to_owned(), edges, None)));
        }
        match self.edge_of::<M>(firing, firing.request(), from, edges).await {
            Err(refused @ (TransitionError::Conflict { .. } | TransitionError::NotFound { .. })) => Ok(Err(refused)),
            edge => edge.map(Ok),
        }
    }
}
