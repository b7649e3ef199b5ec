//! What is read of a request: its key, and with it its claim.

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::request::Parts;
#[cfg(any(feature = "axum", feature = "tower"))]
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};

use super::{Response, answers};
use crate::claim::Claim;
use crate::error::Error;
use crate::fingerprint::{Content, Fingerprint, boundary_of};
use crate::key::{Key, KeyError};
use crate::settings::{Profile, Settings};
use crate::terms::{KeySource, Need, Policy, Print, Terms};
use crate::token::Token;

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
    if runs_unclaimed(policy, head) {
        return Ok(None);
    }
    let key = match policy.key {
        KeySource::Expression => None,
        KeySource::Token(name, _) => Some(Token::of_request(head, name, body)?.key()),
        KeySource::Header(name, _) => {
            refuse_second_claim(name, head)?;
            Some(key_of(head, name, settings)?.ok_or(Error::KeyMissing)?)
        }
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

/// Whether a request runs without a claim: a safe method, or no key where none is needed.
pub(crate) fn runs_unclaimed(policy: &Policy, head: &Parts) -> bool {
    match policy.key {
        KeySource::Header(_, Need::Always) => false,
        _ if head.method.is_safe() => true,
        KeySource::Header(name, need) => !head.headers.contains_key(name) && !need.asks(&head.method),
        KeySource::Expression | KeySource::Token(..) => false,
    }
}

/// In the extensions of a request: a layer around has claimed the key of this header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimed(pub(crate) &'static str);

/// Two claims of one key would wait for each other.
fn refuse_second_claim(name: &str, head: &Parts) -> Result<(), Error> {
    match head.extensions.get::<Claimed>() {
        Some(Claimed(by)) if by.eq_ignore_ascii_case(name) => Err(Error::misconfigured(format!(
            "`{}` is claimed twice, by an idempotency layer and by what is inside it; take the route out of the layer with `.except(…)`, or remove `#[idempotent]`",
            head.uri.path()
        ))),
        _ => Ok(()),
    }
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
    Some((HeaderName::from_bytes(name.as_bytes()).ok()?, head.headers.get(name)?.clone()))
}

/// The whole body if it is no longer than `limit`.
#[cfg(any(feature = "axum", feature = "tower"))]
pub(crate) async fn read<B>(body: B, limit: usize) -> Result<Bytes, Error>
where
    B: http_body::Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    Limited::new(body, limit).collect().await.map(Collected::to_bytes).map_err(|error| {
        let error: &(dyn std::error::Error + 'static) = &*error;
        let mut causes = std::iter::successors(Some(error), |error| error.source());
        match causes.any(<dyn std::error::Error + 'static>::is::<LengthLimitError>) {
            true => Error::BodyTooLarge { limit },
            false => Error::BodyUnreadable,
        }
    })
}
