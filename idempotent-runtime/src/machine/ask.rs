//! What a transition asks of the graph.

use super::graph::{Edge, Graph};
use super::message::same;

/// Which edges a transition may take, by the names that the program writes.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// The event, if it is named.
    pub event: Option<&'static str>,
    /// The states that may be left.
    pub from: Sources,
    /// The targets; every one if there is none.
    pub to: &'static [&'static str],
}

/// The states that may be left.
#[derive(Debug, Clone, Copy)]
pub enum Sources {
    /// All.
    Any,
    /// These, by the names that the program gives them.
    Of(&'static [&'static str]),
    /// All but these.
    Except(&'static [&'static str]),
    /// By their places in the graph.
    At(&'static [usize]),
}

impl Sources {
    pub(crate) const fn admit(self, graph: &Graph, state: usize) -> bool {
        let variant = graph.states[state].variant;
        match self {
            Self::Any => true,
            Self::Of(names) => contains(names, variant),
            Self::Except(names) => !contains(names, variant),
            Self::At(states) => {
                let mut n = 0;
                while n < states.len() {
                    if states[n] == state {
                        return true;
                    }
                    n += 1;
                }
                false
            }
        }
    }
}

impl Ask {
    /// Every edge of an event.
    #[must_use]
    pub const fn event(ident: &'static str) -> Self {
        Self { event: Some(ident), from: Sources::Any, to: &[] }
    }

    /// Whether an edge is asked for.
    pub(crate) const fn admits(&self, graph: &Graph, edge: &Edge) -> bool {
        if let Some(event) = self.event
            && !same(graph.events[edge.event].ident, event)
        {
            return false;
        }
        self.from.admit(graph, edge.from) && (self.to.is_empty() || contains(self.to, graph.states[edge.to].variant))
    }

    /// The edges that are asked for, with their places.
    pub(crate) fn edges(self, graph: &'static Graph) -> impl Iterator<Item = (usize, &'static Edge)> {
        graph.edges.iter().enumerate().filter(move |(_, edge)| self.admits(graph, edge))
    }

    /// Whether the outcome of the function chooses the target.
    #[must_use]
    pub const fn is_chosen(&self, graph: &Graph) -> bool {
        if self.event.is_none() {
            return self.to.len() > 1;
        }
        let mut n = 0;
        while n < graph.edges.len() {
            if self.admits(graph, &graph.edges[n]) && graph.edges[n].chosen {
                return true;
            }
            n += 1;
        }
        false
    }

    /// How the event is called in texts and in the history: by its name, or by the edge that is taken.
    pub(crate) fn event_name(&self, graph: &'static Graph) -> &'static str {
        self.edges(graph).next().map_or("transition", |(_, edge)| graph.events[edge.event].name)
    }
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut n = 0;
    while n < names.len() {
        if same(names[n], name) {
            return true;
        }
        n += 1;
    }
    false
}
