//! What is read of a request: its key, and with it its claim.

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::request::Parts;

use super::{Response, answers};
use crate::claim::Claim;
use crate::error::Error;
use crate::fingerprint::{Content, Fingerprint, boundary_of};
use crate::key::{Key, KeyError};
use crate::settings::{Profile, Settings};
use crate::terms::{KeySource, Need, Policy, Print, Terms};

/// A request that was read to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) head: &'a Parts,
    /// The path as the client sent it, before any router took a prefix off.
    pub(crate) path: &'a str,
    /// The query as the client sent it, without `?`.
    pub(crate) query: &'a str,
    pub(crate) body: &'a Bytes,
}

/// The claim of a request, `None` if it runs without one; or the answer that refuses it.
#[allow(clippy::result_large_err, reason = "it is an answer on its way out, not an error to be handed around")]
pub(crate) fn claim_of(
    settings: &Settings,
    policy: &Policy,
    terms: Terms<()>,
    asked: Asked<'_>,
) -> Result<Option<Claim>, Response> {
    read_claim(settings, policy, terms, asked).map_err(|error| answers::refuse(&error, &settings.form))
}

fn read_claim(
    settings: &Settings,
    policy: &Policy,
    terms: Terms<()>,
    asked: Asked<'_>,
) -> Result<Option<Claim>, Error> {
    let Asked { head, path, query, body } = asked;
    if body.len() > settings.body_limit {
        return Err(Error::BodyTooLarge { limit: settings.body_limit });
    }
    let always = matches!(policy.key, KeySource::Header(_, Need::Always));
    if head.method.is_safe() && !always {
        return Ok(None);
    }
    let key = match policy.key {
        KeySource::Expression => None,
        KeySource::Header(name, need) => match key_of(head, name, settings)? {
            Some(key) => Some(key),
            None if need.asks(&head.method) => return Err(Error::KeyMissing),
            None => return Ok(None),
        },
    };
    let caller = || settings.scope.resolve(head);
    let fingerprint = |value: Option<Vec<u8>>| {
        let boundary = match policy.fingerprint {
            Print::Bytes | Print::Json => boundary_of(&head.headers),
            Print::Nothing | Print::Value => None,
        };
        let content = match (policy.fingerprint, &value, &boundary) {
            (_, Some(value), _) => Content::Value(value),
            (Print::Nothing | Print::Value, None, _) => Content::Nothing,
            (_, None, Some(boundary)) => Content::Multipart { query, boundary, body },
            (Print::Bytes, None, None) => Content::Bytes { query, body },
            (Print::Json, None, None) => Content::Json { query, body },
        };
        Fingerprint::of_request(head.method.as_str(), path, content)
    };
    terms.into_claim(settings, policy, key, caller, fingerprint).map(Some)
}

fn key_of(head: &Parts, name: &'static str, settings: &Settings) -> Result<Option<Key>, Error> {
    let mut lines = head.headers.get_all(name).iter();
    match (lines.next(), lines.count()) {
        (None, _) => Ok(None),
        (Some(value), 0) => {
            let read = match settings.form.profile {
                Profile::Stripe => Key::from_header,
                Profile::Ietf => Key::from_structured,
            };
            Ok(Some(read(value, &settings.key_policy)?))
        }
        (Some(_), more) => Err(KeyError::Several { lines: more + 1 }.into()),
    }
}

/// The key as it was sent, which every answer carries.
pub(crate) fn sent_key(policy: &Policy, head: &Parts) -> Option<(HeaderName, HeaderValue)> {
    let KeySource::Header(name, _) = policy.key else { return None };
    Some((HeaderName::from_static(name), head.headers.get(name)?.clone()))
}
