//! The checks of the events: that each can be told from the others, in the program and in the history.

use quote::ToTokens;
use syn::ext::IdentExt;

use super::args::Args;
use super::graph::{Event, Graph};
use super::states::States;
use super::transitions::{Declaration, EventName, joined};
use crate::errors::Errors;

pub(super) fn check_events(graph: &mut Graph<'_>, states: &States<'_>, args: &Args, errors: &mut Errors) {
    let declared =
        || args.transitions.iter().filter_map(|declaration| Some((declaration.event.as_ref()?, declaration)));
    for (n, (event, _)) in declared().enumerate() {
        check_name(event, states, errors);
        check_declared_once(n, event, &declared().collect::<Vec<_>>(), errors);
    }
    for (n, event) in graph.events.iter().enumerate().filter(|(_, event)| event.declared.is_none()) {
        check_nameless(n, event, &graph.events, errors);
    }
    for n in 0..graph.events.len() {
        if graph.events[..n].iter().any(|event| event.word == graph.events[n].word) {
            graph.events[n].function = None;
        }
    }
}

fn check_name(event: &EventName, states: &States<'_>, errors: &mut Errors) {
    let (word, stored, at) = (event.word(), event.stored(), event_text(event));
    if stored.is_empty() {
        errors.at(&at, "an event cannot be stored as nothing; write a name of at least one letter");
    }
    if stored.len() > 255 {
        errors.at(&at, "the stored name of an event has more than 255 bytes; write a shorter one");
    }
    if super::names::function_name(&event.ident).is_none() {
        errors.at(
            &event.ident,
            format_args!(
                "no function can be called `{word}`; write `\"{stored}\" as {word}_event: …`, with any other name"
            ),
        );
    }
    if states.list.iter().any(|state| state.variant.ident.unraw() == word) {
        let lower = super::names::Case::Snake.apply(&word);
        errors.at(
            &event.ident,
            format_args!("event `{word}` has the name of a state, and would be taken for it; write it in lower case, such as `{lower}`"),
        );
    }
}

/// Where a name is written that the history holds.
fn event_text(event: &EventName) -> proc_macro2::TokenStream {
    event.text.as_ref().map_or_else(|| event.ident.to_token_stream(), ToTokens::to_token_stream)
}

/// An event that is declared again is shown at each of its declarations, because either may be the one that is wrong.
fn check_declared_once(n: usize, event: &EventName, declared: &[(&EventName, &Declaration)], errors: &mut Errors) {
    let (word, stored) = (event.word(), event.stored());
    let others = || declared.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, (other, _))| other);
    let is_same = |other: &EventName| other.word() == word && other.stored() == stored;
    if others().any(|other| is_same(other)) {
        let all = declared.iter().filter(|(other, _)| is_same(other));
        let arrows = joined(all.flat_map(|(_, declaration)| &declaration.arrows), ", ");
        errors.at(
            &event.ident,
            format_args!("event `{word}` is declared more than once; write all of its edges in one place: `{event}: {{ {arrows} }}`"),
        );
    } else if let Some(other) = others().find(|other| other.word() == word) {
        errors.at(
            &event.ident,
            format_args!("two events are called `{word}`, which are stored as `{stored}` and as `{}`; call one of them something else", other.stored()),
        );
    } else if let Some(other) = others().find(|other| other.stored() == stored) {
        errors.at(
            event_text(event),
            format_args!(
                "two events are stored as `{stored}`: `{word}` and `{}`; write another name for one of them",
                other.word()
            ),
        );
    }
}

/// An event that is called for its target may be called like another.
fn check_nameless(n: usize, event: &Event<'_>, events: &[Event<'_>], errors: &mut Errors) {
    let Event { word, name, at, .. } = event;
    if name.len() > 255 {
        errors.at(
            at,
            format_args!(
                "the event of edges to `{at}` that name none would be stored with more than 255 bytes; name it, as in `reach: … => {at}`"
            ),
        );
    }
    for (m, other) in events.iter().enumerate() {
        match other.declared {
            Some(declared) if other.word == *word || other.name == *name => errors.at(
                &declared.ident,
                format_args!("event `{}` is called like the edges to `{at}` that name no event; rename it, or write those edges in it", other.word),
            ),
            None if m < n && other.word == *word => errors.at(
                at,
                format_args!("edges to `{at}` and to `{}` that name no event would both be called `{word}`; name the event of these, as in `reach: … => {at}`", other.at),
            ),
            _ => {}
        }
    }
}
