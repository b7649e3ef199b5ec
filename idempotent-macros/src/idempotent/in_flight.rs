//! `in_flight = reject` or `in_flight = wait("5s")`: what a repeat does while the first run is under way.

use quote::ToTokens;
use syn::Expr;

use super::args::{Args, text_of, word_of};
use super::policy::{Lifetime, Mode};
use crate::arguments::unknown;
use crate::duration::parse_finite;
use crate::errors::Errors;

/// How long a repeat waits, in milliseconds; `None` if it does not.
pub(super) fn check_in_flight(
    args: &Args,
    ttl: Option<&Lifetime>,
    mode: &Mode,
    http: bool,
    errors: &mut Errors,
) -> Option<u64> {
    let written = args.in_flight.as_ref()?;
    match word_of(written).as_deref() {
        Some("reject") if matches!(written, Expr::Path(_)) => return None,
        Some("wait") => {}
        word => {
            let found = match (word, written) {
                (Some(word), Expr::Path(_)) => word.to_owned(),
                _ => written.to_token_stream().to_string(),
            };
            errors.at(written, unknown("`in_flight`", &found, &["reject", "wait(\"5s\")"]));
            return None;
        }
    }
    if !http && matches!(mode, Mode::Transactional(_)) {
        errors.at(
            written,
            "`wait` cannot be had on the caller's connection, because a caller that waits inside its own transaction keeps what the first run may need; remove `in_flight`, and call again after the error's `retry_after`",
        );
        return None;
    }
    let wait = errors.ok(parse_wait(written))?;
    if let Some(Lifetime::Millis(ttl)) = ttl
        && wait > *ttl
    {
        errors.at(written, "`wait` is longer than `ttl`; write a wait that ends before the answer expires");
    }
    Some(wait)
}

/// The one argument of `wait("5s")`.
fn parse_wait(written: &Expr) -> syn::Result<u64> {
    let wrong = |at: &dyn ToTokens, message: String| Err(syn::Error::new_spanned(at, message));
    let arguments: Vec<&Expr> = match written {
        Expr::Call(call) => call.args.iter().collect(),
        _ => Vec::new(),
    };
    let [argument] = arguments[..] else {
        return wrong(written, "`wait` needs a time, after which it is over; write `wait(\"5s\")`".into());
    };
    match (text_of(argument), argument) {
        (Some(text), _) if text.value() == "forever" => {
            wrong(argument, "a wait must end, because the first run may not; write `wait(\"5s\")`".into())
        }
        (Some(text), _) => parse_finite(&text.value()).or_else(|message| wrong(text, message)),
        (None, Expr::Lit(literal)) => {
            let written = literal.to_token_stream();
            wrong(argument, format!("`wait` needs a unit; write `wait(\"{written}s\")`"))
        }
        (None, _) => wrong(argument, "`wait` needs a time that is written out; write `wait(\"5s\")`".into()),
    }
}
