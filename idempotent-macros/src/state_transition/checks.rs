//! The checks: what each argument may be, and what fits with what. Whether the graph has it is checked by what is
//! expanded, while the machine's own constants are at hand.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, Path, ReturnType, Type};

use super::args::Args;
use super::policy::{Noted, Sources, Via, Way};
use crate::arguments::attribute_span;
use crate::duration::parse_duration;
use crate::errors::Errors;
use crate::function::{Function, MarkerKind, parameter_name};
use crate::idempotent::args::text_of;
use crate::pattern::bound_names;

/// How long another caller leaves a row alone that is stuck in between.
const RECLAIM_MS: u64 = 5 * 60_000;

/// `#[idempotent]` claims before anything is moved, and so stands outside.
pub(super) fn check_order(function: &Function, errors: &mut Errors) {
    if let Some(attribute) = function.attribute("idempotent") {
        errors.at(
            attribute,
            "`#[idempotent]` must stand above `#[state_transition]`, because it claims before the row moves; swap the two",
        );
    }
    for marker in function.markers.iter().flatten().filter(|marker| marker.kind == MarkerKind::Steps) {
        errors.at(
            &marker.attribute,
            "`#[steps]` means nothing to a transition, which is one step itself; take `#[tx] conn: &mut Db`, and call this function from a step",
        );
    }
}

pub(super) fn check_machine(args: &Args, errors: &mut Errors) -> Option<Path> {
    match &args.machine {
        Some(Expr::Path(machine)) => Some(machine.path.clone()),
        Some(other) => {
            errors.at(other, "`machine` must be the path of a type; write `machine = OrderStatus`");
            None
        }
        None if args.is_written("machine") => None,
        None => {
            errors.push(syn::Error::new(
                attribute_span(),
                "missing `machine` argument; write `machine = …` with the enum that derives `StateMachine`",
            ));
            None
        }
    }
}

pub(super) fn check_way(args: &Args, errors: &mut Errors) -> Option<Way> {
    let edges = [("from", &args.from), ("to", &args.to), ("via", &args.via)];
    if let Some(event) = &args.event {
        for (name, value) in edges {
            if let Some(value) = value {
                errors.at(
                    value,
                    format_args!(
                        "`{name}` cannot stand beside `event`, because the event says which edges there are; remove one of them"
                    ),
                );
            }
        }
        let ident = name_of(event);
        if ident.is_none() {
            errors.at(event, "`event` must be the name of an event; write `event = pay`");
        }
        check_without_via(args, errors);
        return ident.map(Way::Event);
    }
    if args.is_written("event") {
        return None;
    }
    let from = args.from.as_ref().and_then(|from| sources(from, errors));
    let to = args.to.as_ref().and_then(|to| states(to, errors));
    for (name, written) in [("from", &args.from), ("to", &args.to)] {
        if written.is_none() && !args.is_written(name) {
            let message = match (args.from.is_none(), args.to.is_none()) {
                (true, true) if name == "to" => continue,
                (true, true) => {
                    "missing `event` argument; write `event = pay`, or `from = Created, to = Paid`".to_owned()
                }
                _ => format!("missing `{name}` argument; write `{name} = …` with a state"),
            };
            errors.push(syn::Error::new(attribute_span(), message));
        }
    }
    let Some(via) = &args.via else {
        check_without_via(args, errors);
        return Some(Way::Edges { from: from?, to: to? });
    };
    let Some(via) = name_of(via) else {
        errors.at(via, "`via` must be one state; write `via = Paying`");
        return None;
    };
    let reclaim_ms = check_reclaim(args, errors)?;
    let failure = check_failure(args, errors)?;
    Some(Way::Via(Box::new(Via { from: from?, between: via, to: to?, failure, reclaim_ms })))
}

fn check_without_via(args: &Args, errors: &mut Errors) {
    for (name, value) in [("failure", &args.failure), ("when", &args.when), ("reclaim", &args.reclaim)] {
        if let Some(value) = value
            && args.via.is_none()
        {
            errors.at(value, format_args!("`{name}` means nothing without `via`; remove it, or write `via = …`"));
        }
    }
}

fn check_reclaim(args: &Args, errors: &mut Errors) -> Option<u64> {
    let Some(reclaim) = &args.reclaim else { return Some(RECLAIM_MS) };
    let Some(text) = text_of(reclaim) else {
        errors.at(reclaim, "`reclaim` must be a duration; write `reclaim = \"5m\"`");
        return None;
    };
    match parse_duration(&text.value()) {
        Ok(millis) => Some(millis),
        Err(message) => {
            errors.at(text, message);
            None
        }
    }
}

/// `None` if there is a mistake, `Some(None)` if there is no failure.
#[allow(clippy::option_option, reason = "a mistake is not the same as an argument that is not there")]
fn check_failure(args: &Args, errors: &mut Errors) -> Option<Option<(Ident, Expr)>> {
    match (&args.failure, &args.when) {
        (None, None) => Some(None),
        (Some(failure), Some(when)) => {
            let Some(state) = name_of(failure) else {
                errors.at(failure, "`failure` must be one state; write `failure = Created`");
                return None;
            };
            Some(Some((state, when.clone())))
        }
        (Some(failure), None) => {
            errors.at(
                failure,
                "`failure` needs `when`, because an error does not say whether the other system did its part; write `when = |error| …` with the errors that are final",
            );
            None
        }
        (None, Some(when)) => {
            errors.at(when, "`when` needs `failure`; write `failure = …` with the state that a final error leads to");
            None
        }
    }
}

