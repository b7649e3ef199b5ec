//! The graph against what is stored.

use std::fmt;

use super::StateMachine;
use super::constraint::{Constraint, constraint};
use super::error::TransitionError;
use super::firing::{Session, driver};
use super::sql::Sql;
use crate::connection::Connection;

/// What is stored, held against the graph.
///
/// ```
/// # use idempotent_runtime::{StateMachine, TransitionError, doc::{OrderStatus, Sqlite as Db}};
/// # async fn at_start(conn: &mut Db) -> Result<(), TransitionError> {
/// let verification = OrderStatus::verify(conn).await?;
/// if !verification.is_clean() {
///     eprintln!("{verification}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// How many rows are in each state, in the order of the graph; a state without rows is left out. Older names count
    /// for their state.
    pub rows: Vec<(&'static str, i64)>,
    /// Rows that are stored under an older name: old name, state, rows. They are read, and get the new name when they
    /// move.
    pub aliased: Vec<(String, &'static str, i64)>,
    /// What the graph does not know.
    pub drift: Vec<Drift>,
    /// What the database itself refuses.
    pub constraint: Constraint,
}

/// Rows that the graph does not know, and how many there are.
///
/// ```
/// let drift = idempotent_runtime::Drift::Null { rows: 3 };
/// assert_eq!(drift.to_string(), "3 rows have no state: the column is NULL");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Drift {
    /// No state at all.
    Null {
        /// How many.
        rows: i64,
    },
    /// A value that is a state in other letters.
    Case {
        /// What is stored.
        value: String,
        /// The state that was meant.
        state: &'static str,
        /// How many.
        rows: i64,
    },
    /// A value that is a state with space around it.
    Padding {
        /// What is stored.
        value: String,
        /// The state that was meant.
        state: &'static str,
        /// How many.
        rows: i64,
    },
    /// A value that is no state: removed from the code, or written by something newer.
    Unknown {
        /// What is stored.
        value: String,
        /// How many.
        rows: i64,
    },
}

impl Verification {
    /// Whether every row is in a state of the graph, and no constraint says otherwise. A missing constraint is no fault.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.drift.is_empty() && !matches!(self.constraint, Constraint::Differs { .. })
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (state, rows) in &self.rows {
            writeln!(f, "{rows} rows are `{state}`")?;
        }
        for (alias, state, rows) in &self.aliased {
            writeln!(f, "{rows} rows are `{state}` under the older name `{alias}`")?;
        }
        for drift in &self.drift {
            writeln!(f, "{drift}")?;
        }
        match &self.constraint {
            Constraint::Matches => Ok(()),
            Constraint::Missing => writeln!(f, "the column has no CHECK constraint"),
            Constraint::Differs { refuses, permits } => {
                let names = |names: Vec<String>| if names.is_empty() { "nothing".into() } else { names.join(", ") };
                let refuses = names(refuses.iter().map(|name| format!("`{name}`")).collect());
                let permits = names(permits.iter().map(|name| format!("`{name}`")).collect());
                writeln!(f, "the CHECK constraint refuses {refuses} of the graph, and permits {permits} beyond it")
            }
        }
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null { rows } => write!(f, "{rows} rows have no state: the column is NULL"),
            Self::Case { value, state, rows } => {
                write!(f, "{rows} rows are `{value}`, which is `{state}` in other letters")
            }
            Self::Padding { value, state, rows } => {
                write!(f, "{rows} rows are `{value}`, which is `{state}` with space around it")
            }
            Self::Unknown { value, rows } => write!(f, "{rows} rows are `{value}`, which is no state"),
        }
    }
}

pub(crate) async fn verify<M: StateMachine, C: Connection>(conn: &mut C) -> Result<Verification, TransitionError> {
    let database = driver::<C>().database();
    let sql = Sql::of::<M>(database);
    let mut session = Session { conn, sql: &sql };
    let counts = session.rows(sql.counts()).await?;
    let constraints = session.rows(Sql::constraints(database, &M::tables().table)).await?;
    let (mut rows, mut aliased, mut drift) = (vec![0; M::GRAPH.states.len()], Vec::new(), Vec::new());
    for (_, value, count, _, _) in counts {
        sort::<M>(value, count.unwrap_or(0), &mut rows, &mut aliased, &mut drift);
    }
    drift.sort();
    let rows = M::GRAPH.states.iter().map(|state| state.name).zip(rows).filter(|(_, rows)| *rows > 0).collect();
    let texts: Vec<String> = constraints.into_iter().filter_map(|(_, text, ..)| text).collect();
    Ok(Verification { rows, aliased, drift, constraint: constraint::<M>(&texts, database) })
}

/// Puts a stored value where it belongs.
fn sort<M: StateMachine>(
    value: Option<String>,
    count: i64,
    rows: &mut [i64],
    aliased: &mut Vec<(String, &'static str, i64)>,
    drift: &mut Vec<Drift>,
) {
    let graph = M::GRAPH;
    let Some(value) = value else {
        drift.push(Drift::Null { rows: count });
        return;
    };
    if let Some(state) = graph.state_of(&value) {
        rows[state] += count;
        if graph.states[state].name != value {
            aliased.push((value, graph.states[state].name, count));
        }
        return;
    }
    let like = |same: &dyn Fn(&str) -> bool| {
        let state = (0..graph.states.len()).find(|state| graph.stored_names(*state).any(same));
        state.map(|state| graph.states[state].name)
    };
    let found = if let Some(state) = like(&|name| name == value.trim()) {
        Drift::Padding { value, state, rows: count }
    } else if let Some(state) = like(&|name| name.eq_ignore_ascii_case(value.trim())) {
        Drift::Case { value, state, rows: count }
    } else {
        Drift::Unknown { value, rows: count }
    };
    drift.push(found);
}
