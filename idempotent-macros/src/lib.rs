//! The attribute macros of `idempotent-runtime`, which documents and re-exports them.

use proc_macro::TokenStream;

mod arguments;
mod duration;
mod errors;
mod function;
mod idempotent;
mod nested;
mod pattern;
#[cfg(test)]
mod snapshots;
mod state_machine;
mod state_transition;

/// Makes retries of a function harmless. Documented where it is re-exported: `idempotent_runtime::idempotent`.
#[proc_macro_attribute]
pub fn idempotent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    idempotent::attribute(arguments.into(), &item.into()).into()
}

/// A state machine that is kept in a column. Documented where it is re-exported: `idempotent_runtime::StateMachine`.
#[proc_macro_derive(StateMachine, attributes(state_machine, state))]
pub fn state_machine(item: TokenStream) -> TokenStream {
    state_machine::derive(item.into()).into()
}

/// A guarded update of a state machine. Documented where it is re-exported: `idempotent_runtime::state_transition`.
#[proc_macro_attribute]
pub fn state_transition(arguments: TokenStream, item: TokenStream) -> TokenStream {
    state_transition::attribute(arguments.into(), &item.into()).into()
}
