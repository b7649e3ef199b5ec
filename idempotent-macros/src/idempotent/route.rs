//! The policy in the tokens: for the wrapper, and for whoever publishes the route.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::policy::{Fingerprint, Keep, Key, Lifetime, Mode, Policy, Repeat};
use crate::function::Function;
use crate::nested::word;

/// `static __POLICY: Policy = …;`
pub(super) fn expand_policy(policy: &Policy, function: &Function, private: &TokenStream) -> TokenStream {
    let (name, value) = (word("__POLICY"), policy_value(policy, function, private));
    quote!(static #name: #private::Policy = #value;)
}

/// `pub const CREATE_ORDER: RoutePolicy = …;`, seen as far as the function.
pub(super) fn expand_published(policy: &Policy, function: &Function, root: &TokenStream) -> Option<TokenStream> {
    let name = policy.published.as_ref()?;
    let private = quote!(#root::__private);
    let value = policy_value(policy, function, &private);
    let ttl = match &policy.ttl {
        Lifetime::Forever => quote!(Forever),
        Lifetime::Millis(millis) => {
            let millis = i64::try_from(*millis).unwrap_or(i64::MAX);
            quote!(Millis(#millis))
        }
        Lifetime::Expression(_) => quote!(Computed),
    };
    Some(constant(name, function, root, &quote!(#private::route_policy(#value, #private::Kept::#ttl))))
}

/// The constant, under the conditions of the function.
pub(super) fn constant(name: &Ident, function: &Function, root: &TokenStream, value: &TokenStream) -> TokenStream {
    let visibility = &function.visibility;
    let documentation = format!("The policy of [`{}`], to be published.", function.name());
    let conditions = function.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    quote! {
        #(#conditions)*
        #[doc = #documentation]
        #visibility const #name: #root::RoutePolicy = #value;
    }
}

/// `Policy { … }`.
fn policy_value(policy: &Policy, function: &Function, private: &TokenStream) -> TokenStream {
    let name = format!("::{}", function.name());
    let path = quote!(::core::concat!(::core::module_path!(), #name));
    let operation = match &policy.name {
        Some(name) => quote!(#name),
        None => path.clone(),
    };
    let key = match &policy.key {
        Key::Header { name, .. } if matches!(policy.mode, Mode::Stepped) => {
            quote!(Header(#name, #private::Need::Always))
        }
        Key::Header { name, optional: false } => quote!(Header(#name, #private::Need::ByMethod)),
        Key::Header { name, optional: true } => quote!(Header(#name, #private::Need::Optional)),
        Key::Expression(_) => quote!(Expression),
        Key::Token { name, repeat } => {
            let repeat = match repeat {
                Repeat::Replay => quote!(Replay),
                Repeat::Refuse => quote!(Refuse),
            };
            quote!(Token(#name, #private::Repeat::#repeat))
        }
    };
    let fingerprint = match policy.fingerprint {
        Fingerprint::Bytes => quote!(Bytes),
        Fingerprint::Json => quote!(Json),
        Fingerprint::Nothing => quote!(Nothing),
        Fingerprint::Expression(_) => quote!(Value),
    };
    let keep = match &policy.keep {
        Keep::Default => quote!(Default),
        Keep::Success => quote!(Success),
        Keep::All => quote!(All),
        Keep::By(rule) => quote!(By(#rule)),
    };
    let in_flight = match policy.wait {
        Some(millis) => quote!(Wait { millis: #millis }),
        None => quote!(Reject),
    };
    quote! {
        #private::Policy {
            operation: #operation,
            place: #private::Place { function: #path, at: (::core::file!(), ::core::line!(), ::core::column!()) },
            key: #private::KeySource::#key,
            fingerprint: #private::Print::#fingerprint,
            in_flight: #private::InFlight::#in_flight,
            keep: #private::Keep::#keep,
        }
    }
}
