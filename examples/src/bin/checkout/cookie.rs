//! Cookies, as far as this program needs them: values without anything that would have to be escaped.

use std::str::FromStr;

use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// What a browser has sent under this name, if it can be read.
pub(crate) fn read<T: FromStr>(headers: &HeaderMap, name: &str) -> Option<T> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name)?.1.parse().ok()
}

/// A header that sets a cookie for so many seconds, or with 0 removes it. No script can read it, and a browser does not
/// send it with another site's forms. Over HTTPS it should be `Secure` too.
pub(crate) fn set(name: &str, value: &str, seconds: u32) -> Option<(HeaderName, HeaderValue)> {
    let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax");
    Some((SET_COOKIE, cookie.parse().ok()?))
}
