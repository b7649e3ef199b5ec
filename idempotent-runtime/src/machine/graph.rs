//! The graph of a machine: what `#[derive(StateMachine)]` writes down, and what can be asked of it.

use std::fmt::Write as _;

/// A machine's states, events and edges, as they were declared. [`StateMachine::GRAPH`](crate::StateMachine::GRAPH) has
/// it.
///
/// ```
/// # use idempotent_runtime::doc::OrderStatus;
/// use idempotent_runtime::StateMachine;
///
/// let graph = OrderStatus::GRAPH;
/// assert_eq!(graph.states[0].name, "created");
/// assert!(graph.events.iter().any(|event| event.name == "pay"));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Graph {
    /// The name of the enum.
    pub name: &'static str,
    /// In the order of the enum, without a variant for what is not known.
    pub states: &'static [State],
    /// In the order of their declaration.
    pub events: &'static [Event],
    /// In the order of their declaration: of two guarded ones with the same event and source the first is tried first.
    pub edges: &'static [Edge],
    /// What ends by itself.
    pub expiry: Option<Expiry>,
}

/// A state.
///
/// ```
/// # use idempotent_runtime::{StateMachine, doc::OrderStatus};
/// let created = &OrderStatus::GRAPH.states[0];
/// assert!(created.initial && !created.terminal);
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    /// As the program writes it.
    pub variant: &'static str,
    /// As the column holds it.
    pub name: &'static str,
    /// Older names that are still read.
    pub aliases: &'static [&'static str],
    /// Whether a row may begin here.
    pub initial: bool,
    /// Whether it was declared that nothing leaves it.
    pub terminal: bool,
}

/// An event.
///
/// ```
/// # use idempotent_runtime::{StateMachine, doc::OrderStatus};
/// let pay = &OrderStatus::GRAPH.events[0];
/// assert_eq!((pay.ident, pay.name, pay.named), ("pay", "pay", true));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    /// As the program writes it, without `r#`.
    pub ident: &'static str,
    /// As the history holds it.
    pub name: &'static str,
    /// Whether it was given a name; otherwise it is called for its target.
    pub named: bool,
}

/// A way from one state to another.
///
/// ```
/// # use idempotent_runtime::{StateMachine, doc::OrderStatus};
/// let graph = OrderStatus::GRAPH;
/// let edge = &graph.edges[0];
/// assert_eq!((graph.events[edge.event].name, graph.states[edge.to].name), ("pay", "paid"));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which of the events.
    pub event: usize,
    /// Which of the states is left.
    pub from: usize,
    /// Which of the states is entered; the same for an edge that writes without moving.
    pub to: usize,
    /// The condition, as it is written.
    pub guard: Option<&'static str>,
    /// Whether it is one of several that the function's outcome chooses from.
    pub chosen: bool,
}

/// What ends by itself.
///
/// ```
/// let expiry = idempotent_runtime::Expiry { after_ms: 1_800_000, to: 2, from: &[0] };
/// # let _ = expiry;
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Expiry {
    /// After how many milliseconds in one state.
    pub after_ms: i64,
    /// Which of the states is entered.
    pub to: usize,
    /// Which of the states are left.
    pub from: &'static [usize],
}

impl Graph {
    /// The state of a stored name, or of an older one; byte by byte.
    #[must_use]
    pub(crate) fn state_of(&self, stored: &str) -> Option<usize> {
        self.states.iter().position(|state| state.name == stored || state.aliases.contains(&stored))
    }

