//! The fingerprint: SHA-256 of what was asked.

mod json;
mod multipart;

pub(crate) use multipart::{boundary_of, form_parts};

use sha2::{Digest, Sha256};

/// Bytes of a stored fingerprint: one for the version of the algorithm, 32 of SHA-256.
const BYTES: usize = 33;
/// Raised when the encoding below changes, so that answers stored before an upgrade are told apart.
const VERSION: u8 = 1;

/// What was asked, in 33 bytes: two requests under one key are the same request if these are equal.
///
/// ```
/// use idempotent_runtime::{Content, Fingerprint};
///
/// let ten = Fingerprint::of_request("POST", "/orders", Content::Bytes { query: "", body: b"10" });
/// let twenty = Fingerprint::of_request("POST", "/orders", Content::Bytes { query: "", body: b"20" });
/// assert_ne!(ten, twenty);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; BYTES]);

/// The part of a request, beside method and path, that tells it from another.
///
/// ```
/// # use idempotent_runtime::{Content, Fingerprint};
/// let a = Fingerprint::of_request("PUT", "/a", Content::Nothing);
/// let b = Fingerprint::of_request("PUT", "/b", Content::Nothing);
/// assert_ne!(a, b, "method and path always count");
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Query string and body as they were sent (`fingerprint = bytes`).
    Bytes {
        /// The query string, without `?`.
        query: &'a str,
        /// The body.
        body: &'a [u8],
    },
    /// The query string as it was sent, and what the body says as JSON (`fingerprint = json`): the order of members,
    /// white space and escapes in strings do not count. The order of items does, and numbers count as they are written,
    /// so that `1.0` is not `1`. A body that is no JSON, that is nested deeper than 128 levels, or that has an object
    /// with two members of one name (of which one reader takes the first and another the last) counts byte by byte, as
    /// [`Bytes`](Self::Bytes).
    Json {
        /// The query string, without `?`.
        query: &'a str,
        /// The body.
        body: &'a [u8],
    },
    /// The query string as it was sent, and the parts of a `multipart/form-data` body: head and content of each, byte by
    /// byte and in order, but not the boundary, which clients draw anew for every attempt. A body that is not exactly a
    /// list of parts counts as [`Bytes`](Self::Bytes).
    Multipart {
        /// The query string, without `?`.
        query: &'a str,
        /// What stands between two parts, as `Content-Type` names it.
        boundary: &'a str,
        /// The body.
        body: &'a [u8],
    },
    /// A value of the handler's own choice, serialised (`fingerprint = expression`).
    Value(&'a [u8]),
    /// Only method and path count (`fingerprint = none`).
    Nothing,
}

impl Fingerprint {
    /// Nothing was asked that could differ: the default of plain functions, whose key says it all.
    ///
    /// ```
    /// # use idempotent_runtime::{Content, Fingerprint};
    /// assert_ne!(Fingerprint::NONE, Fingerprint::of_value(b""));
    /// ```
    pub const NONE: Self = Self([0; BYTES]);

    /// Nothing was asked yet: that of a [token](crate::Token) which was issued and not used. Stored as no bytes.
    ///
    /// ```
    /// # use idempotent_runtime::Fingerprint;
    /// assert_ne!(Fingerprint::UNASKED, Fingerprint::NONE);
    /// ```
    pub const UNASKED: Self = Self([u8::MAX - 1; BYTES]);

    /// The fingerprint of an HTTP request. `path` is the one the client sent, before any router took a prefix off.
    ///
    /// ```
    /// # use idempotent_runtime::{Content, Fingerprint};
    /// let print = Fingerprint::of_request("POST", "/orders", Content::Nothing);
    /// assert_eq!(print, Fingerprint::of_request("POST", "/orders", Content::Nothing));
    /// ```
    #[must_use]
    pub fn of_request(method: &str, path: &str, content: Content<'_>) -> Self {
        let (method, path) = (method.as_bytes(), path.as_bytes());
        let bytes = |query: &str, body| digest(b"bytes", &[method, path, query.as_bytes(), body]);
        match content {
            Content::Bytes { query, body } => bytes(query, body),
            Content::Json { query, body } => match json::canonical(body) {
                Some(json) => digest(b"json", &[method, path, query.as_bytes(), &json]),
                None => bytes(query, body),
            },
            Content::Multipart { query, boundary, body } => match multipart::parts(body, boundary) {
                Some(parts) => {
                    let asked = [method, path, query.as_bytes()];
                    digest(b"parts", &[&asked[..], &parts].concat())
                }
                None => bytes(query, body),
            },
            Content::Value(value) => digest(b"value", &[method, path, value]),
            Content::Nothing => digest(b"none", &[method, path]),
        }
    }

