//! The checks of the graph: what an edge may be, and which edges fit together.

use quote::quote;
use syn::ext::IdentExt;

use super::args::Args;
use super::graph::{Edge, Graph};
use super::states::States;
use super::transitions::{Arrow, Declaration, guard_text, joined};
use crate::errors::Errors;

pub(super) fn check_graph(graph: &Graph<'_>, states: &States<'_>, args: &Args, errors: &mut Errors) {
    check_guards(args, errors);
    for (n, edge) in graph.edges.iter().enumerate() {
        check_terminal(edge, states, errors);
        check_alternative(&graph.edges[..n], edge, graph, states, errors);
    }
    if graph.clear && states.clear && !args.is_broken("transitions") && !graph.edges.is_empty() {
        check_reached(graph, states, errors);
    }
}

/// A guard looks at a row, and chooses between edges that the function has no say in.
fn check_guards(args: &Args, errors: &mut Errors) {
    let arrows = || args.transitions.iter().flat_map(|Declaration { arrows, .. }| arrows);
    let guarded = || arrows().filter_map(|arrow| Some((arrow, arrow.guard.as_ref()?)));
    if let Some((_, guard)) = guarded().next()
        && !args.is_meant("row")
    {
        let segments = &guard.path.segments;
        let ty = joined(segments.iter().take(segments.len() - 1).map(|segment| segment.ident.to_string()), "::");
        let ty = if ty.is_empty() { "Order" } else { &ty };
        errors.at(
            guard,
            format_args!(
                "guard `{}` needs the type of the rows that it looks at; write `row = {ty}`",
                guard_text(guard)
            ),
        );
    }
    for (Arrow { targets, .. }, guard) in guarded().filter(|(arrow, _)| arrow.targets.len() > 1) {
        errors.at(
            guard,
            format_args!(
                "a guard cannot stand behind several targets, because the function's outcome chooses among {}; remove the guard, or write an edge for each target",
                super::states::listed(targets)
            ),
        );
    }
}

fn check_terminal(edge: &Edge<'_>, states: &States<'_>, errors: &mut Errors) {
    let state = &states.list[edge.from];
    if state.terminal {
        let ident = &state.variant.ident;
        errors.at(
            edge.source,
            format_args!(
                "nothing leaves `{ident}`, because it is terminal; remove this edge, or `terminal` from `{ident}`"
            ),
        );
    }
}

/// An edge beside those before it that leave the same state by the same event.
fn check_alternative(
    before: &[Edge<'_>],
    edge: &Edge<'_>,
    graph: &Graph<'_>,
    states: &States<'_>,
    errors: &mut Errors,
) {
    let mut earlier = before.iter().filter(|other| other.event == edge.event && other.from == edge.from).peekable();
    let Some(first) = earlier.peek() else { return };
    let (text, from) = (edge.text(states), states.ident(edge.from).unraw());
    let Edge { source, target, .. } = edge;
    let at = quote!(#source #target);
    let is_mixed = first.chosen != edge.chosen;
    if let Some(same) =
        before.iter().find(|other| (other.event, other.from, other.to) == (edge.event, edge.from, edge.to))
    {
        let event = &graph.events[edge.event];
        let place = event.declared.map_or_else(String::new, |_| format!(" in event `{}`", event.word));
        let way_out = if *source == "any" { format!("write `any - {from}`") } else { "remove this one".to_owned() };
        errors.at(at, format_args!("the edge `{}` is there already{place}; {way_out}", same.text(states)));
        return;
    }
    let every = || {
        let targets: Vec<_> = graph.alternatives(edge.event, edge.from).map(|edge| states.ident(edge.to)).collect();
        let mut once = Vec::new();
        for target in targets {
            if !once.contains(&target) {
                once.push(target);
            }
        }
        format!("{from} => {}", joined(once, " | "))
    };
    if is_mixed {
        errors.at(
            at,
            format_args!(
                "`{text}` cannot stand beside targets of `{from}` among which the function's outcome chooses; write one arrow with all of them: `{}`",
                every()
            ),
        );
        return;
    }
    let Some(open) = earlier.find(|other| other.guard.is_none() && !other.chosen) else { return };
    let open = open.text(states);
    match edge.guard {
        Some(_) => errors.at(
            at,
            format_args!("`{text}` can never be taken, because `{open}` before it has no guard; move it before that"),
        ),
        None => errors.at(
            at,
            format_args!(
                "`{text}` can never be taken, because `{open}` before it has no guard; write a guard there, or `{}` if the function's outcome chooses",
                every()
            ),
        ),
    }
}

fn check_reached(graph: &Graph<'_>, states: &States<'_>, errors: &mut Errors) {
    for (state, reached) in states.list.iter().zip(graph.reached(states)) {
        if !reached {
            let ident = &state.variant.ident;
            errors.at(
                ident,
                format_args!("state `{ident}` is never entered; add an edge to it, or mark it `#[state(initial)]`, or `#[state(external)]` if something else enters it"),
            );
        }
    }
}
