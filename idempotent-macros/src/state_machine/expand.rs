//! The tokens. What reaches here was checked: nothing can fail any more.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::columns::{expand_columns, expand_history_check, expand_tables};
use super::functions::expand_functions;
use super::graph::{Edge, Event};
use super::machine::Machine;
use super::states::State;
use super::transitions::guard_text;

/// ```text
/// const _: () = {
///     impl StateMachine for OrderStatus { … }
///     impl OrderStatus { pub const fn pay() -> EventOf<Self> { … } … }
///     state_machine_impls!(OrderStatus);
/// };
/// ```
pub(super) fn expand(machine: &Machine<'_>) -> TokenStream {
    let Machine { ident, args, .. } = machine;
    let private = args.private();
    let id_type = match (&args.table, &args.id) {
        (Some(table), Some(id)) => {
            quote_spanned!(id.span()=> <#table::columns::#id as #private::diesel::Expression>::SqlType)
        }
        _ => quote!(#private::diesel::sql_types::BigInt),
    };
    let row = match &args.row {
        Some(row) => row.to_token_stream(),
        None => quote!(#private::NoRow),
    };
    let graph = expand_graph(machine, &private);
    let units = machine.states.list.iter().filter(|state| state.is_unit()).map(|state| &state.variant.ident);
    let columns = expand_columns(machine, &private);
    let tables = expand_tables(machine, &private);
    let names = expand_names(machine);
    let passes = expand_passes(machine);
    let functions = expand_functions(machine, &private);
    let history = expand_history_check(machine, &private);
    quote! {
        const _: () = {
            #[automatically_derived]
            #[allow(deprecated)]
            impl #private::StateMachine for #ident {
                type IdType = #id_type;
                type Row = #row;
                const GRAPH: &'static #private::Graph = &#graph;
                const STATES: &'static [Self] = &[#(Self::#units),*];
                const COLUMNS: &'static #private::Columns = &#columns;
                #tables
                #names
                #passes
            }
            #functions
            #history
            #private::state_machine_impls!(#ident);
        };
    }
}

/// `Graph { name, states, events, edges, expiry }`, empty where there are mistakes.
fn expand_graph(machine: &Machine<'_>, private: &TokenStream) -> TokenStream {
    let name = machine.ident.unraw().to_string();
    if !machine.sound {
        return quote!(#private::Graph {
            name: #name,
            states: &[],
            events: &[],
            edges: &[],
            expiry: ::core::option::Option::None,
        });
    }
    let states = machine.states.list.iter().map(|State { variant, name, initial, terminal }| {
        let (word, aliases) = (variant.ident.unraw().to_string(), &variant.aliases);
        quote!(#private::GraphState {
            variant: #word,
            name: #name,
            aliases: &[#(#aliases),*],
            initial: #initial,
            terminal: #terminal,
        })
    });
    let events = machine.graph.events.iter().map(|Event { declared, word, name, .. }| {
        let named = declared.is_some();
        quote!(#private::GraphEvent { ident: #word, name: #name, named: #named })
    });
    let edges = machine.graph.edges.iter().map(|Edge { event, from, to, guard, chosen, .. }| {
        let (event, from, to) = (number(*event), number(*from), number(*to));
        let guard = option(guard.map(|guard| guard_text(guard).to_token_stream()));
        quote!(#private::GraphEdge { event: #event, from: #from, to: #to, guard: #guard, chosen: #chosen })
    });
    let expiry = option(machine.expiry.as_ref().map(|expiry| {
        let (after, to) = (Literal::i64_unsuffixed(expiry.after_ms), number(expiry.to));
        let from = expiry.from.iter().copied().map(number);
        quote!(#private::Expiry { after_ms: #after, to: #to, from: &[#(#from),*] })
    }));
    quote!(#private::Graph {
        name: #name,
        states: &[#(#states),*],
        events: &[#(#events),*],
        edges: &[#(#edges),*],
        expiry: #expiry,
    })
}

/// `fn name` and `fn of_other`.
fn expand_names(machine: &Machine<'_>) -> TokenStream {
    let name = Ident::new("__name", machine.states.other.map_or_else(Span::mixed_site, |(_, ty)| at(ty)));
    let arms = machine.states.list.iter().map(|state| {
        let (ident, name) = (&state.variant.ident, &state.name);
        let fields = (!state.is_unit()).then(|| quote!({ .. }));
        quote!(Self::#ident #fields => #name,)
    });
    let other = machine.states.other.map(|(ident, ty)| {
        let text = quote_spanned!(at(ty)=> ::core::convert::AsRef::<::core::primitive::str>::as_ref(#name));
        quote!(Self::#ident(#name) => #text,)
    });
    // A second variant for unknown names, or one of another shape.
    let mistaken = (!machine.sound).then(|| quote!(#[allow(unreachable_patterns)] _ => "",));
    let (parameter, of_other) = match machine.states.other {
        Some((ident, ty)) => {
            let from = quote_spanned!(at(ty)=> ::core::convert::From::from(#name));
            (name.to_token_stream(), quote!(::core::option::Option::Some(Self::#ident(#from))))
        }
        None => (quote!(_), quote!(::core::option::Option::None)),
    };
    quote! {
        fn name(&self) -> &::core::primitive::str {
            match self {
                #(#arms)*
                #other
                #mistaken
            }
        }
        fn of_other(#parameter: &::core::primitive::str) -> ::core::option::Option<Self> {
            #of_other
        }
    }
}

/// `fn passes`: each guard by the place of its edge. As a pointer to a function, so that a mistake is shown at its path.
fn expand_passes(machine: &Machine<'_>) -> TokenStream {
    let (edge, row, guard) = (word("__edge"), word("__row"), word("__guard"));
    let edges = machine.graph.edges.iter().enumerate().filter(|_| machine.sound);
    let arms: Vec<_> = edges
        .filter_map(|(n, edge)| {
            let (n, path) = (number(n), edge.guard?);
            let pointer = quote_spanned!(path.span()=> let #guard: fn(&Self::Row) -> ::core::primitive::bool = #path;);
            Some(quote!(#n => { #pointer #guard(#row) }))
        })
        .collect();
    let (edge, row, body) = match arms.is_empty() {
        true => (quote!(_), quote!(_), quote!(true)),
        false => (edge.to_token_stream(), row.to_token_stream(), quote!(match #edge { #(#arms)* _ => true })),
    };
    quote! {
        fn passes(#edge: ::core::primitive::usize, #row: &Self::Row) -> ::core::primitive::bool {
            #body
        }
    }
}

/// A place in a list.
pub(super) fn number(n: usize) -> Literal {
    Literal::usize_unsuffixed(n)
}

/// `Some(…)` or `None`.
pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Where something stands, for a name of ours.
fn at(tokens: &impl Spanned) -> Span {
    tokens.span().resolved_at(Span::mixed_site())
}

/// A name of ours, which no name of the user's can meet.
fn word(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
