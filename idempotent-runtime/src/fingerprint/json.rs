//! A JSON body by what it says: member order, white space and the spelling of strings do not count.
//!
//! serde checks that it is JSON, and decodes the strings. The tree is read by hand, because serde hands numbers over as
//! `f64` or `u64`, in which `1.0` is `1` and a large integer is its neighbour: here a number is what was written.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// As deep as `serde_json` reads values itself; a deeper body is no JSON to us.
const MAX_DEPTH: usize = 128;

/// The canonical bytes of a JSON text; `None` if it has none: no JSON, too deep, or with two members of one name, of
/// which one reader sees the first and another the last.
pub(super) fn canonical(body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut reader = Reader { rest: text };
    let node = reader.node(MAX_DEPTH)?;
    let mut bytes = Vec::with_capacity(body.len() * 2);
    node.write(&mut bytes);
    Some(bytes)
}

/// A value. Members are in the order of their names, whose decoded forms differ.
enum Node<'a> {
    /// A number, `true`, `false` or `null`, as written.
    Plain(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    Object(Vec<(Cow<'a, str>, Self)>),
}

impl Node<'_> {
    /// Every piece with its kind and its length, so that no two values are the same bytes.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Plain(word) => write_text(b'p', word, out),
            Self::Text(text) => write_text(b't', text, out),
            Self::List(items) => {
                write_head(b'l', items.len(), out);
                for item in items {
                    item.write(out);
                }
            }
            Self::Object(members) => {
                write_head(b'o', members.len(), out);
                for (name, value) in members {
                    write_text(b't', name, out);
                    value.write(out);
                }
            }
        }
    }
}

fn write_head(kind: u8, length: usize, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&(length as u64).to_le_bytes());
}

