//! A function with markers on its parameters, and a body that is never looked into.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Meta, Pat, PatType, Safety, Signature, Type, Visibility};

use crate::errors::Errors;
use crate::pattern::words;

/// A function as written; the signature has no markers any more.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// Opaque: a half-typed body must not stop the rest from being understood.
    pub(crate) body: TokenStream,
    /// The marker of each parameter, in order.
    pub(crate) markers: Vec<Option<Marker>>,
    /// The marker of each parameter that only a transition understands, in order.
    pub(crate) transition: Vec<Option<Marker>>,
}

/// A marker on a parameter, with its attribute for errors.
pub(crate) struct Marker {
    pub(crate) kind: MarkerKind,
    pub(crate) attribute: Attribute,
}

/// How a function waits for what it calls: by `.await`, or by keeping its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    Async,
    Blocking,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkerKind {
    Tx,
    Steps,
    Id,
    Version,
    Actor,
    Reason,
    Metadata,
    Key,
}

/// The markers of every attribute.
const MARKERS: [(&str, MarkerKind); 2] = [("tx", MarkerKind::Tx), ("steps", MarkerKind::Steps)];
/// Those of a transition besides.
const OF_TRANSITIONS: [(&str, MarkerKind); 6] = [
    ("id", MarkerKind::Id),
    ("version", MarkerKind::Version),
    ("actor", MarkerKind::Actor),
    ("reason", MarkerKind::Reason),
    ("metadata", MarkerKind::Metadata),
    ("key", MarkerKind::Key),
];

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mut signature: Signature = input.parse()?;
        let body = match input.parse()? {
            TokenTree::Group(group) => TokenTree::Group(group).into(),
            other => return Err(syn::Error::new_spanned(other, "expected the body of a function")),
        };
        let markers = signature.inputs.iter_mut().map(|parameter| take_marker(parameter, &MARKERS)).collect();
        let transition = signature.inputs.iter_mut().map(|parameter| take_marker(parameter, &OF_TRANSITIONS)).collect();
        Ok(Self { attributes, visibility, signature, body, markers, transition })
    }
}

/// Takes one of these markers off a parameter.
fn take_marker(parameter: &mut FnArg, markers: &[(&str, MarkerKind)]) -> Option<Marker> {
    let FnArg::Typed(parameter) = parameter else { return None };
    let kind_of = |attribute: &Attribute| match &attribute.meta {
        Meta::Path(path) => markers.iter().find(|(name, _)| path.is_ident(name)).map(|(_, kind)| *kind),
        _ => None,
    };
    let at = parameter.attrs.iter().position(|attribute| kind_of(attribute).is_some())?;
    let attribute = parameter.attrs.remove(at);
    kind_of(&attribute).map(|kind| Marker { kind, attribute })
}

impl Function {
    /// The name as the user knows it, without `r#`.
    pub(crate) fn name(&self) -> String {
        self.signature.ident.unraw().to_string()
    }

    /// Refuses what no attribute of this crate can wrap. False if the signature cannot even be wrapped for show.
    pub(crate) fn check_wrappable(&self, errors: &mut Errors) -> bool {
        let name = self.name();
        let Signature { constness, safety, abi, inputs, variadic, .. } = &self.signature;
        let mut wrappable = true;
        if let Some(FnArg::Receiver(receiver)) = inputs.first() {
            wrappable = false;
            errors.at(
                receiver,
                format_args!("function `{name}` must not take `self`; write a function without it that takes what it needs as parameters"),
            );
        }
        if let Some(constness) = constness {
            wrappable = false;
            errors.at(constness, format_args!("function `{name}` must not be `const`; remove `const`"));
        }
        if let Safety::Unsafe(safety) = safety {
            wrappable = false;
            errors.at(
                safety,
                format_args!("function `{name}` must not be `unsafe`; move the `unsafe` block into its body"),
            );
        }
        if let Some(abi) = abi {
            wrappable = false;
            errors.at(abi, format_args!("function `{name}` must not be `extern`; call it from an ordinary function"));
        }
        if let Some(variadic) = variadic {
            wrappable = false;
            errors.at(variadic, format_args!("function `{name}` must not be variadic; name its parameters"));
        }
        wrappable
    }

    /// How the function waits for what it calls.
    pub(crate) fn waiting(&self) -> Waiting {
        match self.signature.asyncness {
            Some(_) => Waiting::Async,
            None => Waiting::Blocking,
        }
    }

