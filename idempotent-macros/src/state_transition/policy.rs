//! The policy: arguments that were checked, with no choice left open.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Expr, Path, Type};

use super::args::Args;
use super::checks;
use crate::arguments::check_root;
use crate::errors::Errors;
use crate::function::{Function, MarkerKind};
use crate::pattern::words;

/// Everything an expansion needs.
pub(crate) struct Policy {
    pub(crate) root: TokenStream,
    pub(crate) machine: Path,
    pub(crate) way: Way,
    pub(crate) guard: Option<Expr>,
    pub(crate) outcome: Option<Expr>,
    /// The type of the connection.
    pub(crate) connection: Type,
    /// What the function returns.
    pub(crate) result: Type,
    pub(crate) id: Ident,
    /// Each with the marker at which its need is shown.
    pub(crate) notes: Vec<Noted>,
    /// The words of the attribute's expressions: parameters that are used there need no other use.
    pub(crate) used: HashSet<String>,
}

/// A marked parameter.
pub(crate) struct Noted {
    pub(crate) kind: MarkerKind,
    pub(crate) name: Ident,
    pub(crate) marker: syn::Attribute,
}

/// Which edges may be taken.
pub(crate) enum Way {
    Event(Ident),
    Edges {
        from: Sources,
        to: Vec<Ident>,
    },
    /// Through a state that is committed before the body runs.
    Via(Box<Via>),
}

/// A way through a state that is committed before the body runs.
pub(crate) struct Via {
    pub(crate) from: Sources,
    pub(crate) between: Ident,
    pub(crate) to: Vec<Ident>,
    /// Where a failure leads, and which errors are one.
    pub(crate) failure: Option<(Ident, Expr)>,
    pub(crate) reclaim_ms: u64,
}

/// The states that may be left.
pub(crate) enum Sources {
    Any,
    Of(Vec<Ident>),
    Except(Vec<Ident>),
}

impl Sources {
    /// The states that are named.
    pub(crate) fn named(&self) -> &[Ident] {
        match self {
            Self::Any => &[],
            Self::Of(states) | Self::Except(states) => states,
        }
    }
}

impl Policy {
    /// Checks everything, so that one compile shows every mistake.
    pub(crate) fn check(args: &Args, function: &Function, errors: &mut Errors) -> Option<Self> {
        checks::check_order(function, errors);
        let machine = checks::check_machine(args, errors);
        checks::check_key(args, function, errors);
        let way = checks::check_way(args, errors);
        let connection = checks::check_connection(function, errors);
        let result = checks::check_result(function, errors);
        let id = checks::check_id(function, errors);
        let notes = checks::check_notes(function, errors);
        check_root(args.root.as_ref(), errors);
        checks::check_plain_guard(args, errors);
        let mut used = HashSet::new();
        for expression in args.expressions() {
            words(expression.to_token_stream(), &mut used);
        }
        used.extend(id.iter().map(ToString::to_string));
        used.extend(notes.iter().map(|note| note.name.to_string()));
        Some(Self {
            root: args.root(),
            machine: machine?,
            way: way?,
            guard: args.guard.clone(),
            outcome: args.outcome.clone(),
            connection: connection?,
            result: result?,
            id: id?,
            notes,
            used,
        })
    }
}
