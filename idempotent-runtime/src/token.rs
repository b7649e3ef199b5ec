//! One-time tokens: issued first, then good for one run of one operation by one caller.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::fingerprint::{boundary_of, form_parts};
use crate::hex::hex;
use crate::key::Key;

/// 256 bits, from the operating system.
const BYTES: usize = 32;
/// Their length in base64 (RFC 4648, section 5) without padding.
const LENGTH: usize = 43;
/// The field of a form that carries a token.
pub(crate) const FIELD: &str = "token";

/// A one-time token, as its holder sends it: 43 characters that are safe in URLs, forms and headers.
///
/// It says nothing, and cannot be guessed: 256 random bits. The database holds its SHA-256, so that whoever reads the table
/// cannot use what is there.
///
/// ```
/// # async fn issue(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
/// let token = engine.issue_token("alice", "checkout", std::time::Duration::from_secs(600)).await?;
/// println!(r#"<input type="hidden" name="token" value="{}">"#, token.as_str());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Logs are read by more people than may use it.
        f.write_str("Token(…)")
    }
}

impl Token {
    /// A fresh one.
    pub(crate) fn generate() -> Result<Self, Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(Error::unavailable)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The token as it is sent.
    ///
    /// ```
    /// # fn show(token: &idempotent_runtime::Token) {
    /// assert_eq!(token.as_str().len(), 43);
    /// # }
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a request has sent; none that could have been issued is an error.
    pub(crate) fn read(sent: &str) -> Result<Self, Error> {
        let is_one = sent.len() == LENGTH && URL_SAFE_NO_PAD.decode(sent).is_ok_and(|bytes| bytes.len() == BYTES);
        if is_one { Ok(Self(sent.to_owned())) } else { Err(Error::TokenInvalid) }
    }

    /// The key of its record.
    pub(crate) fn key(&self) -> Key {
        Key::of_stored(format!("token:{}", hex(&Sha256::digest(self.0.as_bytes()))))
    }

    /// The token of a request: in the header of this name, or in the field `token` of a form. In both only if it is one.
    pub(crate) fn of_request(head: &Parts, header: &str, body: &Bytes) -> Result<Self, Error> {
        let mut lines = head.headers.get_all(header).iter();
        let sent = match (lines.next(), lines.next()) {
            (Some(_), Some(_)) => return Err(Error::TokenInvalid),
            (Some(line), None) => Some(line.to_str().map_err(|_| Error::TokenInvalid)?.to_owned()),
            (None, _) => None,
        };
        let mut fields = fields(head, body).into_iter();
        let token = match (sent, fields.next(), fields.next()) {
            (Some(sent), None, _) | (None, Some(sent), None) => sent,
            (Some(sent), Some(field), None) if sent == field => sent,
            (None, None, _) => return Err(Error::TokenMissing),
            _ => return Err(Error::TokenInvalid),
        };
        Self::read(&token)
    }
}

/// What a form says in its field `token`.
fn fields(head: &Parts, body: &Bytes) -> Vec<String> {
    if let Some(boundary) = boundary_of(&head.headers) {
        return form_parts(body, &boundary, FIELD);
    }
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Vec::new();
    }
    let fields = form_urlencoded::parse(body);
    fields.filter(|(name, _)| name == FIELD).map(|(_, value)| value.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &[&str], kind: &str, body: &'static str) -> Result<String, &'static str> {
        let mut request = http::Request::post("/").header(CONTENT_TYPE, kind);
        for line in header {
            request = request.header("idempotency-token", *line);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let token = Token::of_request(&head, "idempotency-token", &body.into());
        token.map(|token| token.0).map_err(|error| error.code())
    }

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

    #[test]
    fn a_token_is_read_from_a_header_or_from_the_field_of_a_form() {
        let form = "item=book&token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let parts = "--b\r\nContent-Disposition: form-data; name=\"item\"\r\n\r\nbook\r\n--b\r\nContent-Disposition: \
                     form-data; name=\"token\"\r\n\r\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n--b--\r\n";
        assert_eq!(read(&[A], "application/json", "{}").unwrap(), A);
        assert_eq!(read(&[], FORM, form).unwrap(), A);
        assert_eq!(read(&[A], FORM, form).unwrap(), A);
        assert_eq!(read(&[], "multipart/form-data; boundary=b", parts).unwrap(), A);
        assert_eq!(read(&[], "application/json", form), Err("idempotency_token_missing"));
        assert_eq!(read(&[], FORM, "item=book"), Err("idempotency_token_missing"));
    }

    #[test]
    fn what_cannot_have_been_issued_is_refused() {
        let form = "token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let twice =
            "token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        for (header, body) in [
            (&[B][..], form),
            (&[A, A], ""),
            (&[], twice),
            (&[""], ""),
            (&["AAAA"], ""),
            (&["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"], ""),
            (&["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="], ""),
            (&["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+/"], ""),
        ] {
            assert_eq!(read(header, FORM, body), Err("idempotency_token_invalid"), "{header:?} {body}");
        }
    }

    #[test]
    fn tokens_are_long_random_and_not_what_is_stored() {
        let (one, two) = (Token::generate().unwrap(), Token::generate().unwrap());
        assert_ne!(one.0, two.0);
        assert_eq!(Token::read(one.as_str()).unwrap().key(), one.key());
        assert_ne!(one.key(), two.key());
        assert!(!one.key().as_str().contains(one.as_str()));
        assert_eq!(format!("{one:?}"), "Token(…)");
    }
}
