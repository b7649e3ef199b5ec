//! For the tests of your own machines: every state and event against a real database, and races. Feature `testkit`.
//!
//! ```
//! # use idempotent_runtime::doc::{OrderStatus, Sqlite as Db, SqlitePool, schema::orders};
//! # use diesel::ExpressionMethods;
//! use diesel_async::RunQueryDsl;
//! use idempotent_runtime::testkit;
//!
//! # async fn tests(conn: &mut Db, pool: &SqlitePool) {
//! let mut id = 0;
//! let insert = async |conn: &mut Db, status: OrderStatus| {
//!     id += 1;
//!     let row = (orders::id.eq(id), orders::status.eq(status), orders::version.eq(0), orders::entered_at.eq(0));
//!     diesel::insert_into(orders::table).values(row).execute(conn).await?;
//!     Ok(id)
//! };
//! testkit::prove::<OrderStatus, _, _>(conn, insert).await;
//!
//! let answers = testkit::race(pool, 40, |mut conn| async move { OrderStatus::pay().of(1).execute(&mut *conn).await }).await;
//! assert_eq!(testkit::tally(&answers).to_string(), "1 applied, 39 already applied, 0 conflicts, 0 others");
//! # }
//! ```

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use diesel::QueryResult;
use tokio::sync::Barrier;

use crate::connection::Connection;
use crate::machine::{EventOf, LoadRow, Moved, RowId, StateMachine, Transition, TransitionError, state_at, stored};
use crate::pool::{ConnectionPool, Pooled};

/// What was proved.
///
/// ```
/// let proof = idempotent_runtime::testkit::Proof { pairs: 36, applied: 7, already: 6, conflicts: 23 };
/// assert_eq!(proof.pairs, proof.applied + proof.already + proof.conflicts);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proof {
    /// Pairs of a state and an event; where the outcome chooses, triples with each target.
    pub pairs: usize,
    /// Those that moved the row.
    pub applied: usize,
    /// Those that found nothing left to do.
    pub already: usize,
    /// Those that were refused.
    pub conflicts: usize,
}

