//! The graph: events and edges whose states were found.

use proc_macro2::Ident;
use syn::ExprPath;
use syn::ext::IdentExt;

use super::names::{function_name, word_of};
use super::states::States;
use super::transitions::{Arrow, Declaration, EventName, Sources};
use crate::errors::Errors;

pub(super) struct Graph<'d> {
    /// In the order of their first declaration.
    pub(super) events: Vec<Event<'d>>,
    /// In the order of their declaration; of one arrow by its sources, and then by its targets.
    pub(super) edges: Vec<Edge<'d>>,
    /// Whether every edge is understood.
    pub(super) clear: bool,
}

pub(super) struct Event<'d> {
    /// None if it is called for its target.
    pub(super) declared: Option<&'d EventName>,
    /// As the program writes it, without `r#`.
    pub(super) word: String,
    /// As the history holds it.
    pub(super) name: String,
    /// The name of its function, if it can have one.
    pub(super) function: Option<Ident>,
    /// Where it stands first: its name, or the target of an edge without one.
    pub(super) at: &'d Ident,
}

pub(super) struct Edge<'d> {
    pub(super) event: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) guard: Option<&'d ExprPath>,
    /// Whether it is one of several that the function's outcome chooses from.
    pub(super) chosen: bool,
    /// The source as written, which may be `any`.
    pub(super) source: &'d Ident,
    pub(super) target: &'d Ident,
}

impl<'d> Graph<'d> {
    pub(super) fn resolve(declarations: &'d [Declaration], states: &States<'_>, errors: &mut Errors) -> Self {
        let mut graph = Self { events: Vec::new(), edges: Vec::new(), clear: true };
        for Declaration { event, arrows } in declarations {
            if let Some(declared) = event {
                let event = graph.events.len();
                graph.events.push(Event {
                    declared: Some(declared),
                    word: declared.word(),
                    name: declared.stored(),
                    function: function_name(&declared.ident),
                    at: &declared.ident,
                });
                for arrow in arrows {
                    graph.add(event, arrow, states, errors);
                }
                continue;
            }
            for arrow in arrows {
                match graph.nameless(arrow, states, errors) {
                    Some(event) => graph.add(event, arrow, states, errors),
                    None => graph.clear = false,
                }
            }
        }
        graph
    }

    /// The event of the edges that lead to one target and name none.
    fn nameless(&mut self, arrow: &'d Arrow, states: &States<'_>, errors: &mut Errors) -> Option<usize> {
        let [target] = &arrow.targets[..] else {
            let example = format!("settle: {arrow}");
            errors.at(
                &arrow.targets[1],
                format_args!("several targets need an event, because the function's outcome chooses among them; write one, such as `{example}`"),
            );
            return None;
        };
        let to = states.find(target, errors)?;
        let name = format!("to_{}", states.list[to].name);
        let known = self.events.iter().position(|event| event.declared.is_none() && event.name == name);
        known.or_else(|| {
            let function = word_of(&name, target.span());
            let word = function.to_string();
            self.events.push(Event { declared: None, word, name, function: Some(function), at: target });
            Some(self.events.len() - 1)
        })
    }

    fn add(&mut self, event: usize, arrow: &'d Arrow, states: &States<'_>, errors: &mut Errors) {
        let Arrow { sources, targets: written, guard } = arrow;
        let mut find = |written: &'d [Ident]| -> Vec<_> {
            written.iter().filter_map(|state| Some((states.find(state, errors)?, state))).collect()
        };
        let targets = find(written);
        let mut clear = targets.len() == written.len();
        let left: Vec<(usize, &Ident)> = match sources {
            Sources::States(written) => {
                let left = find(written);
                clear &= left.len() == written.len();
                left
            }
            Sources::Any { any, except } => {
                let left_out = find(except);
                clear &= left_out.len() == except.len();
                let is_left = |n: &usize| !states.list[*n].terminal && left_out.iter().all(|(out, _)| out != n);
                (0..states.list.len()).filter(is_left).map(|n| (n, any)).collect()
            }
        };
        let before = self.edges.len();
        for (from, source) in left {
            let is_itself = |to: usize| matches!(sources, Sources::Any { .. }) && to == from;
            let choices = written.len() - targets.iter().filter(|(to, _)| is_itself(*to)).count();
            let (guard, chosen) = (guard.as_ref(), choices > 1);
            let entered = targets.iter().filter(|(to, _)| !is_itself(*to));
            self.edges.extend(entered.map(|(to, target)| Edge { event, from, to: *to, guard, chosen, source, target }));
        }
        if let Sources::Any { any, .. } = sources
            && clear
            && self.edges.len() == before
        {
            errors.at(
                any,
                "`any` leaves no state, because each of them is terminal, taken out or the target itself; name the states",
            );
        }
        self.clear &= clear;
    }

    /// The edges that leave a state by an event.
    pub(super) fn alternatives(&self, event: usize, from: usize) -> impl Iterator<Item = &Edge<'d>> {
        self.edges.iter().filter(move |edge| edge.event == event && edge.from == from)
    }

    /// The states that are entered: from the initial and the external ones, along the edges.
    pub(super) fn reached(&self, states: &States<'_>) -> Vec<bool> {
        let begins = states.list.iter().map(|state| state.initial || state.is_external());
        let mut reached: Vec<bool> = begins.collect();
        while let Some(edge) = self.edges.iter().find(|edge| reached[edge.from] && !reached[edge.to]) {
            reached[edge.to] = true;
        }
        reached
    }
}

impl Edge<'_> {
    /// As it would be written alone.
    pub(super) fn text(&self, states: &States<'_>) -> String {
        let (from, to) = (states.ident(self.from).unraw(), states.ident(self.to).unraw());
        let guard = self.guard.map(|guard| format!(" if {}", super::transitions::guard_text(guard)));
        format!("{from} => {to}{}", guard.unwrap_or_default())
    }
}