    /// The fingerprint of a plain function's serialised arguments.
    ///
    /// ```
    /// # use idempotent_runtime::Fingerprint;
    /// assert_ne!(Fingerprint::of_value(b"10"), Fingerprint::of_value(b"20"));
    /// ```
    #[must_use]
    pub fn of_value(value: &[u8]) -> Self {
        digest(b"plain", &[value])
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A stored fingerprint; one of another length equals none that this version makes.
    pub(crate) fn from_stored(stored: &[u8]) -> Self {
        match stored {
            [] => Self::UNASKED,
            stored => Self(stored.try_into().unwrap_or([u8::MAX; BYTES])),
        }
    }
}

/// Every part goes in with its length, so that no two lists of parts are the same bytes.
fn digest(kind: &[u8], parts: &[&[u8]]) -> Fingerprint {
    let mut hash = Sha256::new();
    for part in std::iter::once(&kind).chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut bytes = [VERSION; BYTES];
    bytes[1..].copy_from_slice(&hash.finalize());
    Fingerprint(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(method: &str, path: &str, query: &str, body: &[u8]) -> Fingerprint {
        Fingerprint::of_request(method, path, Content::Bytes { query, body })
    }

    #[test]
    fn a_query_parameter_more_is_another_request() {
        assert_ne!(bytes("POST", "/orders", "dry_run=1", b"{}"), bytes("POST", "/orders", "", b"{}"));
    }

    #[test]
    fn a_body_that_is_no_json_and_no_parts_counts_byte_by_byte() {
        for body in ["name=value", r#"{"a":1,"a":2}"#, "{"] {
            let body = body.as_bytes();
            let json = Fingerprint::of_request("POST", "/", Content::Json { query: "", body });
            let parts = Fingerprint::of_request("POST", "/", Content::Multipart { query: "", boundary: "x", body });
            assert_eq!(json, bytes("POST", "/", "", body));
            assert_eq!(parts, bytes("POST", "/", "", body));
        }
    }

    #[test]
    fn i37_the_query_counts_whatever_the_body_is() {
        let json = |query| Fingerprint::of_request("POST", "/", Content::Json { query, body: b"{}" });
        let parts = |query| {
            let content = Content::Multipart { query, boundary: "x", body: b"--x--" };
            Fingerprint::of_request("POST", "/", content)
        };
        assert_ne!(json("dry_run=1"), json(""));
        assert_ne!(parts("dry_run=1"), parts(""));
    }

    #[test]
    fn the_boundary_does_not_count_and_everything_in_the_parts_does() {
        let print = |boundary: &str, part: &str| {
            let body = format!("--{boundary}\r\n{part}\r\n--{boundary}--\r\n");
            Fingerprint::of_request("POST", "/", Content::Multipart { query: "", boundary, body: body.as_bytes() })
        };
        let part = "Content-Disposition: form-data; name=\"a\"; filename=\"f\"\r\nContent-Type: text/plain\r\n\r\n10";
        assert_eq!(print("drawn-once", part), print("drawn-again", part));
        for (from, to) in [("\"a\"", "\"b\""), ("\"f\"", "\"g\""), ("plain", "html"), ("10", "20")] {
            assert_ne!(print("x", part), print("x", &part.replace(from, to)), "{to}");
        }
    }

    #[test]
    fn a_value_a_body_and_an_argument_are_never_confused() {
        let all = [
            bytes("POST", "/", "", b""),
            bytes("POST", "/", "", b"{}"),
            bytes("POST", "/", "", b"--x--"),
            Fingerprint::of_request("POST", "/", Content::Json { query: "", body: b"{}" }),
            Fingerprint::of_request("POST", "/", Content::Multipart { query: "", boundary: "x", body: b"--x--" }),
            Fingerprint::of_request("POST", "/", Content::Value(b"")),
            Fingerprint::of_request("POST", "/", Content::Nothing),
            Fingerprint::of_value(b""),
            Fingerprint::NONE,
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn a_stored_fingerprint_reads_back() {
        let print = bytes("POST", "/orders", "", b"{}");
        assert_eq!(Fingerprint::from_stored(print.as_bytes()), print);
        assert_ne!(Fingerprint::from_stored(b"short"), print);
    }

    proptest! {
        #[test]
        fn a_byte_moved_between_parts_is_another_request(a in "[a-z/]{1,8}", b in "[a-z/]{1,8}", body in ".{0,8}") {
            let joined = format!("{a}{b}");
            prop_assert_ne!(bytes("POST", &joined, "", body.as_bytes()), bytes("POST", &a, &b, body.as_bytes()));
            prop_assert_ne!(bytes("POST", &a, &joined, b""), bytes("POST", &a, "", joined.as_bytes()));
        }
    }
}
