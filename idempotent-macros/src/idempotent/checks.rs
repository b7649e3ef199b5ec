//! The checks: what each argument may be, and what fits with what.

use syn::{Expr, Ident, LitStr, ReturnType, Type};

use super::args::{Args, text_of, word_of};
use super::policy::{Fingerprint, Keep, Key, Lifetime, Mode, Repeat};
use crate::arguments::{attribute_span, unknown};
use crate::duration::parse_duration;
use crate::errors::Errors;
use crate::function::{Function, MarkerKind, Waiting, parameter_name};
use crate::pattern::words;

pub(super) fn check_mode(function: &Function, errors: &mut Errors) -> Mode {
    let connection = function.check_connection(errors);
    let steps = function.check_steps(errors);
    match (connection, steps) {
        (Some(connection), _) => Mode::Transactional(Box::new(connection)),
        (None, true) => Mode::Stepped,
        (None, false) => Mode::Leased,
    }
}

/// Handlers are awaited by their framework.
pub(super) fn check_handler(http: bool, function: &Function, errors: &mut Errors) {
    if http && function.waiting() == Waiting::Blocking {
        let name = function.name();
        errors.at(function.signature.fn_token, format_args!("handler `{name}` must be async; write `async fn {name}`"));
    }
}

fn has(function: &Function, kind: MarkerKind) -> bool {
    function.markers.iter().flatten().any(|marker| marker.kind == kind)
}

/// Markers of a transition need one.
pub(super) fn check_composed(function: &Function, errors: &mut Errors) {
    if let Some(attribute) = function.attribute("state_transition") {
        if !has(function, MarkerKind::Tx) {
            errors.at(
                attribute,
                format_args!(
                    "function `{}` needs a `#[tx]` parameter, because a transition is made in a transaction; add `#[tx] conn: &mut Db`",
                    function.name()
                ),
            );
        }
        if via_of(attribute) {
            errors.at(
                attribute,
                "`via` cannot stand under `#[idempotent]`, because it commits before the transaction around it; call the transition from a function with `#[steps]`",
            );
        }
        return;
    }
    for marker in function.transition.iter().flatten() {
        let name = quote::ToTokens::to_token_stream(marker.attribute.path());
        errors.at(
            &marker.attribute,
            format_args!(
                "`#[{name}]` belongs to `#[state_transition]`; write that below `#[idempotent]`, or remove this"
            ),
        );
    }
}

/// Whether a transition goes through a state in between.
fn via_of(attribute: &syn::Attribute) -> bool {
    let mut found = std::collections::HashSet::new();
    words(quote::ToTokens::to_token_stream(&attribute.meta), &mut found);
    found.contains("via")
}

/// What a request gives has to be owned by the handler, which may outlive its client.
pub(super) fn check_owned(function: &Function, errors: &mut Errors) {
    for (parameter, _) in function.parameters().filter(|(_, marker)| marker.is_none()) {
        if let Type::Reference(reference) = &*parameter.ty
            && reference.lifetime.is_none()
        {
            let name = parameter_name(&parameter.pat);
            let owned = quote::ToTokens::to_token_stream(&reference.elem);
            errors.at(
                &parameter.ty,
                format_args!(
                    "parameter `{name}` of handler `{}` must not be a reference, because it is taken from the request; write `{name}: {owned}`",
                    function.name()
                ),
            );
        }
    }
}

/// What means nothing where the database ends the claim with the transaction.
pub(super) fn check_leased_only(args: &Args, function: &Function, errors: &mut Errors) {
    if !has(function, MarkerKind::Tx) {
        return;
    }
    for (name, value) in [
        ("lease", &args.lease),
        ("on_crash", &args.on_crash),
        ("max_attempts", &args.max_attempts),
        ("arguments", &args.arguments),
    ] {
        if let Some(value) = value {
            errors.at(
                value,
                format_args!(
                    "`{name}` means nothing with `#[tx]`, because the database ends the claim with the transaction; remove `{name}`"
                ),
            );
        }
    }
}

