//! `expires(…)`: what ends by itself.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitStr};

use super::args::{Args, STATES, once, parse_group, parse_value};
use super::graph::Graph;
use super::states::States;
use super::transitions::{parse_state, parse_states};
use crate::arguments::{parse_equals, unknown};
use crate::duration::parse_finite;
use crate::errors::Errors;

/// `expires(after = "30m", to = Expired, from = A | B)`
pub(super) struct Expires {
    pub(super) name: Ident,
    pub(super) after: Option<LitStr>,
    pub(super) to: Option<Ident>,
    pub(super) from: Option<Vec<Ident>>,
    written: Vec<String>,
}

/// The same, checked.
pub(super) struct Expiry {
    pub(super) after_ms: i64,
    pub(super) to: usize,
    pub(super) from: Vec<usize>,
}

impl Expires {
    pub(super) fn parse(name: Ident, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let mut expires = Self { name, after: None, to: None, from: None, written: Vec::new() };
        let name = expires.name.clone();
        parse_group(&name, input, errors, "after = \"30m\", to = Expired", |input, _| expires.parse_argument(input))?;
        Ok(expires)
    }

    fn parse_argument(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let name = once(&mut self.written, input)?;
        match name.unraw().to_string().as_str() {
            "after" => {
                parse_equals(&name, input)?;
                self.after = match input.parse()? {
                    Lit::Str(text) => Some(text),
                    other => {
                        let written = other.to_token_stream();
                        let message = format!("`after` needs a unit; write `after = \"{written}s\"`");
                        return Err(syn::Error::new_spanned(other, message));
                    }
                };
            }
            "to" => self.to = Some(parse_value(&name, input, parse_state, "a state")?),
            "from" => {
                let states = parse_value(&name, input, parse_states, STATES)?;
                self.from = Some(states);
            }
            other => {
                return Err(syn::Error::new_spanned(&name, unknown("argument", other, &["after", "to", "from"])));
            }
        }
        Ok(())
    }

    fn is_written(&self, name: &str) -> bool {
        self.written.iter().any(|written| written == name)
    }
}

impl Expiry {
    pub(super) fn check(args: &Args, graph: &Graph<'_>, states: &States<'_>, errors: &mut Errors) -> Option<Self> {
        let expires = args.expires.as_ref()?;
        let Expires { name, to, from, .. } = expires;
        if !args.is_meant("entered") {
            errors.at(
                name,
                "`expires` needs the time at which a state was entered; write `entered = entered_at`, a `BigInt` column",
            );
        }
        let after_ms = check_after(expires, errors);
        if !expires.is_written("to") {
            errors.at(name, "missing `to` in `expires`; write `to = Expired`, the state that is entered");
        }
        let to = to.as_ref().and_then(|to| Some((states.find(to, errors)?, to)));
        let from = match (to, from) {
            (to, Some(written)) => check_sources(to, written, graph, states, errors),
            (Some((n, to)), None) if !expires.is_written("from") => check_leading(n, to, graph, states, errors),
            (_, None) => Vec::new(),
        };
        Some(Self { after_ms: after_ms?, to: to?.0, from })
    }
}

fn check_after(expires: &Expires, errors: &mut Errors) -> Option<i64> {
    let Some(after) = &expires.after else {
        if !expires.is_written("after") {
            errors.at(&expires.name, "missing `after` in `expires`; write `after = \"30m\"`");
        }
        return None;
    };
    if after.value() == "forever" {
        errors.at(after, "what expires must end; write a time such as `after = \"30m\"`, or remove `expires`");
        return None;
    }
    match parse_finite(&after.value()) {
        Ok(millis) => i64::try_from(millis).ok(),
        Err(message) => {
            errors.at(after, message);
            None
        }
    }
}

/// Whether a row may go from a state to another without anybody's choice.
fn leads(graph: &Graph<'_>, from: usize, to: usize) -> bool {
    let is_free = |edge: &&super::graph::Edge<'_>| edge.guard.is_none() && !edge.chosen;
    from != to && graph.edges.iter().filter(is_free).any(|edge| edge.from == from && edge.to == to)
}

/// Every state that leads to the target.
fn check_leading(
    to: usize,
    written: &Ident,
    graph: &Graph<'_>,
    states: &States<'_>,
    errors: &mut Errors,
) -> Vec<usize> {
    let from: Vec<_> = (0..states.list.len()).filter(|from| leads(graph, *from, to)).collect();
    if from.is_empty() && graph.clear {
        errors.at(
            written,
            format_args!("no edge leads to `{written}` without a guard or a choice; add one to `transitions`, such as `expire: Created => {written}`"),
        );
    }
    from
}

/// The states that are named, each of which must lead to the target.
fn check_sources(
    to: Option<(usize, &Ident)>,
    written: &[Ident],
    graph: &Graph<'_>,
    states: &States<'_>,
    errors: &mut Errors,
) -> Vec<usize> {
    let mut from = Vec::new();
    for state in written {
        let Some(n) = states.find(state, errors) else { continue };
        if from.contains(&n) {
            errors.at(state, format_args!("state `{state}` is named twice; remove this one"));
            continue;
        }
        if let Some((to, target)) = to
            && graph.clear
            && !leads(graph, n, to)
        {
            errors.at(
                state,
                format_args!("no edge leads from `{state}` to `{target}` without a guard or a choice; add `expire: {state} => {target}` to `transitions`"),
            );
        }
        from.push(n);
    }
    from
}
