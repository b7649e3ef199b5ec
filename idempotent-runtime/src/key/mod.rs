//! The key: the caller's name for one logical operation.

mod field;
#[cfg(test)]
mod vectors;

use http::HeaderValue;

use crate::key_part::{KeyPart, storable};
use crate::key_policy::KeyPolicy;

/// The longest key that is stored as it is, in bytes.
///
/// ```
/// use idempotent_runtime::{Key, MAX_KEY_BYTES};
///
/// assert!(Key::natural(&"k".repeat(300)).unwrap().as_str().len() <= MAX_KEY_BYTES);
/// ```
pub const MAX_KEY_BYTES: usize = 255;

/// A checked key, 1 to 255 bytes.
///
/// ```
/// use idempotent_runtime::{Key, KeyPolicy};
///
/// let key = Key::from_header(
///     &http::HeaderValue::from_static("\"8e03978e-40d5-43e8-bc93-6894a57f9324\""),
///     &KeyPolicy::default(),
/// ).unwrap();
/// assert_eq!(key.as_str(), "8e03978e-40d5-43e8-bc93-6894a57f9324");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// Reads a key as a client sends it: bare (visible ASCII without comma, quote or space) or one string of
    /// RFC 8941 / RFC 9651 (`"…"`, whose parameters are ignored). Both forms name one key.
    pub fn from_header(value: &HeaderValue, policy: &KeyPolicy) -> Result<Self, KeyError> {
        Self::sent(field::either(value)?, policy)
    }

    /// Reads a key as the IETF's draft has it sent: one string of RFC 9651, strictly. Its parameters are ignored; a bare
    /// key is refused.
    ///
    /// ```
    /// # use http::HeaderValue;
    /// # use idempotent_runtime::{Key, KeyPolicy};
    /// let read = |text| Key::from_structured(&HeaderValue::from_static(text), &KeyPolicy::default());
    /// assert_eq!(read("\"idem_f47a\";v=1").unwrap().as_str(), "idem_f47a");
    /// assert!(read("idem_f47a").is_err());
    /// ```
    pub fn from_structured(value: &HeaderValue, policy: &KeyPolicy) -> Result<Self, KeyError> {
        Self::sent(field::string(value)?, policy)
    }

    fn sent(key: String, policy: &KeyPolicy) -> Result<Self, KeyError> {
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        if key.len() > MAX_KEY_BYTES {
            return Err(KeyError::TooLong { bytes: key.len() });
        }
        policy.check(&key)?;
        Ok(Self(key))
    }

    /// Makes a key of values that already name the operation: an event's id, `(user.id, post.id)`.
    ///
    /// What cannot be stored as it is (more than 255 bytes, or with a zero byte) becomes its SHA-256.
    ///
    /// ```
    /// use idempotent_runtime::Key;
    ///
    /// assert_eq!(Key::natural(&42).unwrap().as_str(), "42");
    /// assert_eq!(Key::natural(&("ab", 7)).unwrap().as_str(), "2:ab1:7");
    /// ```
    pub fn natural(value: &(impl KeyPart + ?Sized)) -> Result<Self, KeyError> {
        storable(value).map(Self).ok_or(KeyError::Empty)
    }

    /// A key that was stored before.
    pub(crate) fn of_stored(key: String) -> Self {
        Self(key)
    }

    /// The key as it is stored.
    ///
    /// ```
    /// # use idempotent_runtime::Key;
    /// assert_eq!(Key::natural("evt_1").unwrap().as_str(), "evt_1");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a key was refused. Nothing is stored then.
