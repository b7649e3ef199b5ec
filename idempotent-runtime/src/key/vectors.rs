//! The public vectors of structured fields for strings, `string.json` and `string-generated.json` of
//! httpwg/structured-field-tests (1e280c3), against the parser of keys: what is a string there is one here, with the
//! same value, and what must fail fails.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Key, KeyError, KeyPolicy, field};

/// What the parser makes of a field that was sent as `line`. A line that no HTTP message can carry has failed before.
fn read(line: &[u8]) -> Option<String> {
    field::string(&HeaderValue::from_bytes(line).ok()?).ok()
}

/// `string.json`, in its order: name, line, value; those that must fail have none.
const STRINGS: [(&str, &str, Option<&str>); 12] = [
    ("basic string", "\"foo bar\"", Some("foo bar")),
    ("empty string", "\"\"", Some("")),
    ("whitespace string", "\"   \"", Some("   ")),
    ("non-ascii string", "\"f\u{fc}\u{fc}\"", None),
    ("tab in string", "\"\t\"", None),
    ("newline in string", "\" \n \"", None),
    ("single quoted string", "'foo'", None),
    ("unbalanced string", "\"foo", None),
    ("string quoting", r#""foo \"bar\" \\ baz""#, Some(r#"foo "bar" \ baz"#)),
    ("bad string quoting", r#""foo \,""#, None),
    ("ending string quote", r#""foo \""#, None),
    ("abruptly ending string quote", r#""foo \"#, None),
];

#[test]
fn the_strings_of_the_public_vectors_are_read() {
    for (name, line, expected) in STRINGS {
        assert_eq!(read(line.as_bytes()).as_deref(), expected, "{name}");
    }
    let long = "foo ".repeat(65);
    assert_eq!(read(format!("\"{long}\"").as_bytes()), Some(long), "long string");
}

/// The last of `string.json`, "two lines string": `"foo` and `bar"` may fail, and do. No key is sent in two lines.
#[test]
fn a_string_in_two_lines_fails() {
    let name = HeaderName::from_static("idempotency-key");
    let mut headers = HeaderMap::new();
    for line in ["\"foo", "bar\""] {
        headers.append(&name, HeaderValue::from_static(line));
    }
    let lines: Vec<_> = headers.get_all(&name).iter().collect();
    assert!(lines.iter().all(|line| Key::from_structured(line, &KeyPolicy::default()).is_err()));
}

/// `string-generated.json`: for each byte from 0x00 to 0x7f, `" B "` and `"\B"`.
#[test]
fn every_byte_of_ascii_is_taken_or_refused_as_in_the_public_vectors() {
    let (mut taken, mut refused) = (0, 0);
    for byte in 0x00..=0x7f_u8 {
        let plain = char::from(byte);
        let expected = ((0x20..=0x7e).contains(&byte) && plain != '"' && plain != '\\').then(|| format!(" {plain} "));
        let escaped = matches!(plain, '"' | '\\').then(|| plain.to_string());
        for (line, expected) in
            [(vec![b'"', b' ', byte, b' ', b'"'], expected), (vec![b'"', b'\\', byte, b'"'], escaped)]
        {
            let read = read(&line);
            *(if read.is_some() { &mut taken } else { &mut refused }) += 1;
            assert_eq!(read, expected, "{byte:#04x}: {:?}", String::from_utf8_lossy(&line));
        }
    }
    assert_eq!((taken, refused), (95, 161), "as many as there");
}

#[test]
fn a_strict_key_is_one_string_and_nothing_else() {
    let read = |text| {
        let policy = KeyPolicy::default();
        Key::from_structured(&HeaderValue::from_static(text), &policy).map(|key| key.as_str().to_owned())
    };
    assert_eq!(read("  \"abc-12345\"; a=1;b ").as_deref(), Ok("abc-12345"));
    assert_eq!(read(r#""a \"quoted\" key""#).as_deref(), Ok("a \"quoted\" key"));
    for no_string in [
        "abc-12345",
        "8e03978e-40d5-43e8-bc93-6894a57f9324",
        "123456789",
        ":aGVsbG8gd29ybGQ=:",
        "?1",
        "@1659578233",
        "%\"abc-12345\"",
        "(\"abc-12345\")",
        "\"abc-12345\", \"abc-12345\"",
        "\"abc-12345\" \"abc-12345\"",
        "\"abc-12345\";A=1",
        "",
    ] {
        assert!(matches!(read(no_string), Err(KeyError::NotString { .. })), "{no_string}");
    }
    assert_eq!(read("\"\""), Err(KeyError::Empty));
    assert_eq!(read("\"short\""), Err(KeyError::TooShort { min: 8 }));
}
