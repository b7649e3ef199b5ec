//! Which headers are stored with an answer.

use http::header::{self as h, HeaderMap, HeaderName, HeaderValue};

/// Which headers are stored with an answer: all but those that belong to one connection, one moment or one caller; or
/// those of a list.
///
/// ```
/// use http::header::{CONTENT_TYPE, HeaderName, LINK, LOCATION, SET_COOKIE};
/// use idempotent_runtime::StoredHeaders;
///
/// let headers = StoredHeaders::default().cookie("theme").deny(HeaderName::from_static("x-trace-id"));
/// assert!(headers.stores(&SET_COOKIE) && headers.stores(&LINK));
///
/// let headers = StoredHeaders::only([CONTENT_TYPE, LOCATION]);
/// assert!(headers.stores(&LOCATION) && !headers.stores(&LINK));
/// ```
#[derive(Debug, Clone)]
pub struct StoredHeaders {
    names: Names,
    /// The cookies that are stored, if `Set-Cookie` is not as a whole.
    cookies: Vec<String>,
}

#[derive(Debug, Clone)]
enum Names {
    AllBut(Vec<HeaderName>),
    Only(Vec<HeaderName>),
}

impl Default for StoredHeaders {
    /// Without `Set-Cookie`, `WWW-Authenticate`, `Authorization`, `Date`, `Server`, `Content-Length`,
    /// `Transfer-Encoding` and the hop-by-hop headers of RFC 9110, section 7.6.1.
    fn default() -> Self {
        let denied = [h::SET_COOKIE, h::WWW_AUTHENTICATE, h::AUTHORIZATION, h::DATE, h::SERVER];
        Self { names: Names::AllBut(denied.into_iter().chain(of_one_connection()).collect()), cookies: Vec::new() }
    }
}

/// What the server makes anew for each connection.
fn of_one_connection() -> [HeaderName; 10] {
    [
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
    ]
}

impl StoredHeaders {
    /// These, and no others. What belongs to one connection (`Content-Length`, `Transfer-Encoding`, hop-by-hop) is left
    /// out of the list: a replay has its own.
    ///
    /// ```
    /// # use idempotent_runtime::StoredHeaders;
    /// let headers = StoredHeaders::only([http::header::CONTENT_TYPE, http::header::CONTENT_LENGTH]);
    /// assert!(headers.stores(&http::header::CONTENT_TYPE) && !headers.stores(&http::header::CONTENT_LENGTH));
    /// ```
    #[must_use]
    pub fn only(names: impl IntoIterator<Item = HeaderName>) -> Self {
        let hops = of_one_connection();
        let names = names.into_iter().filter(|name| !hops.contains(name)).collect();
        Self { names: Names::Only(names), cookies: Vec::new() }
    }

    /// Stores this header too. `Set-Cookie` with every cookie: one that says who the caller is would be given to whoever
    /// repeats the request; see [`cookie`](Self::cookie).
    ///
    /// ```
    /// # use idempotent_runtime::StoredHeaders;
    /// assert!(StoredHeaders::default().allow(&http::header::SERVER).stores(&http::header::SERVER));
    /// ```
    #[must_use]
    pub fn allow(mut self, name: &HeaderName) -> Self {
        match &mut self.names {
            Names::AllBut(denied) => denied.retain(|denied| denied != name),
            Names::Only(names) => names.push(name.clone()),
        }
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
        if name == h::SET_COOKIE {
            self.cookies.clear();
        }
        match &mut self.names {
            Names::AllBut(denied) => denied.push(name),
            Names::Only(names) => names.retain(|allowed| *allowed != name),
        }
        self
    }

    /// Stores the `Set-Cookie` headers of the cookie of this name (RFC 6265, section 4.1: case counts), and of no other.
    ///
    /// ```
    /// # use idempotent_runtime::StoredHeaders;
    /// assert!(StoredHeaders::default().cookie("theme").stores(&http::header::SET_COOKIE));
    /// ```
    #[must_use]
    pub fn cookie(mut self, name: impl Into<String>) -> Self {
        self.cookies.push(name.into());
        self
    }

    /// Whether this header is stored; of `Set-Cookie`, whether any is.
    ///
    /// ```
    /// # use idempotent_runtime::StoredHeaders;
    /// assert!(!StoredHeaders::default().stores(&http::header::SET_COOKIE));
    /// ```
    #[must_use]
    pub fn stores(&self, name: &HeaderName) -> bool {
        self.names(name) || (*name == h::SET_COOKIE && !self.cookies.is_empty())
    }

    fn names(&self, name: &HeaderName) -> bool {
        match &self.names {
            Names::AllBut(denied) => !denied.contains(name),
            Names::Only(names) => names.contains(name),
        }
    }

    fn stores_value(&self, name: &HeaderName, value: &HeaderValue) -> bool {
        let listed = || {
            let bytes = value.as_bytes();
            let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(0);
            let cookie = bytes[..end].trim_ascii();
            self.cookies.iter().any(|name| name.as_bytes() == cookie)
        };
        self.names(name) || (*name == h::SET_COOKIE && listed())
    }

    /// The headers that are stored, and none that a `Connection` header names.
    pub(crate) fn select(&self, headers: &HeaderMap) -> HeaderMap {
        let named: Vec<_> = headers
            .get_all(h::CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        let mut stored = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            if self.stores_value(name, value) && !named.iter().any(|hop| hop == name.as_str()) {
                stored.append(name.clone(), value.clone());
            }
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn cookies(headers: &StoredHeaders) -> Vec<String> {
        let mut sent = HeaderMap::new();
        for cookie in ["theme=dark; Path=/", "session=secret; HttpOnly", "theme=light", "Theme=x", "themes=y", "theme"]
        {
            sent.append(h::SET_COOKIE, HeaderValue::from_static(cookie));
        }
        let stored = headers.select(&sent);
        stored.get_all(h::SET_COOKIE).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn cookies_are_stored_by_their_names_alone() {
        assert!(cookies(&StoredHeaders::default()).is_empty());
        let expected = ["theme=dark; Path=/", "theme=light"];
        assert_eq!(cookies(&StoredHeaders::default().cookie("theme")), expected);
        assert_eq!(cookies(&StoredHeaders::only([]).cookie("theme")), expected);
        assert_eq!(cookies(&StoredHeaders::default().allow(&h::SET_COOKIE)).len(), 6);
        assert!(cookies(&StoredHeaders::default().cookie("theme").deny(h::SET_COOKIE)).is_empty());
    }

    #[test]
    fn a_list_is_all_that_is_stored() {
        let mut sent = HeaderMap::new();
        for name in ["content-type", "location", "x-request-id", "transfer-encoding", "set-cookie"] {
            sent.append(name, HeaderValue::from_static("x"));
        }
        let list = [h::LOCATION, h::TRANSFER_ENCODING, h::CONTENT_TYPE];
        let stored = StoredHeaders::only(list).deny(h::CONTENT_TYPE).allow(&h::ETAG).select(&sent);
        assert_eq!(stored.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["location"]);
    }
}
