//! Variants, and their `#[state(…)]`.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Fields, LitStr, Token};

use crate::arguments::{parse_equals, parse_list, unknown};
use crate::errors::Errors;

const ACCEPTED: [&str; 6] = ["name", "alias", "initial", "terminal", "external", "other"];

/// A variant as written.
pub(super) struct Variant {
    pub(super) ident: Ident,
    pub(super) fields: Fields,
    pub(super) name: Option<LitStr>,
    pub(super) aliases: Vec<LitStr>,
    marks: Vec<(Mark, Ident)>,
    /// Whether something in its `#[state(…)]` could not be read.
    pub(super) broken: bool,
}

/// A word of `#[state(…)]` that has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Initial,
    Terminal,
    /// Entered from outside of the graph.
    External,
    /// What names are read as that the graph does not have.
    Other,
}

impl Variant {
    pub(super) fn parse(variant: syn::Variant, errors: &mut Errors) -> Self {
        let syn::Variant { attrs, ident, fields, .. } = variant;
        let before = errors.count();
        let mut parsed = Self { ident, fields, name: None, aliases: Vec::new(), marks: Vec::new(), broken: false };
        for attribute in attrs {
            if attribute.path().is_ident("state_machine") {
                errors.at(attribute.path(), "`#[state_machine(…)]` goes on the enum; write `#[state(…)]` on a variant");
            }
            if !attribute.path().is_ident("state") {
                continue;
            }
            let list = |input: ParseStream<'_>| {
                parse_list(input, errors, |input, _| parsed.parse_argument(input));
                Ok(())
            };
            if let Err(error) = attribute.parse_args_with(list) {
                errors.push(error);
            }
        }
        parsed.broken = errors.count() > before;
        parsed
    }

    fn parse_argument(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let name = Ident::parse_any(input)?;
        let word = name.unraw().to_string();
        let mark = match word.as_str() {
            "name" if self.name.is_some() => return Err(duplicate(&name)),
            "name" => {
                self.name = Some(parse_text(&name, input)?);
                return Ok(());
            }
            "alias" => {
                self.aliases.push(parse_text(&name, input)?);
                return Ok(());
            }
            "initial" => Mark::Initial,
            "terminal" => Mark::Terminal,
            "external" => Mark::External,
            "other" => Mark::Other,
            other => return Err(syn::Error::new_spanned(&name, unknown("argument", other, &ACCEPTED))),
        };
        if input.peek(Token![=]) {
            return Err(input.error(format!("argument `{word}` takes no value; write `{word}`")));
        }
        if self.mark(mark).is_some() {
            return Err(duplicate(&name));
        }
        self.marks.push((mark, name));
        Ok(())
    }

    /// Where a mark stands.
    pub(super) fn mark(&self, mark: Mark) -> Option<&Ident> {
        self.marks.iter().find(|(written, _)| *written == mark).map(|(_, at)| at)
    }

    pub(super) fn marks(&self) -> impl Iterator<Item = (Mark, &Ident)> {
        self.marks.iter().map(|(mark, at)| (*mark, at))
    }
}

fn duplicate(name: &Ident) -> syn::Error {
    syn::Error::new_spanned(name, format!("duplicate argument `{name}`; remove this one"))
}

fn parse_text(name: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    parse_equals(name, input)?;
    input.parse().map_err(|error| {
        syn::Error::new(
            error.span(),
            format!("`{name}` must be a string, as the column holds it; write `{name} = \"…\"`"),
        )
    })
}