    /// Every name under which a state may be stored.
    pub(crate) fn stored_names(&self, state: usize) -> impl Iterator<Item = &'static str> + use<> {
        let State { name, aliases, .. } = &self.states[state];
        std::iter::once(*name).chain(aliases.iter().copied())
    }

    /// The names of the events that are possible in a state.
    pub(crate) fn allowed_from(&self, state: usize) -> Vec<&'static str> {
        let possible = |event: &usize| self.edges.iter().any(|edge| edge.event == *event && edge.from == state);
        (0..self.events.len()).filter(possible).map(|event| self.events[event].name).collect()
    }

    /// Where an event may lead from the source of an edge, in order: of guarded ways the first that is open is taken.
    pub(crate) fn alternatives(&'static self, edge: usize) -> impl Iterator<Item = usize> {
        let Edge { event, from, .. } = self.edges[edge];
        let same = move |(_, edge): &(usize, &Edge)| edge.event == event && edge.from == from;
        self.edges.iter().enumerate().filter(same).map(|(n, _)| n)
    }

    /// Whether guards say where an event leads from the source of an edge.
    pub(crate) fn is_guarded(&'static self, edge: usize) -> bool {
        self.alternatives(edge).any(|edge| self.edges[edge].guard.is_some())
    }

    /// Whether nothing leaves a state.
    pub(crate) fn is_terminal(&self, state: usize) -> bool {
        !self.edges.iter().any(|edge| edge.from == state && edge.to != state)
    }

    /// A Mermaid state diagram. Edges that have no name of their own have no label.
    #[must_use]
    pub(crate) fn mermaid(&self) -> String {
        let mut text = String::from("stateDiagram-v2\n");
        for (n, state) in self.states.iter().enumerate() {
            if id_of(state.name) != state.name {
                let _ = writeln!(text, "    state \"{}\" as {}", state.name.replace('"', "#quot;"), self.id(n));
            }
        }
        for (n, _) in self.states.iter().enumerate().filter(|(_, state)| state.initial) {
            let _ = writeln!(text, "    [*] --> {}", self.id(n));
        }
        for edge in self.edges {
            let _ = write!(text, "    {} --> {}", self.id(edge.from), self.id(edge.to));
            let _ = match self.label(edge) {
                label if label.is_empty() => writeln!(text),
                // A colon would begin another label.
                label => writeln!(text, ": {}", label.replace("::", ".").replace([':', ';', '\n'], " ")),
            };
        }
        for (n, _) in self.states.iter().enumerate().filter(|(n, _)| self.is_terminal(*n)) {
            let _ = writeln!(text, "    {} --> [*]", self.id(n));
        }
        text
    }

    /// A graph for Graphviz.
    #[must_use]
    pub(crate) fn dot(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let mut text = format!("digraph {} {{\n    rankdir = LR\n", quoted(self.name));
        for (n, state) in self.states.iter().enumerate() {
            let shape = if self.is_terminal(n) { "doublecircle" } else { "circle" };
            let weight = if state.initial { ", style = bold" } else { "" };
            let _ = writeln!(text, "    {} [shape = {shape}{weight}]", quoted(state.name));
        }
        for edge in self.edges {
            let (from, to) = (quoted(self.states[edge.from].name), quoted(self.states[edge.to].name));
            let _ = writeln!(text, "    {from} -> {to} [label = {}]", quoted(&self.label(edge)));
        }
        text.push_str("}\n");
        text
    }

    fn label(&self, edge: &Edge) -> String {
        let event = &self.events[edge.event];
        match (event.named, edge.guard) {
            (true, None) => event.name.to_owned(),
            (true, Some(guard)) => format!("{} [{guard}]", event.name),
            (false, None) => String::new(),
            (false, Some(guard)) => format!("[{guard}]"),
        }
    }

    /// How a state is called in a diagram, where spaces and hyphens would be read as something else.
    fn id(&self, state: usize) -> String {
        let id = id_of(self.states[state].name);
        let same = |n: &usize| id_of(self.states[*n].name) == id;
        if (0..state).any(|n| same(&n)) { format!("{id}_{state}") } else { id }
    }
}

/// Letters, digits and underscores; never a word that diagrams keep for themselves.
fn id_of(name: &str) -> String {
    const KEPT: [&str; 8] = ["state", "end", "note", "as", "direction", "class", "style", "default"];
    let id: String = name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if KEPT.contains(&id.as_str()) { format!("{id}_") } else { id }
}
