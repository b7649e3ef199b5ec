//! `name = value` lists, as they stand in an attribute.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, Token};

use crate::errors::Errors;

/// One argument as written.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    /// Nothing stood after the name.
    Flag,
    Expr(Expr),
    /// What stood there is no expression; that was said already.
    Broken,
}

/// Reads every argument that can be read; one that cannot does not hide the next.
pub(crate) fn parse_arguments(tokens: TokenStream, errors: &mut Errors) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let parser = |input: ParseStream<'_>| {
        arguments = parse_list(input, errors, |input, errors| {
            let name = Ident::parse_any(input)?;
            match parse_value(&name, input) {
                Ok(value) => Ok(Argument { name, value }),
                Err(error) => {
                    errors.push(error);
                    skip_to_comma(input);
                    Ok(Argument { name, value: Value::Broken })
                }
            }
        });
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error);
    }
    arguments
}

/// Reads a list with commas to its end; an item that cannot be read does not hide the next.
pub(crate) fn parse_list<T>(
    input: ParseStream<'_>,
    errors: &mut Errors,
    mut item: impl FnMut(ParseStream<'_>, &mut Errors) -> syn::Result<T>,
) -> Vec<T> {
    let mut items = Vec::new();
    while !input.is_empty() {
        let read = item(input, errors).and_then(|item| {
            items.push(item);
            if input.is_empty() { Ok(None) } else { input.parse::<Token![,]>().map(Some) }
        });
        if let Err(error) = read {
            errors.push(error);
            skip_to_comma(input);
            errors.ok(input.parse::<Option<Token![,]>>());
        }
    }
    items
}

fn parse_value(name: &Ident, input: ParseStream<'_>) -> syn::Result<Value> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(Value::Flag);
    }
    parse_equals(name, input)?;
    // The name of an event may be a keyword.
    if name == "event" && input.peek(Ident::peek_any) {
        let event = Ident::parse_any(input)?;
        return Ok(Value::Expr(Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: event.into() })));
    }
    input.parse().map(Value::Expr)
}

/// Puts the value of an argument in its place, which may be taken, or says what is wrong.
pub(crate) fn fill(slot: &mut Option<Expr>, word: &str, name: Ident, value: Value, errors: &mut Errors) {
    match (slot, value) {
        (Some(_), _) => errors.at(name, format_args!("duplicate argument `{word}`; remove this one")),
        (None, Value::Flag) => errors.at(name, format_args!("argument `{word}` needs a value; write `{word} = …`")),
        (None, Value::Broken) => {}
        (slot, Value::Expr(value)) => *slot = Some(value),
    }
}

/// The path of the runtime that expansions name.
pub(crate) fn root_of(root: Option<&Expr>) -> TokenStream {
    match root {
        Some(Expr::Path(root)) => root.to_token_stream(),
        Some(_) | None => quote!(::idempotent_runtime),
    }
}

/// Refuses what is no path of a runtime.
pub(crate) fn check_root(root: Option<&Expr>, errors: &mut Errors) {
    if let Some(root) = root
        && !matches!(root, Expr::Path(_))
    {
        errors.at(root, "`crate` must be a path; write it as `crate = ::my_reexports::idempotent_runtime`");
    }
}

/// The `=` after the name of an argument, and that something stands behind it.
pub(crate) fn parse_equals(name: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    let equals: Token![=] = input.parse().map_err(|error| {
        syn::Error::new(error.span(), format!("argument `{name}` needs a value; write `{name} = …`"))
    })?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(equals, format!("argument `{name}` has no value; write one after `=`")));
    }
    Ok(())
}

/// Passes over what could not be read.
pub(crate) fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) && input.parse::<proc_macro2::TokenTree>().is_ok() {}
}

/// Says what is accepted in place of an unknown word.
pub(crate) fn unknown(what: &str, found: &str, accepted: &[&str]) -> String {
    let near = accepted.iter().find(|word| is_near(found, word));
    let list = accepted.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match near {
        Some(word) => format!("unknown {what} `{found}`; did you mean `{word}`? (expected one of {list})"),
        None => format!("unknown {what} `{found}`; expected one of {list}"),
    }
}

/// Two slips of the finger at most, fewer in a short word (Levenshtein's distance).
pub(crate) fn is_near(found: &str, word: &str) -> bool {
    let word: Vec<char> = word.chars().collect();
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (i, typed) in found.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, wanted) in word.iter().enumerate() {
            let replaced = before + usize::from(typed != *wanted);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[word.len()] <= if word.len() > 4 { 2 } else { 1 }
}

/// The span of an attribute's own name, for what is missing from it.
pub(crate) fn attribute_span() -> Span {
    Span::call_site()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        for (typed, meant) in [("kee", "key"), ("tll", "ttl"), ("fingerpint", "fingerprint"), ("leese", "lease")] {
            assert!(
                unknown("argument", typed, &["key", "ttl", "fingerprint", "lease"])
                    .contains(&format!("did you mean `{meant}`"))
            );
        }
        assert!(!unknown("argument", "colour", &["key", "ttl"]).contains("did you mean"));
    }

    #[test]
    fn a_broken_argument_does_not_hide_the_next() {
        let mut errors = Errors::default();
        let tokens = "key = , ttl = \"1h\", scope user.id, lease = \"1s\"".parse().unwrap();
        let names: Vec<_> = parse_arguments(tokens, &mut errors).iter().map(|a| a.name.to_string()).collect();
        assert_eq!(names, ["key", "ttl", "scope", "lease"]);
        assert_eq!(errors.to_token_stream().to_string().matches("compile_error").count(), 2);
    }
}
