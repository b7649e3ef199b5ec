//! The arguments of `#[state_transition]` as written.

use proc_macro2::TokenStream;
use syn::Expr;
use syn::ext::IdentExt;

use crate::arguments::{Argument, fill, root_of, unknown};
use crate::errors::Errors;

const ACCEPTED: [&str; 11] =
    ["machine", "event", "from", "to", "guard", "outcome", "via", "failure", "when", "reclaim", "crate"];

/// As written: every argument at most once, its value not yet understood.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) machine: Option<Expr>,
    pub(crate) event: Option<Expr>,
    pub(crate) from: Option<Expr>,
    pub(crate) to: Option<Expr>,
    pub(crate) guard: Option<Expr>,
    pub(crate) outcome: Option<Expr>,
    pub(crate) via: Option<Expr>,
    pub(crate) failure: Option<Expr>,
    pub(crate) when: Option<Expr>,
    pub(crate) reclaim: Option<Expr>,
    pub(crate) root: Option<Expr>,
    /// Every name that stands there, with or without a value that can be used.
    written: Vec<String>,
}

impl Args {
    pub(crate) fn parse(arguments: Vec<Argument>, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        for Argument { name, value } in arguments {
            let word = name.unraw().to_string();
            args.written.push(word.clone());
            let slot = match word.as_str() {
                "machine" => &mut args.machine,
                "event" => &mut args.event,
                "from" => &mut args.from,
                "to" => &mut args.to,
                "guard" => &mut args.guard,
                "outcome" => &mut args.outcome,
                "via" => &mut args.via,
                "failure" => &mut args.failure,
                "when" => &mut args.when,
                "reclaim" => &mut args.reclaim,
                "crate" => &mut args.root,
                other => {
                    errors.at(&name, unknown("argument", other, &ACCEPTED));
                    continue;
                }
            };
            fill(slot, &word, name, value, errors);
        }
        args
    }

    /// Whether an argument stands there at all.
    pub(crate) fn is_written(&self, name: &str) -> bool {
        self.written.iter().any(|written| written == name)
    }

    /// The path of the runtime.
    pub(crate) fn root(&self) -> TokenStream {
        root_of(self.root.as_ref())
    }

    /// The expression over the parameters.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.guard.iter()
    }
}
