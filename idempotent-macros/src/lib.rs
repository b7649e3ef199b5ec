//! The attribute macros of `idempotent-runtime`, which documents and re-exports them.

use proc_macro::TokenStream;

mod arguments;
mod duration;
mod errors;
mod function;
mod idempotent;
mod pattern;
#[cfg(test)]
mod snapshots;

/// Makes retries of a function harmless. Documented where it is re-exported: `idempotent_runtime::idempotent`.
#[proc_macro_attribute]
pub fn idempotent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    idempotent::attribute(arguments.into(), &item.into()).into()
}
