//! The answer: what is stored of a run, and given back to every repeat.

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};

/// Marks an answer that is given back, not made.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A stored answer: status, headers and body of a response, or the serialised result of a plain function.
///
/// ```
/// use idempotent_runtime::Answer;
///
/// let answer = Answer::new(http::StatusCode::CREATED, http::HeaderMap::new(), "{}".into());
/// assert_eq!(answer.status, 201);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The status; 200 for the result of a plain function.
    pub status: StatusCode,
    /// The headers that are replayed, all values in order.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Bytes,
}

impl Answer {
    /// An answer of these parts.
    ///
    /// ```
    /// # use idempotent_runtime::Answer;
    /// let empty = Answer::new(http::StatusCode::NO_CONTENT, http::HeaderMap::new(), "".into());
    /// assert!(empty.body.is_empty());
    /// ```
    #[must_use]
    pub fn new(status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self { status, headers, body }
    }

    /// The result of a plain function, as it is stored; for a handler, an answer of 200 with this JSON body.
    ///
    /// ```
    /// # use idempotent_runtime::Answer;
    /// assert_eq!(Answer::of(&[1, 2]).unwrap().body, "[1,2]");
    /// ```
    pub fn of(value: &(impl serde::Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        let mut answer = Self::of_value(serde_json::to_vec(value)?);
        answer.headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(answer)
    }

    /// The result of a plain function.
    pub(crate) fn of_value(body: Vec<u8>) -> Self {
        Self::new(StatusCode::OK, HeaderMap::new(), body.into())
    }
}

/// Writes headers as the lines of an HTTP/1 head: readable in a database shell, and byte-exact, since no value may
/// hold a line break.
pub(crate) fn write_headers(headers: &HeaderMap) -> Vec<u8> {
    let mut lines = Vec::new();
    for (name, value) in headers {
        lines.extend_from_slice(name.as_str().as_bytes());
        lines.extend_from_slice(b": ");
        lines.extend_from_slice(value.as_bytes());
        lines.extend_from_slice(b"\r\n");
    }
    lines
}

/// Reads what [`write_headers`] wrote; `None` if somebody else wrote it.
pub(crate) fn read_headers(mut lines: &[u8]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    while !lines.is_empty() {
        let end = lines.windows(2).position(|pair| pair == b"\r\n")?;
        let line = &lines[..end];
        let colon = line.windows(2).position(|pair| pair == b": ")?;
        headers.append(HeaderName::from_bytes(&line[..colon]).ok()?, HeaderValue::from_bytes(&line[colon + 2..]).ok()?);
        lines = &lines[end + 2..];
    }
    Some(headers)
}

/// Which answers are kept (`store = …`). What is not kept releases the key, so that a retry runs again.
///
/// ```
/// use http::StatusCode;
/// use idempotent_runtime::Keep;
///
/// assert!(Keep::Default.keeps(StatusCode::UNPROCESSABLE_ENTITY));
/// assert!(!Keep::Default.keeps(StatusCode::TOO_MANY_REQUESTS));
/// assert!(!Keep::Success.keeps(StatusCode::UNPROCESSABLE_ENTITY));
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Keep {
    /// 2xx, 3xx, and 4xx except 401, 403, 408, 409, 425 and 429, which may be right a moment later.
    Default,
    /// 2xx and 3xx.
    Success,
    /// Everything, server errors too.
    All,
    /// As the function says.
    By(fn(StatusCode) -> bool),
}

impl Keep {
    /// Whether an answer of this status is kept.
    ///
    /// ```
    /// # use idempotent_runtime::Keep;
    /// assert!(Keep::All.keeps(http::StatusCode::INTERNAL_SERVER_ERROR));
    /// ```
    #[must_use]
    pub fn keeps(self, status: StatusCode) -> bool {
        match self {
            Self::Default => match status.as_u16() {
                401 | 403 | 408 | 409 | 425 | 429 => false,
                code => (200..500).contains(&code),
            },
            Self::Success => (200..400).contains(&status.as_u16()),
            Self::All => true,
            Self::By(rule) => rule(status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn several_values_of_a_header_keep_their_order() {
        let mut headers = HeaderMap::new();
        for link in ["<1>", "<2>", "<3>"] {
            headers.append("link", HeaderValue::from_static(link));
        }
        let read = read_headers(&write_headers(&headers)).unwrap();
        assert_eq!(read.get_all("link").iter().collect::<Vec<_>>(), ["<1>", "<2>", "<3>"]);
    }

    #[test]
    fn headers_that_somebody_else_wrote_are_noticed() {
        for foreign in ["no line end", "no colon\r\n", "bad name \u{e4}: x\r\n"] {
            assert_eq!(read_headers(foreign.as_bytes()), None, "{foreign:?}");
        }
    }

    #[test]
    fn the_default_classes_are_those_of_the_design() {
        let kept: Vec<u16> =
            (100..600).filter(|code| Keep::Default.keeps(StatusCode::from_u16(*code).unwrap())).collect();
        let expected: Vec<u16> = (200..500).filter(|code| ![401, 403, 408, 409, 425, 429].contains(code)).collect();
        assert_eq!(kept, expected);
    }

    proptest! {
        #[test]
        fn every_header_value_reads_back_byte_for_byte(values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..6)) {
            let mut headers = HeaderMap::new();
            for (n, value) in values.iter().enumerate() {
                if let Ok(value) = HeaderValue::from_bytes(value) {
                    headers.append(HeaderName::from_bytes(format!("x-{}", n % 2).as_bytes()).unwrap(), value);
                }
            }
            prop_assert_eq!(read_headers(&write_headers(&headers)).unwrap(), headers);
        }
    }
}
