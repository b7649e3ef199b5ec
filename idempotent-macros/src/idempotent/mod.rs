//! `#[idempotent(…)]`: parse → check → expand.

pub(crate) mod args;
mod checks;
mod expand;
mod policy;

use proc_macro2::TokenStream;
use quote::quote;

use crate::arguments::parse_arguments;
use crate::errors::Errors;
use crate::function::{Function, not_a_function};
use args::Args;
use policy::{Framework, Policy};

/// Expands the attribute, or shows every mistake and keeps the function.
pub(crate) fn attribute(arguments: TokenStream, item: &TokenStream) -> TokenStream {
    let function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = not_a_function(
                error,
                item,
                "`#[idempotent]` goes on an async fn; move it to the handler, consumer or job",
            )
            .to_compile_error();
            return quote!(#error #item);
        }
    };
    let mut errors = Errors::default();
    let args = Args::parse(parse_arguments(arguments, &mut errors), &mut errors);
    let wrappable = function.check_wrappable(&mut errors);
    let policy = Policy::check(&args, &function, &mut errors);
    match policy {
        Some(policy) if errors.is_empty() => expand::expand(&policy, &function),
        _ if wrappable && args.is_http() => {
            let shape = expand::shape_of_handler(&args.root(), &Framework::of(&args), &function);
            quote!(#errors #shape)
        }
        _ => {
            let function = function.without_attribute();
            quote!(#errors #function)
        }
    }
}
