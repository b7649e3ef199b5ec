//! The answer: what is stored of a run, and given back to every repeat.

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};

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

/// Which headers are stored with an answer: all but those that belong to one connection, one moment or one caller.
///
/// ```
/// use http::header::{HeaderName, LINK, SET_COOKIE};
/// use idempotent_runtime::StoredHeaders;
///
/// let headers = StoredHeaders::default().allow(&SET_COOKIE).deny(HeaderName::from_static("x-trace-id"));
/// assert!(headers.stores(&SET_COOKIE) && headers.stores(&LINK));
/// ```
#[derive(Debug, Clone)]
pub struct StoredHeaders {
    denied: Vec<HeaderName>,
}

impl Default for StoredHeaders {
    /// Without `Set-Cookie`, `WWW-Authenticate`, `Authorization`, `Date`, `Server`, `Content-Length`,
    /// `Transfer-Encoding` and the hop-by-hop headers of RFC 9110, section 7.6.1.
    fn default() -> Self {
        use http::header as h;
        let denied = vec![
            h::SET_COOKIE,
            h::WWW_AUTHENTICATE,
            h::AUTHORIZATION,
            h::DATE,
            h::SERVER,
            h::CONTENT_LENGTH,
            h::TRANSFER_ENCODING,
            h::CONNECTION,
            HeaderName::from_static("keep-alive"),
            HeaderName::from_static("proxy-connection"),
            h::PROXY_AUTHENTICATE,
            h::PROXY_AUTHORIZATION,
            h::TE,
            h::TRAILER,
            h::UPGRADE,
        ];
        Self { denied }
    }
}

impl StoredHeaders {
    /// Stores this header too.
    ///
    /// ```
    /// # use idempotent_runtime::StoredHeaders;
    /// assert!(StoredHeaders::default().allow(&http::header::SERVER).stores(&http::header::SERVER));
    /// ```
    #[must_use]
    pub fn allow(mut self, name: &HeaderName) -> Self {
        self.denied.retain(|denied| denied != name);
        self
    }

    /// Never stores this header.
    ///
    /// ```
    /// # use idempotent_runtime::StoredHeaders;
    /// assert!(!StoredHeaders::default().deny(http::header::ETAG).stores(&http::header::ETAG));
    /// ```
    #[must_use]
    pub fn deny(mut self, name: HeaderName) -> Self {
        self.denied.push(name);
        self
    }

    /// Whether this header is stored.
    ///
    /// ```
    /// # use idempotent_runtime::StoredHeaders;
    /// assert!(!StoredHeaders::default().stores(&http::header::SET_COOKIE));
    /// ```
    #[must_use]
    pub fn stores(&self, name: &HeaderName) -> bool {
        !self.denied.contains(name)
    }

    /// The headers that are stored, and none that a `Connection` header names.
    pub(crate) fn select(&self, headers: &HeaderMap) -> HeaderMap {
        let named: Vec<_> = headers
            .get_all(http::header::CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        let mut stored = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            if self.stores(name) && !named.iter().any(|hop| hop == name.as_str()) {
                stored.append(name.clone(), value.clone());
            }
        }
        stored
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
    fn what_belongs_to_one_connection_is_not_stored() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("date", "now"),
            ("content-length", "2"),
            ("transfer-encoding", "chunked"),
            ("set-cookie", "a=1"),
            ("etag", "\"1\""),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let stored = StoredHeaders::default().select(&headers);
        assert_eq!(stored.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["etag"]);
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
