//! The arguments of `#[idempotent]` as written.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::{Expr, Lit, LitStr};

use crate::arguments::{Argument, Value, fill, root_of, unknown};
use crate::errors::Errors;

/// What works.
const ACCEPTED: [&str; 16] = [
    "key",
    "ttl",
    "scope",
    "fingerprint",
    "in_flight",
    "lease",
    "on_crash",
    "max_attempts",
    "store",
    "name",
    "arguments",
    "policy",
    "engine",
    "crate",
    "http",
    "actix",
];

/// As written: every argument at most once, its value not yet understood.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) key: Option<Expr>,
    pub(crate) ttl: Option<Expr>,
    pub(crate) scope: Option<Expr>,
    pub(crate) fingerprint: Option<Expr>,
    pub(crate) in_flight: Option<Expr>,
    pub(crate) lease: Option<Expr>,
    pub(crate) on_crash: Option<Expr>,
    pub(crate) max_attempts: Option<Expr>,
    pub(crate) arguments: Option<Expr>,
    pub(crate) store: Option<Expr>,
    pub(crate) name: Option<Expr>,
    pub(crate) policy: Option<Expr>,
    pub(crate) engine: Option<Expr>,
    pub(crate) root: Option<Expr>,
    pub(crate) http: Option<Ident>,
    pub(crate) actix: Option<Ident>,
    /// Every name that stands there, with or without a value that can be used.
    written: Vec<String>,
}

impl Args {
    pub(crate) fn parse(arguments: Vec<Argument>, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        for Argument { name, value } in arguments {
            let word = name.unraw().to_string();
            args.written.push(word.clone());
            let flag = match word.as_str() {
                "http" => Some(&mut args.http),
                "actix" => Some(&mut args.actix),
                _ => None,
            };
            if let Some(flag) = flag {
                raise(flag, &word, name, value, errors);
                continue;
            }
            let slot = match word.as_str() {
                "key" => &mut args.key,
                "ttl" => &mut args.ttl,
                "scope" => &mut args.scope,
                "fingerprint" => &mut args.fingerprint,
                "in_flight" => &mut args.in_flight,
                "lease" => &mut args.lease,
                "on_crash" => &mut args.on_crash,
                "max_attempts" => &mut args.max_attempts,
                "arguments" => &mut args.arguments,
                "store" => &mut args.store,
                "name" => &mut args.name,
                "policy" => &mut args.policy,
                "engine" => &mut args.engine,
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

    /// Whether the function is an HTTP handler: said with `http` or `actix`, or by where its key comes from.
    pub(crate) fn is_http(&self) -> bool {
        self.http.is_some()
            || self.actix.is_some()
            || self.key.as_ref().is_some_and(|key| matches!(word_of(key).as_deref(), Some("header" | "token")))
    }

    /// The path of the runtime.
    pub(crate) fn root(&self) -> TokenStream {
        root_of(self.root.as_ref())
    }

    /// The constant that the policy is published in.
    pub(crate) fn published(&self) -> Option<&Ident> {
        match &self.policy {
            Some(Expr::Path(path)) => path.path.get_ident(),
            Some(_) | None => None,
        }
    }

    /// Every expression over the parameters.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let Self { key, ttl, scope, fingerprint, lease, max_attempts, arguments, engine, .. } = self;
        [key, ttl, scope, fingerprint, lease, max_attempts, arguments, engine].into_iter().flatten()
    }
}

/// Raises a flag, which has no value and stands there once.
fn raise(flag: &mut Option<Ident>, word: &str, name: Ident, value: Value, errors: &mut Errors) {
    match (&flag, value) {
        (Some(_), _) => errors.at(name, format_args!("duplicate argument `{word}`; remove this one")),
        (None, Value::Expr(value)) => {
            errors.at(value, format_args!("argument `{word}` takes no value; write `{word}`"));
        }
        (None, Value::Broken) => {}
        (None, Value::Flag) => *flag = Some(name),
    }
}

/// `word` or `word(…)`: how the attribute's own words look as expressions.
pub(crate) fn word_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(|ident| ident.unraw().to_string()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.get_ident().map(|ident| ident.unraw().to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// A string literal.
pub(crate) fn text_of(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