/// `A | B`, `any`, `any - X`.
fn sources(expr: &Expr, errors: &mut Errors) -> Option<Sources> {
    let mut except = Vec::new();
    let mut rest = expr;
    while let Expr::Binary(binary) = rest
        && matches!(binary.op, BinOp::Sub(_))
    {
        except.extend(states(&binary.right, errors)?);
        rest = &binary.left;
    }
    if name_of(rest).is_some_and(|name| name == "any") {
        except.reverse();
        return Some(if except.is_empty() { Sources::Any } else { Sources::Except(except) });
    }
    if !except.is_empty() {
        errors.at(rest, "only `any` can be lessened; write `any - Paid`");
        return None;
    }
    states(expr, errors).map(Sources::Of)
}

/// `A | B`.
fn states(expr: &Expr, errors: &mut Errors) -> Option<Vec<Ident>> {
    match expr {
        Expr::Binary(binary) if matches!(binary.op, BinOp::BitOr(_)) => {
            let mut left = states(&binary.left, errors)?;
            left.extend(states(&binary.right, errors)?);
            Some(left)
        }
        Expr::Paren(paren) => states(&paren.expr, errors),
        _ => match name_of(expr) {
            Some(state) => Some(vec![state]),
            None => {
                errors.at(expr, "expected states; write their names, as in `Created` or `Created | Paid`");
                None
            }
        },
    }
}

fn name_of(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident().map(IdentExt::unraw),
        _ => None,
    }
}

pub(super) fn check_connection(function: &Function, errors: &mut Errors) -> Option<Type> {
    if !function.markers.iter().flatten().any(|marker| marker.kind == MarkerKind::Tx) {
        errors.at(
            &function.signature.ident,
            format_args!("function `{}` needs a connection; add a parameter `#[tx] conn: &mut Db`", function.name()),
        );
        return None;
    }
    function.check_connection(errors)
}

pub(super) fn check_id(function: &Function, errors: &mut Errors) -> Option<Ident> {
    if !function.transition.iter().flatten().any(|marker| marker.kind == MarkerKind::Id) {
        errors.at(
            &function.signature.ident,
            format_args!(
                "function `{}` does not say which row moves; add a parameter `#[id] id: i64`",
                function.name()
            ),
        );
        return None;
    }
    marked(function, MarkerKind::Id, "#[id]", errors).map(|noted| noted.name)
}

pub(super) fn check_notes(function: &Function, errors: &mut Errors) -> Vec<Noted> {
    let notes = [
        (MarkerKind::Version, "#[version]"),
        (MarkerKind::Actor, "#[actor]"),
        (MarkerKind::Reason, "#[reason]"),
        (MarkerKind::Metadata, "#[metadata]"),
    ];
    notes.into_iter().filter_map(|(kind, name)| marked(function, kind, name, errors)).collect()
}

/// The key of a call to another system.
pub(super) fn check_key(args: &Args, function: &Function, errors: &mut Errors) {
    match (&args.via, marked(function, MarkerKind::Key, "#[key]", errors)) {
        (None, Some(Noted { marker, .. })) => {
            errors.at(marker, "`#[key]` means nothing without `via`; remove it, or write `via = …`");
        }
        (Some(via), None) => errors.at(
            via,
            "`via` needs a key for the other system, so that whoever goes on sends the same; add a parameter `#[key] key: String`",
        ),
        (Some(_), Some(_)) | (None, None) => {}
    }
}

/// The one parameter with a marker, and the one name that it binds.
fn marked(function: &Function, kind: MarkerKind, name: &str, errors: &mut Errors) -> Option<Noted> {
    let (parameter, marker) = function.check_once(kind, name, errors)?;
    match <[Ident; 1]>::try_from(bound_names(&parameter.pat)) {
        Ok([name]) => Some(Noted { kind, name, marker: marker.attribute.clone() }),
        Err(_) => {
            errors.at(
                &parameter.pat,
                format_args!(
                    "`{name}` parameter `{}` must bind one name, so that it is clear what is meant; write `{name} name: …`",
                    parameter_name(&parameter.pat)
                ),
            );
            None
        }
    }
}

pub(super) fn check_result(function: &Function, errors: &mut Errors) -> Option<Type> {
    match &function.signature.output {
        ReturnType::Type(_, ty) if !matches!(**ty, Type::ImplTrait(_)) => Some((**ty).clone()),
        ReturnType::Type(..) | ReturnType::Default => {
            errors.at(
                &function.signature.ident,
                format_args!(
                    "function `{}` must say what came of the transition; write `-> Result<Transition<T>, E>` with an `E` that is `From<TransitionError>`",
                    function.name()
                ),
            );
            None
        }
    }
}

/// A row that is in between has been claimed without being looked at.
pub(super) fn check_plain_guard(args: &Args, errors: &mut Errors) {
    if let (Some(guard), Some(_)) = (&args.guard, &args.via) {
        let guard = guard.to_token_stream();
        errors.at(guard, "`guard` cannot stand beside `via`; check the row before, in a transaction of its own");
    }
}