/// Steps are kept under a key, so that there must be one.
pub(super) fn check_steps_key(key: Option<&Key>, args: &Args, function: &Function, errors: &mut Errors) {
    if let (Some(Key::Header { optional: true, .. }), true) = (key, has(function, MarkerKind::Steps)) {
        errors.at(&args.key, "`#[steps]` needs a key, because the steps are kept under it; write `key = header`");
    }
}

/// A completer looks for the calls of one operation, and keys that clients send belong to none.
pub(super) fn check_arguments(key: Option<&Key>, args: &Args, errors: &mut Errors) {
    if let (Some(Key::Header { .. } | Key::Token { .. }), Some(arguments)) = (key, &args.arguments) {
        errors.at(
            arguments,
            "`arguments` needs a key of the function's own, because a completer cannot send a header; write an expression, such as `key = job.id`",
        );
    }
}

pub(super) fn check_on_crash(args: &Args, errors: &mut Errors) -> bool {
    let Some(written) = &args.on_crash else { return false };
    match word_of(written).as_deref() {
        Some("retry") => false,
        Some("hold") => true,
        word => {
            let found = word.map_or_else(|| quote::ToTokens::to_token_stream(written).to_string(), str::to_owned);
            errors.at(written, unknown("`on_crash`", &found, &["retry", "hold"]));
            false
        }
    }
}

pub(super) fn check_max_attempts(args: &Args, errors: &mut Errors) {
    if let Some(Expr::Lit(literal)) = &args.max_attempts
        && !matches!(&literal.lit, syn::Lit::Int(number) if number.base10_parse::<u32>().is_ok())
    {
        errors.at(literal, "`max_attempts` must be a number; write `max_attempts = 10`, or 0 for no limit");
    }
}

pub(super) fn check_key(args: &Args, errors: &mut Errors) -> Option<Key> {
    let Some(key) = &args.key else {
        if args.is_written("key") {
            return None;
        }
        errors.push(syn::Error::new(
            attribute_span(),
            "missing `key` argument; write `#[idempotent(key = header, …)]`, or `key = …` with what names the operation, such as `event.id`",
        ));
        return None;
    };
    match word_of(key).as_deref() {
        Some("header") => errors.ok(check_header(key)),
        Some("token") => errors.ok(check_token(key)),
        _ if text_of(key).is_some_and(|text| text.value().is_empty()) => {
            errors.at(key, "`key` is empty; write what names the operation, such as `event.id`");
            None
        }
        _ => Some(Key::Expression(key.clone())),
    }
}

/// `header`, `header("X-Request-Id")`, `header(optional)`, `header("X-Request-Id", optional)`.
fn check_header(key: &Expr) -> syn::Result<Key> {
    let mut name = "idempotency-key".to_owned();
    let mut optional = false;
    let Expr::Call(call) = key else { return Ok(Key::Header { name, optional }) };
    if call.args.is_empty() {
        return Err(syn::Error::new_spanned(key, "`header()` names nothing; write `key = header`"));
    }
    for argument in &call.args {
        match (text_of(argument), word_of(argument).as_deref()) {
            (Some(text), _) => name = header_name(text, "header(\"X-Request-Id\")")?,
            (None, Some("optional")) => optional = true,
            _ => {
                return Err(syn::Error::new_spanned(
                    argument,
                    "expected a header name or `optional`; write `header(\"X-Request-Id\")` or `header(optional)`",
                ));
            }
        }
    }
    Ok(Key::Header { name, optional })
}

/// The name of a header, in lower case.
fn header_name(text: &LitStr, example: &str) -> syn::Result<String> {
    let name = text.value().to_ascii_lowercase();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if !name.is_empty() && name.bytes().all(is_token) {
        return Ok(name);
    }
    let message = format!("`\"{}\"` is no header name; write one such as `{example}`", text.value());
    Err(syn::Error::new_spanned(text, message))
}

