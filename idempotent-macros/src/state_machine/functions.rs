//! The function of each event: `OrderStatus::pay()`.

use proc_macro2::TokenStream;
use quote::quote;

use super::expand::number;
use super::graph::{Event, Graph};
use super::machine::Machine;
use super::states::States;
use super::transitions::{guard_text, joined};

/// ```text
/// /// The event `pay`: `created` → `paid`.
/// pub const fn pay() -> EventOf<Self> { EventOf::new(0) }
/// ```
pub(super) fn expand_functions(machine: &Machine<'_>, private: &TokenStream) -> TokenStream {
    let Machine { visibility, ident, states, graph, .. } = machine;
    let functions = graph.events.iter().enumerate().filter_map(|(n, Event { function, name, .. })| {
        let function = function.as_ref()?;
        let ways = ways(n, graph, states);
        let doc = format!(" The event `{name}`{}{ways}.", if ways.is_empty() { "" } else { ": " });
        let n = number(n);
        Some(quote! {
            #[doc = #doc]
            #[must_use]
            #visibility const fn #function() -> #private::EventOf<Self> {
                #private::EventOf::new(#n)
            }
        })
    });
    quote! {
        // An event is called as its author calls it.
        #[allow(
            dead_code,
            non_snake_case,
            unreachable_pub,
            clippy::double_must_use,
            clippy::new_ret_no_self,
            clippy::should_implement_trait,
            clippy::wrong_self_convention
        )]
        impl #ident {
            #(#functions)*
        }
    }
}

/// "`init` or `pending` → `success` or `failed`; `success` → `void` if `Order::is_open`"
fn ways(event: usize, graph: &Graph<'_>, states: &States<'_>) -> String {
    let name = |state: usize| format!("`{}`", states.list[state].name);
    let mut ways: Vec<(Vec<usize>, String)> = Vec::new();
    let mut add = |from: usize, target: String| match ways.iter_mut().find(|(_, other)| *other == target) {
        Some((sources, _)) => sources.push(from),
        None => ways.push((vec![from], target)),
    };
    let mut chosen = Vec::new();
    for edge in graph.edges.iter().filter(|edge| edge.event == event) {
        match edge.guard {
            Some(guard) => add(edge.from, format!("{} if `{}`", name(edge.to), guard_text(guard))),
            None if !edge.chosen => add(edge.from, name(edge.to)),
            None if chosen.contains(&edge.from) => {}
            None => {
                chosen.push(edge.from);
                let targets = graph.alternatives(event, edge.from).filter(|edge| edge.chosen).map(|edge| name(edge.to));
                add(edge.from, joined(targets, " or "));
            }
        }
    }
    let ways =
        ways.iter().map(|(from, target)| format!("{} → {target}", joined(from.iter().copied().map(name), " or ")));
    joined(ways, "; ")
}