fn write_text(kind: u8, text: &str, out: &mut Vec<u8>) {
    write_head(kind, text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

/// Reads a text that is known to be JSON, once from front to back.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn node(&mut self, depth: usize) -> Option<Node<'a>> {
        match self.peek()? {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.list(depth.checked_sub(1)?),
            b'"' => Some(Node::Text(self.string()?)),
            _ => {
                let end = self.rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
                Some(Node::Plain(self.take(end)?))
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Node<'a>> {
        let mut items = Vec::new();
        self.take(1)?;
        while self.peek()? != b']' {
            items.push(self.node(depth)?);
            self.comma()?;
        }
        self.take(1)?;
        Some(Node::List(items))
    }

    fn object(&mut self, depth: usize) -> Option<Node<'a>> {
        let mut members = Vec::new();
        self.take(1)?;
        while self.peek()? != b'}' {
            let name = self.string()?;
            self.peek()?;
            self.take(1)?;
            members.push((name, self.node(depth)?));
            self.comma()?;
        }
        self.take(1)?;
        members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let twice = members.windows(2).any(|pair| pair[0].0 == pair[1].0);
        (!twice).then_some(Node::Object(members))
    }

    /// A string, decoded.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let bytes = self.rest.as_bytes();
        let mut end = 1;
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let quoted = self.take(end + 1)?;
        match quoted.contains('\\') {
            // Half of a surrogate pair is no text.
            true => serde_json::from_str(quoted).ok().map(Cow::Owned),
            false => Some(Cow::Borrowed(&quoted[1..end])),
        }
    }

    fn comma(&mut self) -> Option<()> {
        if self.peek()? == b',' {
            self.take(1)?;
        }
        Some(())
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.rest.bytes().next()
    }

    fn take(&mut self, bytes: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    fn same(a: &str, b: &str) -> bool {
        canonical(a.as_bytes()).unwrap() == canonical(b.as_bytes()).unwrap()
    }

    #[test]
    fn i34_member_order_white_space_and_escapes_do_not_count() {
        assert!(same(r#"{"a":1,"b":[true,null]}"#, " {\n\t\"b\" : [ true , null ] ,\r\"a\" : 1 } "));
        assert!(same(r#"{"A":"A/\n"}"#, r#"{"\u0041":"\u0041\/\u000a"}"#));
        assert!(same(r#""\ud83d\ude00""#, "\"\u{1f600}\""));
    }

    #[test]
    fn everything_else_counts() {
        for (a, b) in [
            ("[1,2]", "[2,1]"),
            ("1", "1.0"),
            ("100", "1e2"),
            ("1e2", "1E2"),
            ("0", "-0"),
            ("9007199254740993", "9007199254740992"),
            ("1000000000000000000000000001", "1000000000000000000000000002"),
            ("0.1", "0.10000000000000000000001"),
            ("1", "\"1\""),
            ("null", "\"null\""),
            ("{}", "[]"),
            ("{}", r#"{"a":null}"#),
            (r#"{"a":{"b":1}}"#, r#"{"a":{},"b":1}"#),
            (r#"[["a"],"b"]"#, r#"[["a","b"]]"#),
            (r#"{"a":"b"}"#, r#"["a","b"]"#),
            ("\"\u{e9}\"", "\"e\u{301}\""),
        ] {
            assert!(!same(a, b), "{a} and {b}");
        }
    }

    #[test]
    fn what_two_readers_may_read_differently_has_no_canonical_form() {
        for body in [
            r#"{"amount":1,"amount":100}"#,
            r#"{"amount":1,"\u0061mount":100}"#,
            r#"[{"deep":{"a":1,"a":1}}]"#,
            r#""\ud800""#,
            "",
            "{",
            "1 2",
            "{\"a\":1,}",
            "01",
            "\u{feff}{}",
            "name=value",
        ] {
            assert_eq!(canonical(body.as_bytes()), None, "{body}");
        }
        assert_eq!(canonical(b"\"\xff\""), None);
    }

    #[test]
    fn depth_has_a_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(canonical(nested(MAX_DEPTH).as_bytes()).is_some());
        assert_eq!(canonical(nested(MAX_DEPTH + 1).as_bytes()), None);
        assert_eq!(canonical(nested(500_000).as_bytes()), None, "and no stack that overflows");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The same value as another program might write it.
    fn respelled(value: &Value, dice: &mut impl Iterator<Item = u8>) -> String {
        let mut blank = || ["", " ", "\n", "\t \r\n"][usize::from(dice.next().unwrap_or(0) % 4)];
        let (before, after) = (blank(), blank());
        let text = match value {
            Value::String(text) if dice.next().is_some_and(|dice| dice < 128) => {
                text.encode_utf16().fold("\"".to_owned(), |all, unit| format!("{all}\\u{unit:04x}")) + "\""
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| respelled(item, dice)).collect();
                format!("[{before}{}{after}]", items.join(","))
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                let by = usize::from(dice.next().unwrap_or(0)) % members.len().max(1);
                members.rotate_left(by);
                let members: Vec<_> = members
                    .into_iter()
                    .map(|(name, value)| format!("{}:{}", respelled(&json!(name), dice), respelled(value, dice)))
                    .collect();
                format!("{{{before}{}{after}}}", members.join(","))
            }
            other => other.to_string(),
        };
        format!("{before}{text}{after}")
    }

    /// Changes one leaf, or adds a member or an item.
    fn changed(value: &mut Value, path: &mut impl Iterator<Item = usize>) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                let at = path.next().unwrap_or(0) % items.len();
                changed(&mut items[at], path);
            }
            Value::Object(members) if !members.is_empty() => {
                let at = path.next().unwrap_or(0) % members.len();
                if let Some(inner) = members.values_mut().nth(at) {
                    changed(inner, path);
                }
            }
            Value::Array(items) => items.push(Value::Null),
            Value::Object(members) => *members = Map::from_iter([("a".to_owned(), Value::Null)]),
            other => *other = json!([other.clone()]),
        }
    }

    proptest! {
        #[test]
        fn the_same_value_in_another_spelling_is_the_same(value in any_value(), dice: [u8; 32]) {
            let respelled = respelled(&value, &mut dice.into_iter().cycle());
            prop_assert!(same(&value.to_string(), &respelled), "{value} and {respelled}");
        }

        #[test]
        fn another_value_is_another(value in any_value(), path: [usize; 8]) {
            let mut other = value.clone();
            changed(&mut other, &mut path.into_iter());
            prop_assert!(!same(&value.to_string(), &other.to_string()), "{value} and {other}");
        }

        #[test]
        fn no_body_makes_the_reader_panic(body in proptest::collection::vec(any::<u8>(), 0..200), json in "[\\[\\]{}\",:\\\\u0-9a-f \n-]{0,60}") {
            canonical(&body);
            canonical(json.as_bytes());
        }
    }
}
