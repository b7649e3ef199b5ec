//! The policy: arguments that were checked, with no choice left open.

use proc_macro2::{Ident, TokenStream};
use syn::{Expr, Type};

use super::args::Args;
use super::checks;
use super::in_flight::check_in_flight;
use crate::arguments::check_root;
use crate::errors::Errors;
use crate::function::Function;
use crate::pattern::words;

/// Everything an expansion needs.
pub(crate) struct Policy {
    pub(crate) root: TokenStream,
    pub(crate) kind: Kind,
    /// The operation's own name, if it has one.
    pub(crate) name: Option<String>,
    pub(crate) key: Key,
    pub(crate) ttl: Lifetime,
    pub(crate) scope: Option<Expr>,
    pub(crate) fingerprint: Fingerprint,
    /// How long a repeat waits for the first run to end, in milliseconds.
    pub(crate) wait: Option<u64>,
    pub(crate) lease: Option<Lifetime>,
    /// Whether an abandoned claim is held.
    pub(crate) hold: bool,
    pub(crate) max_attempts: Option<Expr>,
    pub(crate) arguments: Option<Expr>,
    pub(crate) keep: Keep,
    /// The constant that the policy is published in.
    pub(crate) published: Option<Ident>,
    pub(crate) engine: Option<Expr>,
    pub(crate) mode: Mode,
    /// The words of the attribute's expressions: parameters that are used there need no other use.
    pub(crate) used: std::collections::HashSet<String>,
    /// Whether `Self` is named, so that the function must stay where that means something.
    pub(crate) names_self: bool,
}

/// How the function runs.
pub(crate) enum Mode {
    /// In a transaction, on a connection of this type.
    Transactional(Box<Type>),
    Leased,
    /// Under a lease, with recovery points.
    Stepped,
}

pub(crate) enum Kind {
    Http(Framework),
    /// What the function returns.
    Plain(Box<Type>),
}

/// Whose handler it is.
#[derive(Clone)]
pub(crate) enum Framework {
    Axum,
    /// Said with this word.
    Actix(Ident),
}

impl Framework {
    /// axum's, whatever features are on, unless something else is said.
    pub(crate) fn of(args: &Args) -> Self {
        args.actix.clone().map_or(Self::Axum, Self::Actix)
    }
}

pub(crate) enum Key {
    /// A header of this lower-case name.
    Header {
        name: String,
        optional: bool,
    },
    Expression(Expr),
    /// A token, in a header of this lower-case name or in a form.
    Token {
        name: String,
        repeat: Repeat,
    },
}

/// What the second use of a token is answered with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Replay,
    Refuse,
}

pub(crate) enum Lifetime {
    Millis(u64),
    Forever,
    Expression(Expr),
}

pub(crate) enum Fingerprint {
    Bytes,
    Json,
    Nothing,
    Expression(Expr),
}

pub(crate) enum Keep {
    Default,
    Success,
    All,
    By(Expr),
}

impl Policy {
    /// Checks everything, so that one compile shows every mistake.
    pub(crate) fn check(args: &Args, function: &Function, errors: &mut Errors) -> Option<Self> {
        let http = args.is_http();
        let mode = checks::check_mode(function, errors);
        let key = checks::check_key(args, errors);
        let hold = checks::check_on_crash(args, errors);
        checks::check_max_attempts(args, errors);
        let ttl = checks::check_ttl(args, errors);
        let lease = checks::check_lease(args, ttl.as_ref(), errors);
        let fingerprint = checks::check_fingerprint(args, http, errors);
        let wait = check_in_flight(args, ttl.as_ref(), &mode, http, errors);
        let published = checks::check_policy(args, http, errors);
        let keep = checks::check_store(args, http, errors);
        let name = checks::check_name(args, errors);
        let names_self = function.names_self();
        checks::check_scope(args, errors);
        check_root(args.root.as_ref(), errors);
        checks::check_needs_name(args, function, ttl.as_ref(), names_self, errors);
        checks::check_composed(function, errors);
        checks::check_handler(http, function, errors);
        checks::check_leased_only(args, function, errors);
        checks::check_steps_key(key.as_ref(), args, function, errors);
        checks::check_arguments(key.as_ref(), args, errors);
        checks::check_token_name(key.as_ref(), args, function, errors);
        let kind = if http {
            checks::check_owned(function, errors);
            Some(Kind::Http(Framework::of(args)))
        } else {
            checks::check_result(function, errors).map(|result| Kind::Plain(Box::new(result)))
        };
        let mut used = std::collections::HashSet::new();
        for expression in args.expressions() {
            words(quote::ToTokens::to_token_stream(expression), &mut used);
        }
        Some(Self {
            root: args.root(),
            kind: kind?,
            name,
            key: key?,
            ttl: ttl?,
            scope: args.scope.clone(),
            fingerprint: fingerprint?,
            wait,
            lease,
            hold,
            max_attempts: args.max_attempts.clone(),
            arguments: args.arguments.clone(),
            keep: keep?,
            published,
            engine: args.engine.clone(),
            mode,
            used,
            names_self,
        })
    }
}
