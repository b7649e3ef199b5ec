//! The states: how each is stored, and what was said of it.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Fields, LitStr, Type};

use super::args::Args;
use super::names::Case;
use super::transitions::joined;
use super::variants::{Mark, Variant};
use crate::arguments::unknown;
use crate::errors::Errors;

pub(super) struct States<'v> {
    /// In the order of the enum.
    pub(super) list: Vec<State<'v>>,
    /// The variant for names that are not known, and the type of its field.
    pub(super) other: Option<(&'v Ident, &'v Type)>,
    /// The variants that are marked so, rightly or not.
    unknown: Vec<&'v Ident>,
    /// Whether all that was said of them is understood.
    pub(super) clear: bool,
}

pub(super) struct State<'v> {
    pub(super) variant: &'v Variant,
    pub(super) name: String,
    pub(super) initial: bool,
    pub(super) terminal: bool,
}

impl State<'_> {
    /// Whether it is entered from outside of the graph.
    pub(super) fn is_external(&self) -> bool {
        self.variant.mark(Mark::External).is_some()
    }

    /// Whether it is a value without further ado.
    pub(super) fn is_unit(&self) -> bool {
        matches!(self.variant.fields, Fields::Unit)
    }
}

impl<'v> States<'v> {
    pub(super) fn check(variants: &'v [Variant], args: &Args, errors: &mut Errors) -> Self {
        let case = args
            .rename_all
            .as_ref()
            .map_or(Ok(Case::default()), |text| Case::parse(&text.value()).map_err(|message| errors.at(text, message)));
        let is_other = |variant: &&Variant| variant.mark(Mark::Other).is_some();
        let stored = |variant: &Variant| match &variant.name {
            Some(name) => name.value(),
            None => case.unwrap_or_default().apply(&variant.ident.unraw().to_string()),
        };
        let list = variants.iter().filter(|variant| !is_other(variant)).map(|variant| State {
            variant,
            name: stored(variant),
            initial: variant.mark(Mark::Initial).is_some(),
            terminal: variant.mark(Mark::Terminal).is_some(),
        });
        let mut states = Self {
            list: list.collect(),
            other: check_other(variants.iter().filter(is_other), errors),
            unknown: variants.iter().filter(is_other).map(|variant| &variant.ident).collect(),
            clear: !args.is_broken("initial") && variants.iter().all(|variant| !variant.broken),
        };
        states.check_fields(errors);
        if case.is_ok() {
            states.check_names(errors);
        }
        for n in states.resolve(&args.initial, errors) {
            states.list[n].initial = true;
        }
        states.check_initial(args, errors);
        for n in states.resolve(&args.terminal, errors) {
            states.list[n].terminal = true;
        }
        states
    }

    /// The state that is meant by what was written.
    pub(super) fn find(&self, written: &Ident, errors: &mut Errors) -> Option<usize> {
        let word = written.unraw().to_string();
        let found = self.list.iter().position(|state| state.variant.ident.unraw() == word);
        if found.is_none() {
            errors.at(written, self.not_found(&word));
        }
        found
    }

