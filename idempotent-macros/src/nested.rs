//! The user's function inside its wrapper, and what every wrapper writes around it.

use std::collections::HashSet;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, GenericParam, Pat, PatIdent, Signature, Type};

use crate::function::{Function, Waiting};
use crate::pattern::bound_names;

/// The signature with a name for every parameter: its own where it has one.
pub(crate) fn named_parameters(signature: &Signature) -> (Signature, Vec<Ident>) {
    let mut declaration = signature.clone();
    let mut names = Vec::new();
    for (n, parameter) in declaration.inputs.iter_mut().enumerate() {
        let FnArg::Typed(parameter) = parameter else { continue };
        let name = match &*parameter.pat {
            Pat::Ident(pattern) if is_name(pattern) => pattern.ident.clone(),
            _ => word(&format!("__{n}")),
        };
        *parameter.pat = syn::parse_quote!(#name);
        names.push(name);
    }
    (declaration, names)
}

/// A name to be used: one with an underscore before it says that it is not.
fn is_name(pattern: &PatIdent) -> bool {
    pattern.subpat.is_none() && !pattern.ident.to_string().starts_with('_')
}

/// The user's function, where it can be called from the wrapper.
pub(crate) struct Nested {
    pub(crate) inside: TokenStream,
    pub(crate) beside: TokenStream,
    pub(crate) callee: TokenStream,
}

impl Nested {
    /// Inside the wrapper; beside it if it names `Self`, which means nothing to a nested function.
    pub(crate) fn of(function: &Function, used: &HashSet<String>, names_self: bool) -> Self {
        let mut signature = function.inner_signature();
        for parameter in &mut signature.inputs {
            allow_unused(parameter, used);
        }
        let generics = turbofish(&signature);
        // Both are asked for by the attribute, whether the body needs them or not.
        let asked_for: Attribute = match function.waiting() {
            Waiting::Async => syn::parse_quote!(#[allow(clippy::unused_async)]),
            Waiting::Blocking => syn::parse_quote!(#[allow(clippy::unnecessary_wraps)]),
        };
        let mut attributes = inner_attributes(function);
        attributes.push(&asked_for);
        let body = &function.body;
        if names_self {
            let name =
                format_ident!("__inner_{}", function.name().trim_start_matches('_'), span = signature.ident.span());
            signature.ident = name.clone();
            let beside = quote!(#[doc(hidden)] #(#attributes)* #signature #body);
            return Self { inside: TokenStream::new(), beside, callee: quote!(Self::#name #generics) };
        }
        let name = &signature.ident;
        let callee = quote!(#name #generics);
        Self { inside: quote!(#(#attributes)* #signature #body), beside: TokenStream::new(), callee }
    }
}

/// A parameter that is used in the attribute needs no other use.
fn allow_unused(parameter: &mut FnArg, used: &HashSet<String>) {
    if let FnArg::Typed(parameter) = parameter
        && bound_names(&parameter.pat).iter().any(|name| used.contains(&name.to_string()))
    {
        parameter.attrs.push(syn::parse_quote!(#[allow(unused_variables)]));
    }
}

/// `::<T, N>` of a generic function; nothing for one without types, whose lifetimes are inferred.
fn turbofish(signature: &Signature) -> Option<TokenStream> {
    let names: Vec<_> = signature
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(ty) => Some(&ty.ident),
            GenericParam::Const(constant) => Some(&constant.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    (!names.is_empty()).then(|| quote!(::<#(#names),*>))
}

/// Documentation, conditions and lint levels belong to the function that others see.
pub(crate) fn outer_attributes(function: &Function) -> Vec<&Attribute> {
    const OUTER: [&str; 8] = ["doc", "cfg", "cfg_attr", "deprecated", "must_use", "allow", "warn", "deny"];
    function.attributes.iter().filter(|attribute| OUTER.iter().any(|name| attribute.path().is_ident(name))).collect()
}

/// Everything else belongs to the body, and lint levels to both.
fn inner_attributes(function: &Function) -> Vec<&Attribute> {
    const ONLY_OUTER: [&str; 5] = ["doc", "cfg", "cfg_attr", "deprecated", "must_use"];
    let inner = |attribute: &&Attribute| !ONLY_OUTER.iter().any(|name| attribute.path().is_ident(name));
    function.attributes.iter().filter(inner).collect()
}

/// Asks on the user's own type that it be a connection on which the function can wait.
pub(crate) fn expand_connection_check(private: &TokenStream, connection: &Type, waiting: Waiting) -> TokenStream {
    match waiting {
        Waiting::Async => quote_spanned!(connection.span()=> let _ = #private::connection::<#connection>();),
        Waiting::Blocking => {
            quote_spanned!(connection.span()=> let _ = #private::blocking_connection::<#connection>();)
        }
    }
}

/// How a wrapper waits for the futures that it calls.
pub(crate) struct Wait<'a> {
    pub(crate) waiting: Waiting,
    pub(crate) private: &'a TokenStream,
}

impl Wait<'_> {
    /// `call.await`, or a call that returns when it is done.
    pub(crate) fn expand(&self, call: &TokenStream) -> TokenStream {
        let private = self.private;
        match self.waiting {
            Waiting::Async => quote!(#call.await),
            Waiting::Blocking => quote!(#private::blocking::wait_here(#call)),
        }
    }

    /// A body, run to its end or its panic.
    pub(crate) fn expand_body(&self, body: &TokenStream) -> TokenStream {
        let private = self.private;
        match self.waiting {
            Waiting::Async => quote!(#private::plain::catch(#body).await),
            Waiting::Blocking => quote!(#private::blocking::catch(|| #body)),
        }
    }

    /// The same under the lease of a span.
    pub(crate) fn expand_leased_body(&self, span: &Ident, body: &TokenStream) -> TokenStream {
        match self.waiting {
            Waiting::Async => quote!(#span.catch(#body).await),
            Waiting::Blocking => quote!(#span.catch_blocking(|| #body)),
        }
    }

    /// What begins and ends a run under a lease: that waits on threads of its own.
    pub(crate) fn expand_leased(&self, half: &str, arguments: &TokenStream) -> TokenStream {
        let (private, half) = (self.private, Ident::new(half, Span::call_site()));
        match self.waiting {
            Waiting::Async => quote!(#private::plain::#half(#arguments).await),
            Waiting::Blocking => quote!(#private::blocking::#half(#arguments)),
        }
    }
}

/// The same tokens, shown at another place; what they mean does not change.
pub(crate) fn located_at(tokens: TokenStream, span: Span) -> TokenStream {
    let locate = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let mut located = Group::new(group.delimiter(), located_at(group.stream(), span));
            located.set_span(group.span().located_at(span));
            TokenTree::Group(located)
        }
        mut token => {
            token.set_span(token.span().located_at(span));
            token
        }
    };
    tokens.into_iter().map(locate).collect()
}

/// A name of ours, which no name of the user's can meet.
pub(crate) fn word(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
