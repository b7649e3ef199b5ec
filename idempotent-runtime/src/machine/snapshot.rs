//! A graph to be kept, and what changed since.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::graph::Graph;
use crate::hex::hex;

/// A graph by its stored names, to be kept beside the migrations and compared at the next release.
///
/// ```
/// # use idempotent_runtime::{StateMachine, doc::OrderStatus};
/// let kept = serde_json::to_string(&OrderStatus::snapshot())?;
/// // … at the next release
/// let before: idempotent_runtime::Snapshot = serde_json::from_str(&kept)?;
/// let diff = before.diff(&OrderStatus::snapshot());
/// assert!(diff.is_empty());
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Stored names, each with the older names that are read.
    pub states: BTreeSet<(String, Vec<String>)>,
    /// Where rows begin.
    pub initial: BTreeSet<String>,
    /// Event, source, target.
    pub edges: BTreeSet<(String, String, String)>,
}

/// What changed between two graphs.
///
/// ```
/// # use idempotent_runtime::{StateMachine, doc::OrderStatus};
/// let now = OrderStatus::snapshot();
/// assert_eq!(now.diff(&now).to_string(), "no change\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphDiff {
    /// Stored states that the newer graph cannot read, not even as an alias: rows in them are errors. Keep them, or give
    /// their successor an `alias`.
    pub stranded: Vec<String>,
    /// Stored states that could be left before, and cannot be any more: rows in them stay for ever.
    pub stuck: Vec<String>,
    /// New states.
    pub added: Vec<String>,
    /// Edges that are gone: event, source, target.
    pub edges_removed: Vec<(String, String, String)>,
    /// New edges: event, source, target.
    pub edges_added: Vec<(String, String, String)>,
}

impl Snapshot {
    pub(crate) fn of(graph: &Graph) -> Self {
        let name = |state: usize| graph.states[state].name.to_owned();
        let edge = |edge: &super::Edge| (graph.events[edge.event].name.to_owned(), name(edge.from), name(edge.to));
        let aliases = |aliases: &[&str]| {
            let mut aliases: Vec<_> = aliases.iter().map(|alias| (*alias).to_owned()).collect();
            aliases.sort();
            aliases
        };
        Self {
            states: graph.states.iter().map(|state| (state.name.to_owned(), aliases(state.aliases))).collect(),
            initial: graph.states.iter().filter(|state| state.initial).map(|state| state.name.to_owned()).collect(),
            edges: graph.edges.iter().map(edge).collect(),
        }
    }

    /// SHA-256 of the states, with their older names, and of the edges, in hexadecimal digits. It does not change with
    /// the order in which they are declared, nor with the names that the program gives them.
    ///
    /// ```
    /// # use idempotent_runtime::{StateMachine, doc::OrderStatus};
    /// assert_eq!(OrderStatus::snapshot().hash().len(), 64);
    /// ```
    #[must_use]
    pub fn hash(&self) -> String {
        let Self { states, initial, edges } = self;
        let mut hash = Sha256::new();
        // Each part after its length, so that no two graphs are written alike.
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        };
        for (state, aliases) in states {
            part("state");
            part(state);
            for alias in aliases {
                part(alias);
            }
        }
        for state in initial {
            part("initial");
            part(state);
        }
        for (event, from, to) in edges {
            part("edge");
            part(event);
            part(from);
            part(to);
        }
        hex(&hash.finalize())
    }

    /// What changed from this graph to a newer one.
    ///
    /// ```
    /// # use idempotent_runtime::{StateMachine, doc::OrderStatus};
    /// # let before = OrderStatus::snapshot();
    /// let diff = before.diff(&OrderStatus::snapshot());
    /// assert!(diff.stranded.is_empty());
    /// ```
    #[must_use]
    pub fn diff(&self, newer: &Self) -> GraphDiff {
        let reads = |graph: &Self, name: &str| {
            graph
                .states
                .iter()
                .find(|(state, aliases)| state == name || aliases.iter().any(|alias| alias == name))
                .cloned()
        };
        let leaves = |graph: &Self, name: &str| graph.edges.iter().any(|(_, from, to)| from == name && to != name);
        let mut diff = GraphDiff {
            stranded: Vec::new(),
            stuck: Vec::new(),
            added: Vec::new(),
            edges_removed: self.edges.difference(&newer.edges).cloned().collect(),
            edges_added: newer.edges.difference(&self.edges).cloned().collect(),
        };
        for (state, aliases) in &self.states {
            for stored in std::iter::once(state).chain(aliases) {
                match reads(newer, stored) {
                    None => diff.stranded.push(stored.clone()),
                    Some((now, _)) if stored == state && leaves(self, state) && !leaves(newer, &now) => {
                        diff.stuck.push(state.clone());
                    }
                    Some(_) => {}
                }
            }
        }
        diff.added =
            newer.states.iter().map(|(state, _)| state.clone()).filter(|name| reads(self, name).is_none()).collect();
        diff
    }
}

impl GraphDiff {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { stranded, stuck, added, edges_removed, edges_added } = self;
        stranded.is_empty()
            && stuck.is_empty()
            && added.is_empty()
            && edges_removed.is_empty()
            && edges_added.is_empty()
    }

    /// Whether rows that are stored now would be lost to the newer graph.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        !self.stranded.is_empty() || !self.stuck.is_empty()
    }
}

impl std::fmt::Display for GraphDiff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_empty() {
            return writeln!(f, "no change");
        }
        let Self { stranded, stuck, added, edges_removed, edges_added } = self;
        for state in stranded {
            writeln!(
                f,
                "stranded: rows that are `{state}` can no longer be read; keep the state, or make it an alias"
            )?;
        }
        for state in stuck {
            writeln!(f, "stuck: nothing leaves `{state}` any more")?;
        }
        for state in added {
            writeln!(f, "new state: `{state}`")?;
        }
        for (event, from, to) in edges_removed {
            writeln!(f, "gone: `{event}` from `{from}` to `{to}`")?;
        }
        for (event, from, to) in edges_added {
            writeln!(f, "new: `{event}` from `{from}` to `{to}`")?;
        }
        Ok(())
    }
}