/// `token`, `token("X-Csrf-Token")`, `token(once)`, `token("X-Csrf-Token", once)`.
fn check_token(key: &Expr) -> syn::Result<Key> {
    let mut name = "idempotency-token".to_owned();
    let mut repeat = Repeat::Replay;
    let Expr::Call(call) = key else { return Ok(Key::Token { name, repeat }) };
    if call.args.is_empty() {
        return Err(syn::Error::new_spanned(key, "`token()` names nothing; write `key = token`"));
    }
    for argument in &call.args {
        match (text_of(argument), word_of(argument).as_deref()) {
            (Some(text), _) => name = header_name(text, "token(\"X-Csrf-Token\")")?,
            (None, Some("once")) => repeat = Repeat::Refuse,
            _ => {
                return Err(syn::Error::new_spanned(
                    argument,
                    "expected a header name or `once`; write `token(\"X-Csrf-Token\")`, or `token(once)` where a repeat is refused",
                ));
            }
        }
    }
    Ok(Key::Token { name, repeat })
}

/// A token is issued for an operation, by its name.
pub(super) fn check_token_name(key: Option<&Key>, args: &Args, function: &Function, errors: &mut Errors) {
    if let (Some(Key::Token { .. }), false) = (key, args.is_written("name")) {
        let name = function.name();
        errors.at(
            &args.key,
            format_args!("`key = token` needs a `name`, because a token is issued for one operation; write `name = \"{name}\"`, and `engine.issue_token(…, \"{name}\", …)`"),
        );
    }
}

pub(super) fn check_ttl(args: &Args, errors: &mut Errors) -> Option<Lifetime> {
    let Some(ttl) = &args.ttl else {
        if args.is_written("ttl") {
            return None;
        }
        errors.push(syn::Error::new(
            attribute_span(),
            "missing `ttl` argument; write `ttl = \"72h\"`, the time that answers are kept",
        ));
        return None;
    };
    if text_of(ttl).is_some_and(|text| text.value() == "forever") {
        return Some(Lifetime::Forever);
    }
    check_lifetime("ttl", ttl, errors)
}

fn check_lifetime(argument: &str, value: &Expr, errors: &mut Errors) -> Option<Lifetime> {
    if let Some(text) = text_of(value) {
        return match parse_duration(&text.value()) {
            Ok(millis) => Some(Lifetime::Millis(millis)),
            Err(message) => {
                errors.at(text, message);
                None
            }
        };
    }
    if let Expr::Lit(literal) = value {
        let written = quote::ToTokens::to_token_stream(literal);
        errors.at(value, format_args!("`{argument}` needs a unit; write `{argument} = \"{written}s\"`"));
        return None;
    }
    Some(Lifetime::Expression(value.clone()))
}

pub(super) fn check_lease(args: &Args, ttl: Option<&Lifetime>, errors: &mut Errors) -> Option<Lifetime> {
    let written = args.lease.as_ref()?;
    if text_of(written).is_some_and(|text| text.value() == "forever") {
        errors.at(written, "a lease must end, because after a crash nobody else ends it; write `lease = \"30s\"`");
        return None;
    }
    let lease = check_lifetime("lease", written, errors);
    if let (Some(Lifetime::Millis(lease)), Some(Lifetime::Millis(ttl))) = (&lease, ttl)
        && lease > ttl
    {
        errors.at(written, "`lease` is longer than `ttl`; write a lease that ends before the answer expires");
    }
    lease
}

pub(super) fn check_fingerprint(args: &Args, http: bool, errors: &mut Errors) -> Option<Fingerprint> {
    let Some(written) = &args.fingerprint else {
        return Some(if http { Fingerprint::Bytes } else { Fingerprint::Nothing });
    };
    match word_of(written).as_deref() {
        Some("none") => Some(Fingerprint::Nothing),
        Some("bytes") if http => Some(Fingerprint::Bytes),
        Some("json") if http => Some(Fingerprint::Json),
        Some(word @ ("bytes" | "json")) => {
            errors.at(
                written,
                format_args!(
                    "`fingerprint = {word}` needs an HTTP request; write `none`, or an expression over the parameters"
                ),
            );
            None
        }
        _ => Some(Fingerprint::Expression(written.clone())),
    }
}

