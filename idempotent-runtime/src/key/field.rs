//! The key as it stands in a header field.

use http::HeaderValue;
use sfv::{BareItem, Item, Parser, Version};

use super::KeyError;

/// One string of RFC 9651 (section 3.3.3), without its quotes; parameters are ignored.
pub(super) fn string(value: &HeaderValue) -> Result<String, KeyError> {
    let text = value.to_str().map_err(|_| KeyError::NotAscii)?;
    read_string(text).map_err(|reason| KeyError::NotString { reason })
}

/// The same, or a key without quotes.
pub(super) fn either(value: &HeaderValue) -> Result<String, KeyError> {
    let text = value.to_str().map_err(|_| KeyError::NotAscii)?.trim_matches([' ', '\t']);
    let key = if text.starts_with('"') { read_string(text) } else { read_bare(text) };
    key.map_err(|reason| KeyError::Malformed { reason })
}

fn read_string(text: &str) -> Result<String, String> {
    let item: Item = Parser::new(text).with_version(Version::Rfc9651).parse().map_err(|error| error.to_string())?;
    match item.bare_item {
        BareItem::String(string) => Ok(string.as_str().to_owned()),
        _ => Err("without quotes".into()),
    }
}

fn read_bare(text: &str) -> Result<String, String> {
    match text.bytes().find(|byte| !byte.is_ascii_graphic() || matches!(byte, b',' | b'"')) {
        Some(byte) => Err(format!("unexpected {:?}", char::from(byte))),
        None => Ok(text.to_owned()),
    }
}
