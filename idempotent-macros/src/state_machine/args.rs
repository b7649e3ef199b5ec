//! The arguments of `#[state_machine(…)]` as written.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr, Meta, Path, Token, Type, parenthesized, token};

use super::expiry::Expires;
use super::transitions::{Declaration, parse_states};
use crate::arguments::{attribute_span, is_near, parse_equals, parse_list, unknown};
use crate::errors::Errors;

const ACCEPTED: [&str; 15] = [
    "table",
    "column",
    "id",
    "history",
    "history_id",
    "version",
    "entered",
    "key",
    "row",
    "rename_all",
    "initial",
    "terminal",
    "expires",
    "transitions",
    "crate",
];

pub(super) const STATES: &str = "a state, or several as in `Created | Paid`";

/// As written: every argument at most once.
#[derive(Default)]
pub(super) struct Args {
    /// The name of the attribute, if there is one.
    at: Option<Span>,
    pub(super) table: Option<Path>,
    pub(super) column: Option<Ident>,
    pub(super) id: Option<Ident>,
    pub(super) history: Option<Path>,
    pub(super) history_id: Option<Ident>,
    pub(super) version: Option<Ident>,
    pub(super) entered: Option<Ident>,
    pub(super) key: Option<Ident>,
    pub(super) row: Option<Type>,
    pub(super) rename_all: Option<LitStr>,
    pub(super) initial: Vec<Ident>,
    pub(super) terminal: Vec<Ident>,
    pub(super) expires: Option<Expires>,
    pub(super) transitions: Vec<Declaration>,
    root: Option<Path>,
    /// Every name that stands there, with or without a value that can be used.
    written: Vec<String>,
    /// The names of those that could not be read in full.
    broken: Vec<String>,
}

impl Args {
    pub(super) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut args = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("state") {
                errors.at(attribute.path(), "`#[state(…)]` goes on a variant; write `#[state_machine(…)]` on the enum");
            }
            if !attribute.path().is_ident("state_machine") {
                continue;
            }
            args.at = args.at.or_else(|| Some(attribute.path().span()));
            let list = |input: ParseStream<'_>| {
                parse_list(input, errors, |input, errors| args.parse_argument(input, errors));
                Ok(())
            };
            if !matches!(attribute.meta, Meta::Path(_))
                && let Err(error) = attribute.parse_args_with(list)
            {
                errors.push(error);
            }
        }
        args
    }

    fn parse_argument(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let name = once(&mut self.written, input)?;
        let word = name.unraw().to_string();
        let before = errors.count();
        self.broken.push(word.clone());
        let table = || {
            parse_value(
                &name,
                input,
                Path::parse_mod_style,
                "the path of a diesel table, such as `crate::schema::orders`",
            )
        };
        let column = || parse_value(&name, input, Ident::parse, "the name of a column, without a path");
        match word.as_str() {
            "table" => self.table = Some(table()?),
            "history" => self.history = Some(table()?),
            "column" => self.column = Some(column()?),
            "id" => self.id = Some(column()?),
            "history_id" => self.history_id = Some(column()?),
            "version" => self.version = Some(column()?),
            "entered" => self.entered = Some(column()?),
            "key" => self.key = Some(column()?),
            "row" => self.row = Some(parse_value(&name, input, Type::parse, "the type that guards look at")?),
            "rename_all" => {
                let text = parse_value(&name, input, <LitStr as Parse>::parse, "a string, such as `\"snake_case\"`")?;
                self.rename_all = Some(text);
            }
            "initial" => self.initial = parse_value(&name, input, parse_states, STATES)?,
            "terminal" => self.terminal = parse_value(&name, input, parse_states, STATES)?,
            "expires" => self.expires = Some(Expires::parse(name, input, errors)?),
            "transitions" => {
                self.transitions = parse_group(&name, input, errors, "pay: Created => Paid, …", Declaration::parse)?;
                if self.transitions.is_empty() && errors.count() == before {
                    errors.at(&name, "`transitions` has no edge; write `transitions(pay: Created => Paid, …)`");
                }
            }
            "crate" => {
                let what = "the path of the runtime, such as `::my_reexports::idempotent_runtime`";
                self.root = Some(parse_value(&name, input, Path::parse_mod_style, what)?);
            }
            other => return Err(syn::Error::new_spanned(&name, unknown("argument", other, &ACCEPTED))),
        }
        if errors.count() == before {
            self.broken.pop();
        }
        Ok(())
    }

    /// Where what is missing is shown: at the attribute, or at the derive if there is none.
    pub(super) fn span(&self) -> Span {
        self.at.unwrap_or_else(attribute_span)
    }

    pub(super) fn has_attribute(&self) -> bool {
        self.at.is_some()
    }

    /// Whether an argument stands there, if only with a slip of the finger in its name.
    pub(super) fn is_meant(&self, name: &str) -> bool {
        let is_unknown = |written: &str| !ACCEPTED.contains(&written);
        self.written.iter().any(|written| written == name || is_unknown(written) && is_near(written, name))
    }

    /// Whether an argument stands there, and something in it could not be read.
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.broken.iter().any(|broken| broken == name)
    }

    /// The path of what expansions call.
    pub(super) fn private(&self) -> TokenStream {
        match &self.root {
            Some(root) => quote!(#root::__private),
            None => quote!(::idempotent_runtime::__private),
        }
    }
}

/// A name that did not stand there before.
pub(super) fn once(written: &mut Vec<String>, input: ParseStream<'_>) -> syn::Result<Ident> {
    let name = Ident::parse_any(input)?;
    let word = name.unraw().to_string();
    if written.contains(&word) {
        return Err(syn::Error::new_spanned(name, format!("duplicate argument `{word}`; remove this one")));
    }
    written.push(word);
    Ok(name)
}

/// `= value`, with a comma or nothing behind it.
pub(super) fn parse_value<T>(
    name: &Ident,
    input: ParseStream<'_>,
    value: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
    what: &str,
) -> syn::Result<T> {
    parse_equals(name, input)?;
    let start = input.cursor().span();
    let parsed = value(input);
    match parsed {
        Ok(value) if input.is_empty() || input.peek(Token![,]) => Ok(value),
        Ok(_) | Err(_) => Err(syn::Error::new(start, format!("`{name}` must be {what}"))),
    }
}

/// `(item, item)`
pub(super) fn parse_group<T>(
    name: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
    example: &str,
    item: impl FnMut(ParseStream<'_>, &mut Errors) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    if !input.peek(token::Paren) {
        return Err(syn::Error::new_spanned(
            name,
            format!("`{name}` is a list in parentheses; write `{name}({example})`"),
        ));
    }
    let content;
    parenthesized!(content in input);
    Ok(parse_list(&content, errors, item))
}
