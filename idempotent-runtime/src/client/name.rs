//! What a call is known by: its key, and where it has an id, what the journal says of that.

use http::header::{HeaderName, HeaderValue};
use reqwest::Request;
use uuid::Uuid;

use super::error::CallError;
use super::idempotent_client::IdempotentClient;
use super::journal::Entry;
use crate::fingerprint::{Content, Fingerprint};
use crate::hex::hex;
use crate::key::{Key, KeyError};
use crate::key_policy::KeyPolicy;

/// The key of a call.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) key: String,
    /// Whether it may have gone out before.
    pub(super) in_doubt: bool,
}

impl Name {
    /// The key that the journal knows, the one that the caller gives, or a new one, in this order. With an id it is
    /// written down when this returns.
    pub(super) async fn of(
        client: &IdempotentClient,
        request: &Request,
        given: Option<String>,
        id: Option<&str>,
    ) -> Result<Self, CallError> {
        let given = match (given, key_in_header(request, &client.key_header)?) {
            (Some(key), Some(header)) if key != header => return Err(CallError::TwoKeys { key, header }),
            (key, header) => key.or(header),
        };
        let body = request.body().map(|body| body.as_bytes().ok_or(CallError::Streaming)).transpose()?;
        let in_doubt = given.is_some();
        let key = given.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        // Before it is written down: what cannot be sent must not be remembered.
        header_value(client, &key)?;
        let Some(id) = id else { return Ok(Self { key, in_doubt }) };

        let journal = client.journal.as_ref().ok_or_else(|| CallError::NoJournal { id: id.to_owned() })?;
        let entry = Entry { key, fingerprint: fingerprint(request, body.unwrap_or_default()) };
        match journal.begin(id, entry.clone()).await.map_err(CallError::Journal)? {
            None => Ok(Self { key: entry.key, in_doubt }),
            Some(known) if known.fingerprint == entry.fingerprint && given.is_none_or(|key| key == known.key) => {
                Ok(Self { key: known.key, in_doubt: true })
            }
            Some(_) => Err(CallError::OtherRequest { id: id.to_owned() }),
        }
    }

    /// Puts the key into the request's header, where the caller has not.
    pub(super) fn write(&self, client: &IdempotentClient, request: &mut Request) -> Result<(), CallError> {
        let value = header_value(client, &self.key)?;
        request.headers_mut().entry(&client.key_header).or_insert(value);
        Ok(())
    }
}

/// The key that the caller has put into the header by hand.
fn key_in_header(request: &Request, header: &HeaderName) -> Result<Option<String>, KeyError> {
    let lines = request.headers().get_all(header).iter().count();
    if lines > 1 {
        return Err(KeyError::Several { lines });
    }
    let value = request.headers().get(header);
    value.map(|value| Ok(Key::from_header(value, &any_length())?.as_str().to_owned())).transpose()
}

/// A key as it is sent, if a server of this toolkit could read it.
fn header_value(client: &IdempotentClient, key: &str) -> Result<HeaderValue, KeyError> {
    let value = HeaderValue::from_str(&client.key_form.write(key)).map_err(|_| KeyError::NotAscii)?;
    Key::from_header(&value, &any_length())?;
    Ok(value)
}

/// How long a key has to be is for the server to say.
fn any_length() -> KeyPolicy {
    KeyPolicy::default().min_length(1)
}

/// What tells one request from another: what the server itself compares. Headers do not count, since a token may have been
/// refreshed, nor does the host, since the service may have moved.
fn fingerprint(request: &Request, body: &[u8]) -> String {
    let content = Content::Bytes { query: request.url().query().unwrap_or_default(), body };
    hex(Fingerprint::of_request(request.method().as_str(), request.url().path(), content).as_bytes())
}