///
/// ```
/// use idempotent_runtime::{Key, KeyError, KeyPolicy};
///
/// let refused = Key::from_header(&http::HeaderValue::from_static("a,b"), &KeyPolicy::default());
/// assert!(matches!(refused, Err(KeyError::Malformed { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Nothing but blanks, or `""`.
    #[error("the key is empty; send a fresh UUID for each operation")]
    Empty,
    /// Bytes outside visible ASCII.
    #[error("the key has characters outside visible ASCII; send a fresh UUID for each operation")]
    NotAscii,
    /// Neither a bare key nor one structured-field string.
    #[error("the key is malformed ({reason}); send one key without comma, quote or space, or one quoted string")]
    Malformed {
        /// What was found.
        reason: String,
    },
    /// No string of RFC 9651, where nothing else is accepted.
    #[error("the key is no string of RFC 9651 ({reason}); send one key in double quotes")]
    NotString {
        /// What was found.
        reason: String,
    },
    /// Two header lines.
    #[error("the header was sent {lines} times; send one key")]
    Several {
        /// How many lines there were.
        lines: usize,
    },
    /// Fewer bytes than the policy wants.
    #[error("the key is too short; send at least {min} characters, best a fresh UUID")]
    TooShort {
        /// The fewest bytes accepted.
        min: usize,
    },
    /// More than [`MAX_KEY_BYTES`].
    #[error("the key has {bytes} bytes; send at most 255")]
    TooLong {
        /// How many bytes it has.
        bytes: usize,
    },
    /// Looks like an e-mail address.
    #[error("the key looks like personal data; send a fresh UUID for each operation")]
    Personal,
    /// Has room for fewer than 128 bits, or a pattern.
    #[error("the key is too easy to guess; send a fresh UUID for each operation")]
    Guessable,
    /// The service's own rule refuses it ([`KeyPolicy::with`]).
    #[error("the key is not accepted: {reason}")]
    Refused {
        /// What the rule says.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<String, KeyError> {
        Key::from_header(&HeaderValue::from_bytes(bytes).unwrap(), &KeyPolicy::default()).map(|key| key.0)
    }

    #[test]
    fn an_empty_key_is_refused() {
        for empty in ["", " ", "\t ", "\"\""] {
            assert_eq!(read(empty.as_bytes()), Err(KeyError::Empty), "{empty:?}");
        }
    }

    #[test]
    fn length_is_counted_in_bytes_after_decoding() {
        assert!(read(&[b'k'; 255]).is_ok());
        assert_eq!(read(&[b'k'; 256]), Err(KeyError::TooLong { bytes: 256 }));
        let escaped = format!("\"{}\"", "\\\"".repeat(255));
        assert_eq!(read(escaped.as_bytes()).unwrap().len(), 255);
        assert_eq!(read(b"1234567"), Err(KeyError::TooShort { min: 8 }));
    }

    #[test]
    fn a_quoted_key_and_a_bare_key_are_one() {
        assert_eq!(read(b"\"abc-12345\""), read(b"abc-12345"));
        assert_eq!(read(b"  \"abc-12345\";a=1;b "), read(b"abc-12345"));
        assert_eq!(read(br#""a \"quoted\" key""#).unwrap(), "a \"quoted\" key");
    }

    #[test]
    fn a_list_is_not_a_key() {
        for list in [
            "first-key,second-key",
            "\"first-key\", \"second-key\"",
            "\"open-ended",
            "\"bad \\n escape\"",
            "a key with spaces",
        ] {
            assert!(matches!(read(list.as_bytes()), Err(KeyError::Malformed { .. })), "{list}");
        }
        assert_eq!(read(b"caf\xc3\xa9-caf\xc3\xa9"), Err(KeyError::NotAscii));
    }

    #[test]
    fn a_natural_key_that_cannot_be_stored_is_hashed() {
        let long = "x".repeat(256);
        let hashed = Key::natural(&long).unwrap();
        assert_eq!(hashed.as_str().len(), 71);
        assert_ne!(hashed, Key::natural(&"x".repeat(257)).unwrap());
        assert_ne!(Key::natural(hashed.as_str()).unwrap(), hashed, "a digest cannot be named");
        assert!(Key::natural("with\0zero").unwrap().as_str().starts_with("sha256:"));
        assert_eq!(Key::natural(""), Err(KeyError::Empty));
    }

    proptest! {
        #[test]
        fn every_bare_key_reads_as_itself(key in "[!#-+\\--~]{8,255}") {
            prop_assert_eq!(read(key.as_bytes()).unwrap(), key);
        }

        #[test]
        fn every_quoted_key_reads_as_what_was_quoted(key in "[ -~]{8,255}") {
            let quoted = format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""));
            prop_assert_eq!(read(quoted.as_bytes()).unwrap(), key);
        }

        #[test]
        fn no_header_makes_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let _ = Key::from_header(&value, &KeyPolicy::default());
            }
        }

        #[test]
        fn different_tuples_have_different_keys(a in ".{0,6}", b in ".{0,6}", c in ".{0,6}", d in ".{0,6}") {
            let same = Key::natural(&(&a, &b)) == Key::natural(&(&c, &d));
            prop_assert_eq!(same, (a, b) == (c, d));
        }
    }
}
