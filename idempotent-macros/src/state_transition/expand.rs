//! The tokens. What reaches here was checked: nothing can fail any more, except against the machine's graph, which is
//! checked by constants that the compiler evaluates.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Path};

use super::policy::{Noted, Policy, Sources, Via, Way};
use crate::function::{Function, MarkerKind};
use crate::nested::{Nested, Wait, expand_connection_check, located_at, named_parameters, outer_attributes, word};
use crate::pattern::by_reference;

/// ```text
/// Input:   async fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<Transition<T>, E> { … }
/// Output:  async fn pay(conn: &mut Db, order: i64) -> Result<Transition<T>, E> {
///              async fn pay(conn: &mut Db, order: i64) -> Result<Transition<T>, E> { … }
///              const __ASK: Ask = …;  const _: () = check_…;
///              match open(returns, terms, &mut *conn, guard, chosen).await {
///                  Opened::Done(__result) => __result,
///                  Opened::Run(__span) => close(returns, __span, &mut *conn, catch(pay(&mut *conn, order)).await, outcome).await,
///              }
///          }
/// ```
///
/// Without `async` the same, without `.await`, and with the body as a closure.
pub(crate) fn expand(policy: &Policy, function: &Function) -> TokenStream {
    let root = &policy.root;
    let private = quote!(#root::__private);
    let transition = quote!(#private::transition);
    let Function { visibility, signature, .. } = function;
    let outer_attributes = outer_attributes(function);
    let nested = Nested::of(function, &policy.used, function.names_self());
    let (inner, sibling, callee) = (&nested.inside, &nested.beside, &nested.callee);
    let (declaration, names) = named_parameters(signature);
    let is = |n: usize, kind| function.markers[n].as_ref().is_some_and(|marker| marker.kind == kind);
    let is_key = |n: usize| function.transition[n].as_ref().is_some_and(|marker| marker.kind == MarkerKind::Key);
    let (span, done, returns) = (word("__span"), word("__result"), word("__returns"));
    let bindings: Vec<_> = function
        .parameters()
        .zip(&names)
        .enumerate()
        .filter(|(n, _)| !is(*n, MarkerKind::Tx))
        .map(|(_, ((parameter, _), name))| {
            let pattern = by_reference(&parameter.pat);
            quote!(let #pattern = &#name;)
        })
        .collect();
    let passed = names.iter().enumerate().map(|(n, name)| match () {
        () if is(n, MarkerKind::Tx) => quote!(&mut *#name),
        () if is_key(n) => quote!(#span.key()),
        () => quote!(#name),
    });
    let connection = names.iter().enumerate().find(|(n, _)| is(*n, MarkerKind::Tx)).map(|(_, name)| name);
    let with_bindings = |value: TokenStream| {
        quote!({
            #[allow(unused_variables)]
            {
                #(#bindings)*
                #value
            }
        })
    };
    let machine = &policy.machine;
    let checks = expand_checks(policy, &private);
    let wait = Wait { waiting: function.waiting(), private: &private };
    let connection_check = expand_connection_check(&private, &policy.connection, wait.waiting);
    let result = &policy.result;
    let returns_fn = located_at(quote!(#transition::returns), result.span());
    let returns_of = quote_spanned!(result.span()=> #returns_fn::<#result>());
    let asks = expand_asks(policy, &transition);
    let terms = with_bindings(expand_terms(policy, &transition));
    // Of what the body gave, and nothing else: the body may have taken the arguments.
    let outcome = expand_option(
        policy
            .outcome
            .as_ref()
            .map(|outcome| quote_spanned!(outcome.span()=> &#transition::outcome::<#result, #machine, _>(#outcome))),
    );
    let body = quote!(#callee(#(#passed),*));
    let (open, close) = match &policy.way {
        Way::Event(_) | Way::Edges { .. } => {
            let chosen = policy.outcome.is_some();
            let guard = expand_option(policy.guard.as_ref().map(|guard| {
                let text = guard.to_token_stream().to_string().replace(" . ", ".").replace(" :: ", "::");
                let closure = with_bindings(expand_guard(guard, machine, &private));
                quote!((#text, &#closure))
            }));
            (
                quote!(#transition::open::<#machine, _, _, _, _>(#returns, #terms, &mut *#connection, #guard, #chosen)),
                quote!(#transition::close(#returns, #span, &mut *#connection, #done, #outcome)),
            )
        }
        Way::Via(via) => {
            let key = names.iter().enumerate().find(|(n, _)| is_key(*n)).map(|(_, name)| name);
            let failed = expand_option(
                via.failure
                    .as_ref()
                    .map(|(_, when)| quote_spanned!(when.span()=> &#transition::failed::<#result, _>(#when))),
            );
            let way = word("__VIA");
            (
                quote!(#transition::open_via::<#machine, _, _, _, _>(#returns, #way, #terms, ::core::clone::Clone::clone(&#key), &mut *#connection)),
                quote!(#transition::close_via(#returns, #span, &mut *#connection, #done, #outcome, #failed)),
            )
        }
    };
    let (open, ran, close) = (wait.expand(&open), wait.expand_body(&body), wait.expand(&close));
    quote! {
        #sibling
        #(#outer_attributes)*
        #visibility #declaration {
            #inner
            #asks
            #checks
            #connection_check
            let #returns = #returns_of;
            match #open {
                #transition::Opened::Done(#done) => #done,
                #transition::Opened::Run(#span) => {
                    let #done = #ran;
                    #close
                }
            }
        }
    }
}

/// `Some(…)` or `None`.
fn expand_option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// A guard as a closure over the locked row, which the user calls `row`.
fn expand_guard(guard: &Expr, machine: &Path, private: &TokenStream) -> TokenStream {
    let row = Ident::new("row", Span::call_site());
    let ty = quote!(<#machine as #private::StateMachine>::Row);
    quote_spanned!(guard.span()=> #private::transition::guard::<#machine, _>(move |#row: &#ty| #guard))
}

/// `const __ASK: Ask = …;`, and where a state in between is committed `const __VIA: Via = …;`.
fn expand_asks(policy: &Policy, transition: &TokenStream) -> TokenStream {
    let name = word("__ASK");
    match &policy.way {
        Way::Event(event) => {
            let event = event.to_string();
            quote!(const #name: #transition::Ask = #transition::Ask::event(#event);)
        }
        Way::Edges { from, to } => {
            let ask = expand_edges(from, to, transition);
            quote!(const #name: #transition::Ask = #ask;)
        }
        Way::Via(via) => {
            let Via { from, between: via, to, failure, reclaim_ms } = &**via;
            let between = Sources::Of(vec![via.clone()]);
            let claim = expand_edges(from, std::slice::from_ref(via), transition);
            let success = expand_edges(&between, to, transition);
            let failure = match failure {
                Some((state, _)) => {
                    let ask = expand_edges(&between, std::slice::from_ref(state), transition);
                    quote!(::core::option::Option::Some(#ask))
                }
                None => quote!(::core::option::Option::None),
            };
            let (way, reclaim) = (word("__VIA"), i64::try_from(*reclaim_ms).unwrap_or(i64::MAX));
            quote! {
                const #name: #transition::Ask = #success;
                const #way: #transition::Via =
                    #transition::Via { claim: #claim, success: #name, failure: #failure, reclaim_ms: #reclaim };
            }
        }
    }
}

fn expand_edges(from: &Sources, to: &[Ident], transition: &TokenStream) -> TokenStream {
    let from = expand_sources(from, transition);
    let to = to.iter().map(ToString::to_string);
    quote!(#transition::Ask { event: ::core::option::Option::None, from: #from, to: &[#(#to),*] })
}

fn expand_sources(from: &Sources, transition: &TokenStream) -> TokenStream {
    let names = from.named().iter().map(ToString::to_string);
    match from {
        Sources::Any => quote!(#transition::Sources::Any),
        Sources::Of(_) => quote!(#transition::Sources::Of(&[#(#names),*])),
        Sources::Except(_) => quote!(#transition::Sources::Except(&[#(#names),*])),
    }
}

/// Holds what was written against the graph, each at the user's own token.
fn expand_checks(policy: &Policy, private: &TokenStream) -> TokenStream {
    let transition = quote!(#private::transition);
    let machine = &policy.machine;
    let graph = quote!(<#machine as #private::StateMachine>::GRAPH);
    let columns = quote!(<#machine as #private::StateMachine>::COLUMNS);
    let ask = word("__ASK");
    let mut checks = TokenStream::new();
    let mut check = |span: Span, call: TokenStream| {
        checks.extend(located_at(quote!(const _: () = #transition::#call;), span));
    };
    let mut state = |state: &Ident| {
        let name = state.to_string();
        check(state.span(), quote_spanned!(state.span()=> check_state(#graph, #name)));
    };
    match &policy.way {
        Way::Event(_) => {}
        Way::Edges { from, to } => from.named().iter().chain(to).for_each(&mut state),
        Way::Via(via) => {
            let failure = via.failure.iter().map(|(state, _)| state);
            via.from.named().iter().chain([&via.between]).chain(&via.to).chain(failure).for_each(&mut state);
        }
    }
    let mut edge = |from: &Sources, to: &Ident| {
        let (sources, name) = (expand_sources(from, &transition), to.to_string());
        check(to.span(), quote_spanned!(to.span()=> check_edge(#graph, #sources, #name)));
    };
    let outcome_at = match &policy.way {
        Way::Event(event) => {
            let name = event.to_string();
            check(event.span(), quote_spanned!(event.span()=> check_event(#graph, #name)));
            event.span()
        }
        Way::Edges { from, to } => {
            for to in to {
                edge(from, to);
            }
            to[0].span()
        }
        Way::Via(via) => {
            let between = Sources::Of(vec![via.between.clone()]);
            edge(&via.from, &via.between);
            via.to.iter().chain(via.failure.iter().map(|(state, _)| state)).for_each(|to| edge(&between, to));
            let span = via.between.span();
            for (column, need) in [
                ("key", "`key = …` in `#[state_machine]`, where the key is kept"),
                ("entered", "`entered = …` in `#[state_machine]`, so that a row can be seen to be stuck"),
            ] {
                let column = Ident::new(column, span);
                check(span, quote_spanned!(span=> check_needs(#columns.#column.is_some(), "`via`", #need)));
            }
            via.to[0].span()
        }
    };
    let says = policy.outcome.is_some();
    let span = policy.outcome.as_ref().map_or(outcome_at, Spanned::span);
    check(span, quote_spanned!(span=> check_outcome(#graph, &#ask, #says)));
    for Noted { kind, name: _, marker } in &policy.notes {
        let span = marker.path().span();
        let what = format!("`{}`", marker.to_token_stream().to_string().replace(' ', ""));
        let call = match kind {
            MarkerKind::Version => {
                quote_spanned!(span=> check_needs(#columns.version.is_some(), #what, "`version = …` in `#[state_machine]`"))
            }
            _ => quote_spanned!(span=> check_needs(#columns.history, #what, "`history = …` in `#[state_machine]`")),
        };
        check(span, call);
    }
    checks
}

/// `Terms::new(__ASK, id).actor(…)…`, each call spanned on the user's parameter.
fn expand_terms(policy: &Policy, transition: &TokenStream) -> TokenStream {
    let (machine, id) = (&policy.machine, &policy.id);
    let ask = match policy.way {
        Way::Via(_) => {
            let way = word("__VIA");
            quote!(#way.claim)
        }
        Way::Event(_) | Way::Edges { .. } => word("__ASK").to_token_stream(),
    };
    let mut terms = quote_spanned!(id.span()=> #transition::Terms::<#machine>::new(#ask, #id));
    for Noted { kind, name, marker: _ } in &policy.notes {
        let method = match kind {
            MarkerKind::Version => "version",
            MarkerKind::Actor => "actor",
            MarkerKind::Reason => "reason",
            _ => "metadata",
        };
        let method = Ident::new(method, name.span());
        terms.extend(quote_spanned!(name.span()=> .#method(#name)));
    }
    terms
}
