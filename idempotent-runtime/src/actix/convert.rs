//! From the HTTP types of actix-web, those of `http` 0.2, to those of `http` 1, and back.
//!
//! What the older version accepts the newer one does, byte for byte. But for one thing: a quote in a header's name, which
//! no name may hold (RFC 9110, section 5.1); such a header is left out.

use actix_web::http::header as theirs;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;

use crate::caller::Caller;
use crate::http::Response;

/// The head of a request, with the [`Caller`] that authentication has put into its extensions.
pub(super) fn head_of(request: &HttpRequest) -> Parts {
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.method = http::Method::from_bytes(request.method().as_str().as_bytes()).unwrap_or_default();
    head.uri = request.uri().to_string().parse().unwrap_or_default();
    head.version = match request.version() {
        actix_web::http::Version::HTTP_09 => http::Version::HTTP_09,
        actix_web::http::Version::HTTP_10 => http::Version::HTTP_10,
        actix_web::http::Version::HTTP_2 => http::Version::HTTP_2,
        actix_web::http::Version::HTTP_3 => http::Version::HTTP_3,
        _ => http::Version::HTTP_11,
    };
    head.headers = headers_of(request.headers());
    if let Some(caller) = request.extensions().get::<Caller>() {
        head.extensions.insert(caller.clone());
    }
    head
}

/// All headers, the values of each name in their order.
pub(super) fn headers_of(headers: &theirs::HeaderMap) -> HeaderMap {
    let convert = |(name, value): (&theirs::HeaderName, &theirs::HeaderValue)| {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    let mut converted = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter_map(convert) {
        converted.append(name, value);
    }
    converted
}

/// The status of a response.
pub(super) fn status_of(response: &HttpResponse) -> http::StatusCode {
    http::StatusCode::from_u16(response.status().as_u16()).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR)
}

/// An answer of the toolkit itself.
pub(super) fn ours(answer: Response) -> HttpResponse {
    let (head, body) = answer.into_parts();
    let status = actix_web::http::StatusCode::from_u16(head.status.as_u16()).unwrap_or_default();
    let mut response = HttpResponse::with_body(status, actix_web::body::BoxBody::new(body));
    for (name, value) in &head.headers {
        append(&mut response, name, value);
    }
    response
}

/// Sets a header to its only value.
pub(super) fn insert(response: &mut HttpResponse, name: &HeaderName, value: &HeaderValue) {
    response.headers_mut().remove(name.as_str());
    append(response, name, value);
}

fn append(response: &mut HttpResponse, name: &HeaderName, value: &HeaderValue) {
    let name = theirs::HeaderName::from_bytes(name.as_str().as_bytes());
    if let (Ok(name), Ok(value)) = (name, theirs::HeaderValue::from_bytes(value.as_bytes())) {
        response.headers_mut().append(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn a_head_is_converted_byte_for_byte() {
        let request = TestRequest::with_uri("/a%2Fb/?q=%20&q")
            .method(actix_web::http::Method::from_bytes(b"PROPFIND").unwrap())
            .append_header(("x-several", "b"))
            .append_header(("x-several", "a"))
            .append_header(("x-several", "b"))
            .append_header(("x-bytes", &b"\xff\xfe\t~"[..]))
            .to_http_request();
        let head = head_of(&request);
        assert_eq!((head.method.as_str(), head.uri.to_string().as_str()), ("PROPFIND", "/a%2Fb/?q=%20&q"));
        assert_eq!(head.headers.get_all("x-several").iter().collect::<Vec<_>>(), ["b", "a", "b"]);
        assert_eq!(head.headers["x-bytes"].as_bytes(), b"\xff\xfe\t~");
    }

    #[test]
    fn what_the_older_version_accepts_the_newer_one_accepts() {
        use actix_web::http as older;
        for byte in 0..=u8::MAX {
            let bytes = [b'a', byte, b'a'];
            let name = theirs::HeaderName::from_bytes(&bytes).is_ok();
            assert!(!name || byte == b'"' || HeaderName::from_bytes(&bytes).is_ok(), "header name with {byte}");
            let value = theirs::HeaderValue::from_bytes(&bytes).is_ok();
            assert!(!value || HeaderValue::from_bytes(&bytes).is_ok(), "header value with {byte}");
            let method = older::Method::from_bytes(&bytes).is_ok();
            assert!(!method || http::Method::from_bytes(&bytes).is_ok(), "method with {byte}");
            for uri in [&[b'/', byte, b'a'][..], &[b'/', b'?', byte], b"*", b"http://example.org:80/a?b"] {
                if let Ok(uri) = older::Uri::try_from(uri) {
                    assert_eq!(uri.to_string().parse::<http::Uri>().unwrap().to_string(), uri.to_string());
                }
            }
        }
        for status in 100..=999 {
            assert!(older::StatusCode::from_u16(status).is_ok() && http::StatusCode::from_u16(status).is_ok());
        }
    }

    #[test]
    fn several_values_of_an_answer_keep_their_order() {
        let mut answer = Response::new("body".into());
        for link in ["<b>", "<a>", "<b>"] {
            answer.headers_mut().append("link", HeaderValue::from_static(link));
        }
        let response = ours(answer);
        assert_eq!(response.headers().get_all("link").collect::<Vec<_>>(), ["<b>", "<a>", "<b>"]);
    }
}
