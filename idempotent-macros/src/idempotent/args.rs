//! The arguments of `#[idempotent]` as written.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, Lit, LitStr};

use crate::arguments::{Argument, unknown};
use crate::errors::Errors;

/// What works.
const ACCEPTED: [&str; 10] =
    ["key", "ttl", "scope", "fingerprint", "lease", "store", "name", "engine", "crate", "http"];
/// What the design names and a later version brings.
const RESERVED: [&str; 4] = ["in_flight", "on_crash", "max_attempts", "actix"];

/// As written: every argument at most once, its value not yet understood.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) key: Option<Expr>,
    pub(crate) ttl: Option<Expr>,
    pub(crate) scope: Option<Expr>,
    pub(crate) fingerprint: Option<Expr>,
    pub(crate) lease: Option<Expr>,
    pub(crate) store: Option<Expr>,
    pub(crate) name: Option<Expr>,
    pub(crate) engine: Option<Expr>,
    pub(crate) root: Option<Expr>,
    pub(crate) http: Option<Ident>,
}

impl Args {
    pub(crate) fn parse(arguments: Vec<Argument>, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        for Argument { name, value } in arguments {
            let word = name.unraw().to_string();
            if word == "http" {
                args.parse_http(name, value, errors);
                continue;
            }
            let slot = match word.as_str() {
                "key" => &mut args.key,
                "ttl" => &mut args.ttl,
                "scope" => &mut args.scope,
                "fingerprint" => &mut args.fingerprint,
                "lease" => &mut args.lease,
                "store" => &mut args.store,
                "name" => &mut args.name,
                "engine" => &mut args.engine,
                "crate" => &mut args.root,
                reserved if RESERVED.contains(&reserved) => {
                    errors.at(name, format_args!("argument `{reserved}` does not work yet; remove it"));
                    continue;
                }
                other => {
                    errors.at(&name, unknown("argument", other, &ACCEPTED));
                    continue;
                }
            };
            match (slot, value) {
                (Some(_), _) => errors.at(name, format_args!("duplicate argument `{word}`; remove this one")),
                (_, None) => errors.at(name, format_args!("argument `{word}` needs a value; write `{word} = …`")),
                (slot, value) => *slot = value,
            }
        }
        args
    }

    fn parse_http(&mut self, name: Ident, value: Option<Expr>, errors: &mut Errors) {
        match (&self.http, value) {
            (Some(_), _) => errors.at(name, "duplicate argument `http`; remove this one"),
            (None, Some(value)) => errors.at(value, "argument `http` takes no value; write `http`"),
            (None, None) => self.http = Some(name),
        }
    }

    /// Whether the function is an HTTP handler: said with `http`, or by where its key comes from.
    pub(crate) fn is_http(&self) -> bool {
        self.http.is_some()
            || self.key.as_ref().is_some_and(|key| matches!(word_of(key).as_deref(), Some("header" | "token")))
    }

    /// The path of the runtime.
    pub(crate) fn root(&self) -> TokenStream {
        match &self.root {
            Some(root) => root.to_token_stream(),
            None => quote!(::idempotent_runtime),
        }
    }

    /// Every expression over the parameters.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let Self { key, ttl, scope, fingerprint, lease, store: _, name: _, engine, root: _, http: _ } = self;
        [key, ttl, scope, fingerprint, lease, engine].into_iter().flatten()
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
