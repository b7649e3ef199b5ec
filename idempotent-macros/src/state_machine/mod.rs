//! `#[derive(StateMachine)]`: parse → check → expand.

mod args;
mod checks;
mod columns;
mod events;
mod expand;
mod expiry;
mod functions;
mod graph;
mod machine;
mod names;
mod states;
mod transitions;
mod variants;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Generics, Ident};

use crate::errors::Errors;
use args::Args;
use machine::Machine;
use variants::Variant;

/// Expands the derive; with mistakes shows every one of them, and a machine without a graph.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let input = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let DeriveInput { attrs, vis, ident, generics, data } = input;
    let mut errors = Errors::default();
    let Data::Enum(data) = data else {
        let keyword = match data {
            Data::Struct(data) => data.struct_token.to_token_stream(),
            Data::Union(data) => data.union_token.to_token_stream(),
            Data::Enum(data) => data.enum_token.to_token_stream(),
        };
        errors.at(
            keyword,
            format_args!("`#[derive(StateMachine)]` goes on an enum whose variants are the states; write `enum {ident} {{ Created, Paid }}`"),
        );
        return errors.to_token_stream();
    };
    if data.variants.is_empty() {
        errors.at(&ident, format_args!("enum `{ident}` has no states; write a variant for each"));
        return errors.to_token_stream();
    }
    check_generics(&ident, &generics, &mut errors);
    // Without the generics of its enum nothing can be implemented, not even for show.
    let has_shape = errors.is_empty();
    let args = Args::parse(&attrs, &mut errors);
    let variants: Vec<_> = data.variants.into_iter().map(|variant| Variant::parse(variant, &mut errors)).collect();
    let machine = Machine::check(&vis, &ident, &args, &variants, &mut errors);
    let expanded = has_shape.then(|| expand::expand(&machine));
    quote!(#errors #expanded)
}

fn check_generics(ident: &Ident, generics: &Generics, errors: &mut Errors) {
    if !generics.params.is_empty() {
        errors.at(
            generics,
            format_args!("enum `{ident}` must not be generic, because a column holds the names of its states and nothing else; write `enum {ident}`"),
        );
    }
    if let Some(clause) = &generics.where_clause {
        errors.at(clause, format_args!("enum `{ident}` must have no `where` clause; remove it"));
    }
}
