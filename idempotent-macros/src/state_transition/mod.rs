//! `#[state_transition(…)]`: parse → check → expand.

mod args;
mod checks;
mod expand;
mod policy;

use proc_macro2::TokenStream;
use quote::quote;

use crate::arguments::parse_arguments;
use crate::errors::Errors;
use crate::function::{Function, not_a_function};
use args::Args;
use policy::Policy;

/// Expands the attribute, or shows every mistake and keeps the function.
pub(crate) fn attribute(arguments: TokenStream, item: &TokenStream) -> TokenStream {
    let mut function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = not_a_function(error, item, "`#[state_transition]` goes on a function; move it to the function that does the work of the transition").to_compile_error();
            return quote!(#error #item);
        }
    };
    let mut errors = Errors::default();
    let args = Args::parse(parse_arguments(arguments, &mut errors), &mut errors);
    function.check_wrappable(&mut errors);
    match Policy::check(&args, &function, &mut errors) {
        Some(policy) if errors.is_empty() => expand::expand(&policy, &function),
        _ => {
            // Above or below, it would have mistakes of its own to show.
            function.attributes.retain(|attribute| !attribute.path().is_ident("idempotent"));
            let function = function.without_attribute();
            quote!(#errors #function)
        }
    }
}