/// The name of a constant beside the function.
pub(super) fn check_policy(args: &Args, http: bool, errors: &mut Errors) -> Option<Ident> {
    let written = args.policy.as_ref()?;
    let name = args.published();
    if name.is_none() {
        errors.at(written, "`policy` must be the name of a new constant; write one such as `policy = CREATE_ORDER`");
    } else if !http {
        errors.at(
            written,
            "`policy` is published for clients, and only an HTTP handler has some; remove `policy`, or write `http`",
        );
    }
    name.filter(|_| http).cloned()
}

pub(super) fn check_store(args: &Args, http: bool, errors: &mut Errors) -> Option<Keep> {
    let Some(written) = &args.store else { return Some(Keep::Default) };
    if !http {
        errors.at(
            written,
            "`store` chooses by HTTP status, and a plain function stores `Ok` and releases on `Err`; remove `store`",
        );
        return None;
    }
    match (written, word_of(written).as_deref()) {
        (Expr::Closure(_), _) => Some(Keep::By(written.clone())),
        (_, Some("default")) => Some(Keep::Default),
        (_, Some("success")) => Some(Keep::Success),
        (_, Some("all")) => Some(Keep::All),
        (_, word) => {
            let found = word.map_or_else(|| quote::ToTokens::to_token_stream(written).to_string(), str::to_owned);
            errors.at(written, unknown("`store`", &found, &["default", "success", "all", "|status| …"]));
            None
        }
    }
}

pub(super) fn check_name(args: &Args, errors: &mut Errors) -> Option<String> {
    let written = args.name.as_ref()?;
    match text_of(written).map(syn::LitStr::value) {
        Some(name) if name.is_empty() => {
            errors.at(written, "`name` is empty; write one such as `name = \"orders.create\"`");
            None
        }
        Some(name) if name.len() > 255 => {
            errors.at(written, "`name` has more than 255 bytes; write a shorter one");
            None
        }
        Some(name) => Some(name),
        None => {
            errors.at(written, "`name` must be a string literal; write one such as `name = \"orders.create\"`");
            None
        }
    }
}

pub(super) fn check_scope(args: &Args, errors: &mut Errors) {
    if let Some(text) = args.scope.as_ref().and_then(text_of)
        && text.value().is_empty()
    {
        errors.at(
            text,
            "`scope` is empty, so that callers would share their keys; write whose key it is, such as `user.id`",
        );
    }
}

/// A record that outlives the function's name must not be found by it.
pub(super) fn check_needs_name(
    args: &Args,
    function: &Function,
    ttl: Option<&Lifetime>,
    names_self: bool,
    errors: &mut Errors,
) {
    if args.name.is_some() {
        return;
    }
    let name = function.name();
    if matches!(ttl, Some(Lifetime::Forever)) {
        let ttl = args.ttl.as_ref();
        errors.at(ttl, format_args!("`ttl = \"forever\"` needs a `name`, because a renamed function would run everything again; write `name = \"{name}\"`"));
    } else if names_self {
        errors.at(
            &function.signature.ident,
            format_args!("associated function `{name}` needs a `name`, because its module does not tell it from others; write `name = \"Type::{name}\"`"),
        );
    }
}

pub(super) fn check_result(function: &Function, errors: &mut Errors) -> Option<Type> {
    let name = function.name();
    match &function.signature.output {
        ReturnType::Default => {
            errors.at(&function.signature.ident, format_args!("function `{name}` must return `Result<T, E>`; write `-> Result<(), E>` with an `E` that is `From<idempotent_runtime::Error>`"));
            None
        }
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => {
            errors.at(ty, format_args!("function `{name}` must name what it returns, because the result is stored and given back; write `Result<T, E>`"));
            None
        }
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    }
}
