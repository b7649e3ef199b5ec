//! What becomes of a row: one pure function, and no I/O.

use super::StateMachine;
use super::ask::Ask;
use super::error::TransitionError;
use super::graph::{Edge, Graph};

/// A row as it was read under a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// As it is stored.
    pub(crate) state: Option<String>,
    pub(crate) version: Option<i64>,
    pub(crate) key: Option<String>,
    /// For how many milliseconds it has been in this state.
    pub(crate) age: Option<i64>,
}

/// What is asked of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'r> {
    pub(crate) ask: Ask,
    /// The row, as in "order 42".
    pub(crate) row: &'r str,
    /// The only target that will do, if the caller has chosen one.
    pub(crate) target: Option<usize>,
    /// The version that the caller has seen.
    pub(crate) version: Option<i64>,
}

impl Request<'_> {
    /// The edges that may be taken, with their places.
    fn edges(&self, graph: &'static Graph) -> impl Iterator<Item = (usize, &'static Edge)> + use<> {
        let target = self.target;
        self.ask.edges(graph).filter(move |(_, edge)| target.is_none_or(|target| edge.to == target))
    }

    /// The one edge of a request that needs no look at the row: from one state to another, whatever else holds.
    pub(crate) fn only_edge(&self, graph: &'static Graph) -> Option<usize> {
        let mut edges = self.edges(graph);
        let (n, edge) = edges.next()?;
        (edges.next().is_none() && !graph.is_guarded(n) && edge.from != edge.to).then_some(n)
    }

    /// The states that the event leads to.
    pub(crate) fn targets(&self, graph: &'static Graph) -> Vec<&'static str> {
        distinct(self.edges(graph).map(|(_, edge)| graph.states[edge.to].name))
    }
}

/// What becomes of a row.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It may leave its state by one of these edges: of guarded ones by the first whose guard lets it pass.
    Move {
        from: usize,
        edges: Vec<usize>,
    },
    /// There is nothing left to do.
    Already,
    Refuse(TransitionError),
}

/// Decides about a row. The same row and the same request always get the same verdict.
///
/// A version that the caller has seen must be the row's, except that a row which has come one further, into a target,
/// has already had what is asked.
pub(crate) fn decide<M: StateMachine>(request: Request<'_>, found: Option<&Found>) -> Verdict {
    let graph = M::GRAPH;
    let (row, version) = (Box::<str>::from(request.row), request.version);
    let Some(found) = found else { return Verdict::Refuse(TransitionError::NotFound { row }) };
    let Some(stored) = &found.state else { return Verdict::Refuse(TransitionError::NullState { row }) };
    let Some(state) = graph.state_of(stored) else {
        return Verdict::Refuse(match M::of_other(stored) {
            Some(_) => conflict(graph, request, stored.clone(), None, None),
            None => TransitionError::UnknownState { row, value: stored.clone() },
        });
    };
    if let Some(target) = request.target
        && request.edges(graph).next().is_none()
    {
        let targets = Request { target: None, ..request }.targets(graph);
        let (event, actual) = (request.ask.event_name(graph), graph.states[state].name.to_owned());
        let chosen = Some(graph.states[target].name.to_owned());
        return Verdict::Refuse(TransitionError::Undecided { event, actual, targets, chosen });
    }
    let edges: Vec<usize> = request.edges(graph).filter(|(_, edge)| edge.from == state).map(|(n, _)| n).collect();
    let is_target = request.edges(graph).any(|(_, edge)| edge.to == state);
    if let (Some(expected), Some(actual)) = (version, found.version) {
        let moved_once = edges.is_empty() && is_target && actual == expected.wrapping_add(1);
        if actual != expected && !moved_once {
            return Verdict::Refuse(TransitionError::Stale { row, expected, actual });
        }
    }
    match edges.is_empty() {
        false => Verdict::Move { from: state, edges },
        true if is_target => Verdict::Already,
        true => Verdict::Refuse(conflict(graph, request, graph.states[state].name.to_owned(), Some(state), None)),
    }
}

/// The edge that a row takes, by the guards of the event in their order; or the conflict with the guard that is in the
/// way: that of another alternative, which is open and goes first, or the last one that is closed.
pub(crate) fn choose<M: StateMachine>(
    request: Request<'_>,
    from: usize,
    edges: &[usize],
    row: &M::Row,
) -> Result<usize, TransitionError> {
    let graph = M::GRAPH;
    let guard = |edge: usize| graph.edges[edge].guard;
    let mut alternatives = edges.first().into_iter().flat_map(|edge| graph.alternatives(*edge));
    match alternatives.find(|edge| M::passes(*edge, row)) {
        Some(open) if edges.contains(&open) => Ok(open),
        Some(open) => Err(refused::<M>(request, from, guard(open).or(Some("the alternative before it")))),
        None => Err(refused::<M>(request, from, edges.last().and_then(|edge| guard(*edge)))),
    }
}

/// The conflict of a row whose state would permit the event, and whose guard refuses it.
pub(crate) fn refused<M: StateMachine>(
    request: Request<'_>,
    from: usize,
    guard: Option<&'static str>,
) -> TransitionError {
    conflict(M::GRAPH, request, M::GRAPH.states[from].name.to_owned(), Some(from), guard)
}

fn conflict(
    graph: &'static Graph,
    request: Request<'_>,
    actual: String,
    state: Option<usize>,
    guard: Option<&'static str>,
) -> TransitionError {
    let needs = distinct(request.edges(graph).map(|(_, edge)| graph.states[edge.from].name)).into();
    let allowed = state.map_or_else(Vec::new, |state| graph.allowed_from(state)).into();
    let (row, event) = (request.row.into(), request.ask.event_name(graph));
    TransitionError::Conflict { row, event, actual, needs, allowed, passed: false, guard }
}

/// Names, each once, in the order in which they come first.
fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// How a row of a machine is called: "order 42" of `OrderStatus`, "row 42 of `orders`" of `Status`.
pub(crate) fn label<M: StateMachine>(row: &str) -> String {
    let name = M::GRAPH.name;
    let name = ["Status", "State", "Machine"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    if name.is_empty() {
        return format!("row {row} of `{}`", M::tables().table.name);
    }
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    format!("{words} {row}")
}