    fn not_found(&self, word: &str) -> String {
        if self.unknown.iter().any(|variant| **variant == word) {
            return format!(
                "`{word}` is no state of the graph, because it is what every unknown name is read as; remove it"
            );
        }
        if word == "any" {
            return "`any` stands alone, because it is every state; write `any => …`".to_owned();
        }
        let states: Vec<_> = self.list.iter().map(|state| state.variant.ident.unraw().to_string()).collect();
        unknown("state", word, &states.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The variant of a state.
    pub(super) fn ident(&self, state: usize) -> &'v Ident {
        &self.list[state].variant.ident
    }

    /// `A | B`, each of them once.
    fn resolve(&mut self, written: &[Ident], errors: &mut Errors) -> Vec<usize> {
        let mut found = Vec::new();
        for state in written {
            match self.find(state, errors) {
                Some(n) if found.contains(&n) => {
                    errors.at(state, format_args!("state `{state}` is named twice; remove this one"));
                }
                Some(n) => found.push(n),
                None => self.clear = false,
            }
        }
        found
    }

    fn check_initial(&mut self, args: &Args, errors: &mut Errors) {
        if self.list.iter().any(|state| state.initial) {
            return;
        }
        if self.clear && !args.is_meant("initial") && args.has_attribute() {
            let first = self.list.first().map_or_else(|| "Created".to_owned(), |state| state.variant.ident.to_string());
            errors.push(syn::Error::new(
                args.span(),
                format!("missing `initial` argument; write `initial = {first}`, or `#[state(initial)]` on a variant"),
            ));
        }
        self.clear = false;
    }

    fn check_fields(&self, errors: &mut Errors) {
        for Variant { ident, fields, .. } in self.list.iter().map(|state| state.variant) {
            if !matches!(fields, Fields::Unit) {
                errors.at(
                    fields,
                    format_args!("state `{ident}` must have no fields, because a column holds its name and nothing else; write `{ident}`, and keep the rest in columns of its own, or mark it `#[state(other)]` if it is for unknown names"),
                );
            }
        }
    }

    /// No two states may be stored, or read, by one name.
    fn check_names(&self, errors: &mut Errors) {
        let mut taken: Vec<(String, &Ident)> = Vec::new();
        for State { variant, name, .. } in &self.list {
            let Variant { ident, name: written, aliases, .. } = variant;
            let at = written.as_ref().map_or_else(|| ident.to_token_stream(), LitStr::to_token_stream);
            let is_name = check_length(&at, name, errors);
            if let Some((_, first)) = taken.iter().find(|(text, _)| is_name && text == name) {
                errors.at(
                    at,
                    format_args!("state `{ident}` is stored as `{name}`, which is a name of `{first}` already; write another `#[state(name = \"…\")]`"),
                );
            }
            taken.push((name.clone(), ident));
            for alias in aliases {
                let text = alias.value();
                let is_name = check_length(alias, &text, errors);
                if let Some((_, first)) = taken.iter().find(|(taken, _)| is_name && *taken == text) {
                    errors.at(alias, format_args!("`{text}` is a name of `{first}` already; remove this alias"));
                }
                taken.push((text, ident));
            }
        }
    }
}

/// Whether it is a name that a column can hold.
fn check_length(at: impl ToTokens, name: &str, errors: &mut Errors) -> bool {
    if name.is_empty() {
        errors.at(at, "a state cannot be stored as nothing; write a name of at least one letter");
    } else if name.len() > 255 {
        errors.at(at, "the stored name of a state has more than 255 bytes; write a shorter `#[state(name = \"…\")]`");
    }
    (1..=255).contains(&name.len())
}

/// The one variant with one field for the name.
fn check_other<'v>(
    mut marked: impl Iterator<Item = &'v Variant>,
    errors: &mut Errors,
) -> Option<(&'v Ident, &'v Type)> {
    let first = marked.next()?;
    for second in marked {
        errors.at(second.mark(Mark::Other), "a second `#[state(other)]`; remove this one");
    }
    let Variant { ident, fields, name, aliases, .. } = first;
    let of_a_state = first.marks().filter(|(mark, _)| *mark != Mark::Other).map(|(_, at)| at.to_token_stream());
    let texts = name.iter().chain(aliases).map(LitStr::to_token_stream);
    let said: Vec<_> = of_a_state.chain(texts).collect();
    for at in &said {
        errors.at(
            at,
            format_args!("`{ident}` is no state of the graph, because it is what every unknown name is read as; write `#[state(other)]` alone"),
        );
    }
    match fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Some((ident, &fields.unnamed[0].ty)),
        Fields::Unit => {
            errors.at(
                ident,
                format_args!("`{ident}` must have a field for the name that is stored; write `{ident}(String)`"),
            );
            None
        }
        fields => {
            errors.at(
                fields,
                format_args!("`{ident}` must have one field, for the name that is stored; write `{ident}(String)`"),
            );
            None
        }
    }
}

/// The variants, as they are listed in a message.
pub(super) fn listed<'v>(states: impl IntoIterator<Item = &'v Ident>) -> String {
    joined(states.into_iter().map(|state| format!("`{state}`")), ", ")
}