/// Fires every event at a row in every state, and holds what comes of it against the graph: the outcome, the state that
/// is stored afterwards, and the lines of the history. `insert` makes a row in a state and gives its id.
///
/// A guarded event may be refused by its guards, or lead to any of its targets: the row decides.
///
/// # Panics
///
/// If anything is not as the graph says, with all that is not; and if the database fails.
pub async fn prove<M, C, I>(conn: &mut C, mut insert: impl AsyncFnMut(&mut C, M) -> QueryResult<I>) -> Proof
where
    M: StateMachine<Row: LoadRow<C>>,
    C: Connection,
    I: RowId<M::IdType>,
{
    let (mut proof, mut wrong) = (Proof::default(), Vec::new());
    for state in 0..M::GRAPH.states.len() {
        for event in 0..M::GRAPH.events.len() {
            for target in targets::<M>(state, event) {
                let id = insert(conn, state_at::<M>(state)).await.expect("a row can be inserted in every state");
                let mut fire = EventOf::<M>::new(event).of(&id);
                if let Some(target) = target {
                    fire = fire.to(&state_at::<M>(target));
                }
                let fired = fire.run(conn).await;
                let (is, story) = stored::<M, C>(&id.row_name(), conn).await.expect("the row can be read");
                let expected = expected::<M>(state, event, target);
                proof.pairs += 1;
                match &fired {
                    Ok(Transition::Applied(_)) => proof.applied += 1,
                    Ok(Transition::AlreadyApplied) => proof.already += 1,
                    Err(_) => proof.conflicts += 1,
                }
                if let Some(fault) = expected.fault::<M>(state, &fired, is.as_deref(), story) {
                    let (state, event) = (M::GRAPH.states[state].name, M::GRAPH.events[event].name);
                    wrong.push(format!("`{event}` at `{state}`: {fault}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} does not do what its graph says:\n{}", M::GRAPH.name, wrong.join("\n"));
    proof
}

/// The targets that are to be chosen one after the other, or nothing to be chosen.
fn targets<M: StateMachine>(state: usize, event: usize) -> Vec<Option<usize>> {
    let chosen = |edge: &&crate::Edge| edge.event == event && edge.from == state && edge.chosen;
    let targets: Vec<_> = M::GRAPH.edges.iter().filter(chosen).map(|edge| Some(edge.to)).collect();
    if targets.is_empty() { vec![None] } else { targets }
}

/// What the graph says about a pair.
struct Expected {
    targets: Vec<usize>,
    guarded: bool,
    is_target: bool,
}

fn expected<M: StateMachine>(state: usize, event: usize, target: Option<usize>) -> Expected {
    let of_event = || M::GRAPH.edges.iter().filter(move |edge| edge.event == event);
    let possible = |edge: &&crate::Edge| edge.from == state && target.is_none_or(|target| edge.to == target);
    Expected {
        targets: of_event().filter(possible).map(|edge| edge.to).collect(),
        guarded: of_event().filter(possible).all(|edge| edge.guard.is_some()),
        is_target: of_event().any(|edge| edge.to == state),
    }
}

impl Expected {
    /// What is not as it should be.
    fn fault<M: StateMachine>(
        &self,
        state: usize,
        fired: &Result<Transition<Moved<M>>, TransitionError>,
        is: Option<&str>,
        story: Option<usize>,
    ) -> Option<String> {
        let name = |state: usize| M::GRAPH.states[state].name;
        let (right, stays) = match fired {
            Ok(Transition::Applied(moved)) => {
                let right = moved.from.name() == name(state)
                    && self.targets.iter().any(|target| name(*target) == moved.to.name())
                    && is == Some(moved.to.name());
                (right, false)
            }
            Ok(Transition::AlreadyApplied) => (self.targets.is_empty() && self.is_target, true),
            Err(TransitionError::Conflict { actual, allowed, guard, .. }) => {
                let refused = if guard.is_some() { self.guarded } else { self.targets.is_empty() && !self.is_target };
                (refused && actual == name(state) && **allowed == M::GRAPH.allowed_from(state), true)
            }
            Err(_) => (false, true),
        };
        if !right {
            return Some(format!("unexpected {fired:?}, and the row is {is:?}"));
        }
        if stays && is != Some(name(state)) {
            return Some(format!("it was left alone, and the row is {is:?}"));
        }
        let lines = usize::from(!stays);
        story.filter(|story| *story != lines).map(|story| format!("the history has {story} lines instead of {lines}"))
    }
}

/// Runs `task` in `tasks` tasks at once, each with a connection of the pool, and gives what came of each.
///
/// # Panics
///
/// If the pool has no connection to give, or a task panics.
pub async fn race<C, P, T, F, R>(pool: &P, tasks: usize, task: F) -> Vec<T>
where
    C: Connection,
    P: ConnectionPool<C> + Clone,
    T: Send + 'static,
    F: Fn(Pooled<C>) -> R + Clone + Send + 'static,
    R: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(tasks));
    let racing: Vec<_> = (0..tasks)
        .map(|_| {
            let (pool, barrier, task) = (pool.clone(), Arc::clone(&barrier), task.clone());
            tokio::spawn(async move {
                barrier.wait().await;
                let conn = pool.get().await.expect("the pool gives a connection");
                task(conn).await
            })
        })
        .collect();
    let mut done = Vec::with_capacity(tasks);
    for task in racing {
        done.push(task.await.expect("no task panics"));
    }
    done
}

/// How often each outcome came.
///
/// ```
/// let tally = idempotent_runtime::testkit::Tally::default();
/// assert_eq!(tally.to_string(), "0 applied, 0 already applied, 0 conflicts, 0 others");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Calls that moved a row.
    pub applied: usize,
    /// Calls that found nothing left to do.
    pub already: usize,
    /// Calls that the state did not permit.
    pub conflicts: usize,
    /// Everything else, as text.
    pub others: Vec<String>,
}

/// Counts outcomes.
pub fn tally<'r, T: 'r>(answers: impl IntoIterator<Item = &'r Result<Transition<T>, TransitionError>>) -> Tally {
    let mut tally = Tally::default();
    for answer in answers {
        match answer {
            Ok(Transition::Applied(_)) => tally.applied += 1,
            Ok(Transition::AlreadyApplied) => tally.already += 1,
            Err(TransitionError::Conflict { .. }) => tally.conflicts += 1,
            Err(other) => tally.others.push(other.to_string()),
        }
    }
    tally
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { applied, already, conflicts, others } = self;
        write!(f, "{applied} applied, {already} already applied, {conflicts} conflicts, {} others", others.len())
    }
}
