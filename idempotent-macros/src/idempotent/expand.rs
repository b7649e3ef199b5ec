//! The tokens. What reaches here was checked: nothing can fail any more.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Pat, ReturnType, Signature, Type};

use super::args::Args;
use super::policy::{Fingerprint, Framework, Key, Kind, Lifetime, Mode, Policy};
use super::route::{constant, expand_policy, expand_published};
use crate::function::{Function, MarkerKind, Waiting};
use crate::nested::{Nested, Wait, expand_connection_check, located_at, named_parameters, outer_attributes, word};
use crate::pattern::by_reference;

pub(crate) fn expand(policy: &Policy, function: &Function) -> TokenStream {
    match &policy.kind {
        Kind::Http(framework) => expand_handler(policy, framework, function),
        Kind::Plain(result) => expand_plain(policy, function, result),
    }
}

/// ```text
/// Input:   async fn pay(user: User, #[tx] conn: &mut Db, Json(card): Json<Card>) -> R { … }
/// Output:  async fn pay(__call: Call<(User, Json<Card>,)>) -> Response {
///              async fn pay(user: User, conn: &mut Db, Json(card): Json<Card>) -> R { … }
///              static __POLICY: Policy = …;
///              transactional(__call, &__POLICY, |(user, Json(card))| terms, |(__0, __1), __conn| boxed(pay(__0, __conn, __1))).await
///          }
/// ```
///
/// A handler of actix-web is given its request too, `|__request, (__0, __1), __conn| boxed(respond(…, &__request))`, and
/// stands in the module `actix`.
fn expand_handler(policy: &Policy, framework: &Framework, function: &Function) -> TokenStream {
    let root = &policy.root;
    let private = quote!(#root::__private);
    let home = home_of(framework, &private);
    let Function { visibility, signature, .. } = function;
    let outer_attributes = outer_attributes(function);
    let nested = Nested::of(function, &policy.used, policy.names_self);
    let (inner, sibling, callee) = (&nested.inside, &nested.beside, &nested.callee);
    let declaration = handler_signature(&home, function);
    let static_policy = expand_policy(policy, function, &private);
    let published = expand_published(policy, function, root);
    let terms = expand_terms(policy, &private);
    let args = word("__args");
    let patterns = extractors(function).map(|(pattern, _)| by_reference(pattern));
    let values: Vec<_> = (0..extractors(function).count()).map(|n| word(&format!("__{n}"))).collect();
    let conn = word(if matches!(policy.mode, Mode::Stepped) { "__steps" } else { "__conn" });
    let mut extracted = values.iter();
    let passed: Vec<_> = function
        .parameters()
        .map(|(_, marker)| match marker {
            Some(_) => conn.clone(),
            None => extracted.next().cloned().unwrap_or_else(|| conn.clone()),
        })
        .collect();
    // Shown at the return type: that it is no response. At the function's own name: what keeps it from being `Send`.
    let (name, result) = (signature.ident.span(), response_span(signature));
    let (request, response) = match framework {
        Framework::Axum => {
            let into_response = quote_spanned!(result=> #private::IntoResponse::into_response);
            (None, quote_spanned!(name=> #into_response(#callee(#(#passed),*).await)))
        }
        Framework::Actix(_) => {
            let request = word("__request");
            let returned = located_at(quote!(#callee(#(#passed),*).await), result);
            let response = quote_spanned!(result=> #home::respond(#returned, &#request));
            (Some(quote!(#request,)), response)
        }
    };
    let run = quote_spanned!(name=> #home::boxed(async move {
        let (#(#values,)*) = #args;
        #response
    }));
    let bind = quote!(|#args| {
        #[allow(unused_variables)]
        let (#(#patterns,)*) = #args;
        #terms
    });
    let call = word("__call");
    let policy_name = word("__POLICY");
    let extractable = expand_extractor_checks(framework, &home, function);
    let execute = match &policy.mode {
        Mode::Transactional(connection) => {
            let check = expand_connection_check(&private, connection, Waiting::Async);
            quote! {
                #check
                #home::transactional::<#connection, _, _>(#call, &#policy_name, #bind, |#request #args, #conn| #run).await
            }
        }
        Mode::Leased => quote!(#home::leased(#call, &#policy_name, #bind, |#request #args| #run).await),
        Mode::Stepped => quote!(#home::stepped(#call, &#policy_name, #bind, |#request #args, #conn| #run).await),
    };
    quote! {
        #sibling
        #published
        #(#outer_attributes)*
        #visibility #declaration {
            #inner
            #static_policy
            #extractable
            #execute
        }
    }
}

/// Where the runtime keeps what a framework's handlers are expanded to. A missing feature is shown at the word that
/// needs it.
fn home_of(framework: &Framework, private: &TokenStream) -> TokenStream {
    match framework {
        Framework::Axum => private.clone(),
        Framework::Actix(said) => {
            let module = Ident::new("actix", said.span());
            quote!(#private::#module)
        }
    }
}

/// Asks on the user's own types that they be extractors. Those of axum depend on the router's state, and are checked
/// where the handler meets it.
fn expand_extractor_checks(framework: &Framework, home: &TokenStream, function: &Function) -> Option<TokenStream> {
    let Framework::Actix(_) = framework else { return None };
    let checks = extractors(function).map(|(_, ty)| quote_spanned!(ty.span()=> #home::extractor::<#ty>();));
    Some(checks.collect())
}

fn response_span(signature: &Signature) -> Span {
    match &signature.output {
        ReturnType::Type(_, ty) => ty.span(),
        ReturnType::Default => signature.ident.span(),
    }
}

/// A handler that has the right shape and does nothing, for a function with mistakes: its routes still compile.
pub(crate) fn shape_of_handler(args: &Args, function: &Function) -> TokenStream {
    let root = args.root();
    let private = quote!(#root::__private);
    let home = home_of(&Framework::of(args), &private);
    let Function { visibility, .. } = function;
    let outer_attributes = outer_attributes(function);
    let declaration = handler_signature(&home, function);
    let published = args.published().map(|name| constant(name, function, &root, &quote!(#private::UNKNOWN_POLICY)));
    quote! {
        #published
        #(#outer_attributes)*
        #[allow(unused_variables, clippy::unused_async)]
        #visibility #declaration {
            ::core::unreachable!()
        }
    }
}

/// `async fn name<…>(__call: Call<(…)>) -> Response`.
fn handler_signature(home: &TokenStream, function: &Function) -> TokenStream {
    let Signature { fn_token, ident, generics, .. } = &function.signature;
    let types = extractors(function).map(|(_, ty)| ty);
    let (call, where_clause) = (word("__call"), &generics.where_clause);
    quote! {
        async #fn_token #ident #generics(#call: #home::Call<(#(#types,)*)>) -> #home::Response #where_clause
    }
}

/// The parameters that the framework extracts.
fn extractors(function: &Function) -> impl Iterator<Item = (&Pat, &Type)> {
    function.parameters().filter(|(_, marker)| marker.is_none()).map(|(parameter, _)| (&*parameter.pat, &*parameter.ty))
}

/// ```text
/// Input:   async fn consume(#[tx] conn: &mut Db, event: &Event) -> Result<T, E> { … }
/// Output:  async fn consume(conn: &mut Db, event: &Event) -> Result<T, E> {
///              async fn consume(conn: &mut Db, event: &Event) -> Result<T, E> { … }
///              static __POLICY: Policy = …;
///              match open(codec, &__POLICY, terms, &mut *conn).await {
///                  Opened::Done(__result) => __result,
///                  Opened::Run(__span) => close(codec, __span, &mut *conn, catch(consume(&mut *conn, event)).await).await,
///              }
///          }
/// ```
///
/// Without `async` the same, without `.await`, and with the body as a closure.
fn expand_plain(policy: &Policy, function: &Function, result: &Type) -> TokenStream {
    let root = &policy.root;
    let private = quote!(#root::__private);
    let Function { visibility, signature, .. } = function;
    let outer_attributes = outer_attributes(function);
    let nested = Nested::of(function, &policy.used, policy.names_self);
    let (inner, sibling, callee) = (&nested.inside, &nested.beside, &nested.callee);
    let static_policy = expand_policy(policy, function, &private);
    let terms = expand_terms(policy, &private);
    let (mut declaration, names) = named_parameters(signature);
    // Steps are no argument of the caller's: the wrapper has them.
    let mut marked = markers_of(function).into_iter();
    declaration.inputs =
        declaration.inputs.into_pairs().filter(|_| marked.next().flatten() != Some(MarkerKind::Steps)).collect();
    let markers = markers_of(function);
    let bindings = function.parameters().zip(&names).filter(|((_, marker), _)| marker.is_none());
    let bindings = bindings.map(|((parameter, _), name)| {
        let pattern = by_reference(&parameter.pat);
        quote!(let #pattern = &#name;)
    });
    let steps = word("__steps");
    let passed = names.iter().zip(&markers).map(|(name, marker)| match marker {
        Some(MarkerKind::Tx) => quote!(&mut *#name),
        Some(MarkerKind::Steps) => quote!(&mut #steps),
        _ => quote!(#name),
    });
    let (codec, span, policy_name, done) = (word("__codec"), word("__span"), word("__POLICY"), word("__result"));
    let codec_of = quote_spanned!(result.span()=> #private::plain::codec::<#result>());
    let terms = quote!({
        #[allow(unused_variables)]
        {
            #(#bindings)*
            #terms
        }
    });
    let connection = names.iter().zip(&markers).find(|(_, marker)| marker.is_some()).map(|(name, _)| name);
    let body = quote!(#callee(#(#passed),*));
    let wait = Wait { waiting: function.waiting(), private: &private };
    let (check, open, close) = match &policy.mode {
        Mode::Transactional(ty) => {
            let open = quote!(#private::plain::open(#codec, &#policy_name, #terms, &mut *#connection));
            let close = quote!(#private::plain::close(#codec, #span, &mut *#connection, #done));
            let (open, ran, close) = (wait.expand(&open), wait.expand_body(&body), wait.expand(&close));
            let check = expand_connection_check(&private, ty, wait.waiting);
            (check, open, quote!({ let #done = #ran; #close }))
        }
        Mode::Leased | Mode::Stepped => {
            let (half, split) = match &policy.mode {
                Mode::Stepped => ("open_stepped", quote!(let (#span, mut #steps) = #span.split();)),
                _ => ("open_leased", TokenStream::new()),
            };
            let open = wait.expand_leased(half, &quote!(#codec, &#policy_name, #terms));
            let ran = wait.expand_leased_body(&span, &body);
            let close = wait.expand_leased("close_leased", &quote!(#codec, #span, #done));
            (TokenStream::new(), open, quote!({ #split let #done = #ran; #close }))
        }
    };
    quote! {
        #sibling
        #(#outer_attributes)*
        #visibility #declaration {
            #inner
            #static_policy
            #check
            let #codec = #codec_of;
            match #open {
                #private::plain::Opened::Done(#done) => #done,
                #private::plain::Opened::Run(#span) => #close,
            }
        }
    }
}

fn markers_of(function: &Function) -> Vec<Option<MarkerKind>> {
    function.parameters().map(|(_, marker)| marker.map(|marker| marker.kind)).collect()
}

/// `Terms::for_millis(…).key(&…).scope(&…)…`, each call spanned on the user's expression.
fn expand_terms(policy: &Policy, private: &TokenStream) -> TokenStream {
    let mut terms = match &policy.ttl {
        Lifetime::Forever => quote!(#private::Terms::forever()),
        Lifetime::Millis(millis) => {
            let millis = i64::try_from(*millis).unwrap_or(i64::MAX);
            quote!(#private::Terms::for_millis(#millis))
        }
        Lifetime::Expression(ttl) => quote_spanned!(ttl.span()=> #private::Terms::for_duration(#ttl)),
    };
    if policy.hold {
        terms.extend(quote!(.hold()));
    }
    let mut chain = |method: &str, value: &dyn ToTokens, span: Span| {
        let method = Ident::new(method, span);
        terms.extend(quote_spanned!(span=> .#method(#value)));
    };
    match &policy.lease {
        Some(Lifetime::Millis(millis)) => {
            let millis = i64::try_from(*millis).unwrap_or(i64::MAX);
            chain("lease_millis", &millis, Span::mixed_site());
        }
        Some(Lifetime::Expression(lease)) => chain("lease_duration", lease, lease.span()),
        Some(Lifetime::Forever) | None => {}
    }
    if let Some(attempts) = &policy.max_attempts {
        chain("max_attempts", attempts, attempts.span());
    }
    let key = if let Key::Expression(key) = &policy.key { Some(key) } else { None };
    let fingerprint = if let Fingerprint::Expression(value) = &policy.fingerprint { Some(value) } else { None };
    for (method, value) in [
        ("key", key),
        ("scope", policy.scope.as_ref()),
        ("fingerprint", fingerprint),
        ("arguments", policy.arguments.as_ref()),
        ("engine", policy.engine.as_ref()),
    ] {
        if let Some(value) = value {
            chain(method, &quote_spanned!(value.span()=> &(#value)), value.span());
        }
    }
    terms
}
