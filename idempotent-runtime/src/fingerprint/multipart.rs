//! A multipart body by its parts (RFC 2046, section 5.1; RFC 7578): the boundary, which clients draw anew for every
//! attempt, does not count.
//!
//! Split by hand over the body in memory, and more strictly than by those who read the parts: no two readers may find
//! other parts in what is taken for the same request. Anything unusual has no parts here and counts byte by byte.

use http::{HeaderMap, header::CONTENT_TYPE};

/// The boundary of a `multipart/form-data` body, as the head of its request names it.
pub(crate) fn boundary_of(headers: &HeaderMap) -> Option<String> {
    let mut lines = headers.get_all(CONTENT_TYPE).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let (kind, parameters) = line.to_str().ok()?.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let mut boundary = None;
    for parameter in parameters.split(';') {
        let (name, value) = parameter.trim().split_once('=')?;
        if name.eq_ignore_ascii_case("boundary") && boundary.replace(unquoted(value)?).is_some() {
            return None;
        }
    }
    // RFC 2046: 1 to 70 characters.
    boundary.filter(|boundary| (1..=70).contains(&boundary.len())).map(str::to_owned)
}

/// The value of a parameter, whose quotes hold nothing that would have to be escaped.
fn unquoted(value: &str) -> Option<&str> {
    let inner = match value.strip_prefix('"') {
        Some(inner) => inner.strip_suffix('"')?,
        None => value,
    };
    (!inner.contains(['"', '\\'])).then_some(inner)
}

/// The parts of a body, each with its head as it was sent; `None` unless the body is exactly a list of them.
pub(super) fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<&'a [u8]>> {
    let delimiter = [b"--", boundary.as_bytes()].concat();
    // Whatever stands between two delimiters; so none can be hidden in a part for a reader that is less strict.
    let mut pieces = split(body, &delimiter).into_iter();
    if !pieces.next()?.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    let last = loop {
        let piece = pieces.next()?;
        match piece.strip_prefix(b"\r\n") {
            Some(part) => parts.push(part.strip_suffix(b"\r\n")?),
            None => break piece,
        }
    };
    let whole = pieces.next().is_none() && matches!(last, b"--" | b"--\r\n");
    (whole && parts.iter().all(|part| has_head(part))).then_some(parts)
}

/// The values of a field of a form, as text; none of a body that is not exactly a list of parts.
pub(crate) fn form_parts(body: &[u8], boundary: &str, field: &str) -> Vec<String> {
    let named = format!("name=\"{field}\"");
    let read = |part: &[u8]| {
        let end = part.windows(4).position(|end| end == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&part[..end]).ok()?;
        let disposition = head.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
        })?;
        let is_field = disposition.split(';').any(|parameter| parameter.trim() == named);
        is_field.then(|| String::from_utf8_lossy(&part[end + 4..]).into_owned())
    };
    parts(body, boundary).unwrap_or_default().into_iter().filter_map(read).collect()
}

/// Whether a part has a head that ends.
fn has_head(part: &[u8]) -> bool {
    part.windows(4).any(|end| end == b"\r\n\r\n")
}

/// The pieces of `body` between the occurrences of `delimiter`, each looked for behind the last.
fn split<'a>(body: &'a [u8], delimiter: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while at + delimiter.len() <= body.len() {
        if body[at..].starts_with(delimiter) {
            pieces.push(&body[begin..at]);
            at += delimiter.len();
            begin = at;
        } else {
            at += 1;
        }
    }
    pieces.push(&body[begin..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boundary(line: &str) -> Option<String> {
        boundary_of(&HeaderMap::from_iter([(CONTENT_TYPE, line.parse().unwrap())]))
    }

    /// As clients write it.
    fn body(boundary: &str, parts: &[&[u8]]) -> Vec<u8> {
        let mut body = Vec::new();
        for part in parts {
            body.extend([b"--", boundary.as_bytes(), b"\r\n", part, b"\r\n"].concat());
        }
        body.extend([b"--", boundary.as_bytes(), b"--\r\n"].concat());
        body
    }

    const PART: &[u8] = b"Content-Disposition: form-data; name=\"a\"\r\n\r\n1";

    #[test]
    fn the_boundary_is_found_where_there_is_one() {
        assert_eq!(boundary("multipart/form-data; boundary=x-1").as_deref(), Some("x-1"));
        assert_eq!(boundary("Multipart/Form-Data;charset=utf-8; Boundary=\"x 1\"").as_deref(), Some("x 1"));
        for line in [
            "application/json",
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=\"a",
            "multipart/form-data; boundary=\"a\\b\"",
            "multipart/form-data; boundary=a; boundary=b",
            "multipart/mixed; boundary=a",
        ] {
            assert_eq!(boundary(line), None, "{line}");
        }
        assert_eq!(boundary(&format!("multipart/form-data; boundary={}", "b".repeat(71))), None);
        let mut twice = HeaderMap::from_iter([(CONTENT_TYPE, "multipart/form-data; boundary=a".parse().unwrap())]);
        twice.append(CONTENT_TYPE, "multipart/form-data; boundary=b".parse().unwrap());
        assert_eq!(boundary_of(&twice), None);
    }

    #[test]
    fn a_body_is_its_parts() {
        assert_eq!(parts(&body("x", &[PART, PART]), "x").unwrap(), [PART, PART]);
        assert_eq!(parts(b"--x--", "x").unwrap(), Vec::<&[u8]>::new());
    }

    #[test]
    fn what_is_not_exactly_parts_has_none() {
        let part = std::str::from_utf8(PART).unwrap();
        for body in [
            String::new(),
            format!("preamble\r\n--x\r\n{part}\r\n--x--\r\n"),
            format!("--x\r\n{part}\r\n--x--\r\nepilogue"),
            format!("--x\r\n{part}\r\n"),
            format!("--x\r\n{part}\r\n--x"),
            format!("--x\r\n{part}--x--"),
            format!("--x \r\n{part}\r\n--x--"),
            format!("--x\n{part}\n--x--"),
            format!("--x\r\n{part}\n--xy\r\n--x--"),
            format!("--x\r\n{part}\n--x\n{part}\r\n--x--"),
            format!("--x\r\n{part}\r\n--x--\r\n--x--"),
            "--x\r\nno head\r\n--x--".to_owned(),
        ] {
            assert_eq!(parts(body.as_bytes(), "x"), None, "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_read_back_whatever_is_in_them(contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..5)) {
            let all: Vec<Vec<u8>> = contents.iter().map(|content| [b"A: b\r\n\r\n", &content[..]].concat()).collect();
            let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
            let body = body("drawn-by-lot-8F3", &all);
            prop_assert_eq!(parts(&body, "drawn-by-lot-8F3").unwrap(), all);
        }

        #[test]
        fn no_body_makes_the_splitter_panic(body in "[-x\r\n: a]{0,80}", boundary in "[-x]{1,3}") {
            parts(body.as_bytes(), &boundary);
        }
    }
}