    /// An attribute of this name that stands below ours.
    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        let named =
            |attribute: &&Attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == name);
        self.attributes.iter().find(named)
    }

    /// Whether `Self` is named, so that the function must stay where that means something.
    pub(crate) fn names_self(&self) -> bool {
        let mut found = HashSet::new();
        words(self.signature.to_token_stream(), &mut found);
        words(self.body.clone(), &mut found);
        found.contains("Self")
    }

    /// The signature of the function inside its wrapper: with the markers that an attribute below ours understands.
    pub(crate) fn inner_signature(&self) -> Signature {
        let mut signature = self.signature.clone();
        if self.attribute("state_transition").is_none() {
            return signature;
        }
        for (n, parameter) in signature.inputs.iter_mut().enumerate() {
            let FnArg::Typed(parameter) = parameter else { continue };
            let markers = [&self.markers[n], &self.transition[n]].into_iter().flatten();
            parameter.attrs.extend(markers.map(|marker| marker.attribute.clone()));
        }
        signature
    }

    /// The parameters without receiver, each with its marker.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&PatType, Option<&Marker>)> {
        self.signature.inputs.iter().zip(&self.markers).filter_map(|(parameter, marker)| match parameter {
            FnArg::Typed(parameter) => Some((parameter, marker.as_ref())),
            FnArg::Receiver(_) => None,
        })
    }

    /// The one connection parameter: the type behind `&mut`.
    pub(crate) fn check_connection(&self, errors: &mut Errors) -> Option<Type> {
        let (parameter, _) = self.check_once(MarkerKind::Tx, "#[tx]", errors)?;
        check_mutable(parameter, "#[tx]", "a connection", "Db", errors)
    }

    /// Whether there is a parameter for steps.
    pub(crate) fn check_steps(&self, errors: &mut Errors) -> bool {
        let Some((parameter, marker)) = self.check_once(MarkerKind::Steps, "#[steps]", errors) else { return false };
        check_mutable(parameter, "#[steps]", "`Steps`", "Steps<Db>", errors);
        if self.markers.iter().flatten().any(|marker| marker.kind == MarkerKind::Tx) {
            errors.at(
                &marker.attribute,
                "`#[steps]` cannot stand beside `#[tx]`, because one transaction needs no recovery points; remove one of them",
            );
        }
        true
    }

    /// The one parameter with a marker.
    pub(crate) fn check_once(&self, kind: MarkerKind, name: &str, errors: &mut Errors) -> Option<(&PatType, &Marker)> {
        let all = self.signature.inputs.iter().zip(self.markers.iter().zip(&self.transition));
        let mut marked = all.filter_map(|(parameter, (marker, transition))| match parameter {
            FnArg::Typed(parameter) => Some((parameter, marker.as_ref().or(transition.as_ref())?)),
            FnArg::Receiver(_) => None,
        });
        let first = marked.find(|(_, marker)| marker.kind == kind)?;
        for (_, marker) in marked.filter(|(_, marker)| marker.kind == kind) {
            errors.at(
                &marker.attribute,
                format_args!("function `{}` has a second `{name}`; remove this one", self.name()),
            );
        }
        Some(first)
    }

    /// What the user wrote, without markers: so that a mistake in an attribute causes no other error.
    pub(crate) fn without_attribute(&self) -> TokenStream {
        let Self { attributes, visibility, body, .. } = self;
        let signature = self.inner_signature();
        quote!(#(#attributes)* #[allow(unused_variables)] #visibility #signature #body)
    }
}

/// The parser's error, unless the item is no function at all.
pub(crate) fn not_a_function(error: syn::Error, item: &TokenStream, message: &str) -> syn::Error {
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(_)) | Err(_) => error,
        Ok(other) => syn::Error::new_spanned(other, message),
    }
}

/// The type behind the `&mut` of a marked parameter.
fn check_mutable(parameter: &PatType, marker: &str, what: &str, example: &str, errors: &mut Errors) -> Option<Type> {
    if let Type::Reference(reference) = &*parameter.ty
        && reference.mutability.is_some()
    {
        return Some((*reference.elem).clone());
    }
    let name = parameter_name(&parameter.pat);
    errors.at(
        &parameter.ty,
        format_args!("`{marker}` parameter `{name}` must be `&mut` {what}; write `{name}: &mut {example}`"),
    );
    None
}

/// How a parameter is called in a message.
pub(crate) fn parameter_name(pattern: &Pat) -> String {
    match pattern {
        Pat::Ident(ident) => ident.ident.to_string(),
        other => other.to_token_stream().to_string(),
    }
}
