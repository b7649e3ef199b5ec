//! Names: how a variant is stored, and how an event is called.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

use crate::arguments::unknown;

/// As `rename_all` has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Case {
    #[default]
    Snake,
    ScreamingSnake,
    Kebab,
    Camel,
    Pascal,
    Lower,
    Upper,
}

const CASES: [(&str, Case); 7] = [
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("camelCase", Case::Camel),
    ("PascalCase", Case::Pascal),
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
];

impl Case {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let found = CASES.iter().find(|(name, _)| *name == text);
        found.map(|(_, case)| *case).ok_or_else(|| unknown("`rename_all`", text, &CASES.map(|(name, _)| name)))
    }

    /// The name under which a variant is stored. `PascalCase` leaves it as it is written.
    pub(super) fn apply(self, variant: &str) -> String {
        let words = words(variant);
        match self {
            Self::Snake => words.join("_"),
            Self::ScreamingSnake => words.join("_").to_uppercase(),
            Self::Kebab => words.join("-"),
            Self::Camel => {
                let (first, rest) = words.split_at(words.len().min(1));
                first.iter().cloned().chain(rest.iter().map(|word| capitalized(word))).collect()
            }
            Self::Pascal => variant.to_owned(),
            Self::Lower => variant.to_lowercase(),
            Self::Upper => variant.to_uppercase(),
        }
    }
}

/// The words of `PartiallyPaid` or `HTTPError` in lower case. Digits belong to the word before them.
fn words(variant: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in variant.split('_') {
        let chars: Vec<char> = part.chars().collect();
        let mut word = String::new();
        let mut upper = false;
        for (n, c) in chars.iter().enumerate() {
            let ends_acronym = upper && chars.get(n + 1).is_some_and(|next| next.is_lowercase());
            if c.is_uppercase() && (!upper || ends_acronym) && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if c.is_uppercase() || c.is_lowercase() {
                upper = c.is_uppercase();
            }
            word.extend(c.to_lowercase());
        }
        words.extend((!word.is_empty()).then_some(word));
    }
    words
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// The name of an event's function: raw where it is a keyword. None for the words that cannot even be raw.
pub(super) fn function_name(word: &Ident) -> Option<Ident> {
    let (text, span) = (word.unraw().to_string(), word.span());
    match text.as_str() {
        "self" | "Self" | "super" | "crate" | "_" => None,
        "gen" => Some(Ident::new_raw(&text, span)),
        _ if syn::parse_str::<Ident>(&text).is_err() => Some(Ident::new_raw(&text, span)),
        _ => Some(Ident::new(&text, span)),
    }
}

/// A name in Rust for what is stored as any text: what no name can have becomes `_`.
pub(super) fn word_of(text: &str, span: Span) -> Ident {
    let with = |kept: fn(char) -> bool| -> String { text.chars().map(|c| if kept(c) { c } else { '_' }).collect() };
    let name = with(|c| c.is_alphanumeric() || c == '_');
    // Some letters and digits of Unicode are in no name.
    let name = if is_word(&name) { name } else { with(|c| c.is_ascii_alphanumeric() || c == '_') };
    if is_word(&name) { Ident::new(&name, span) } else { Ident::new(&format!("_{name}"), span) }
}

fn is_word(name: &str) -> bool {
    syn::parse_str::<Ident>(name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_stored_in_every_case() {
        for (case, stored) in [
            ("snake_case", "partially_paid"),
            ("SCREAMING_SNAKE_CASE", "PARTIALLY_PAID"),
            ("kebab-case", "partially-paid"),
            ("camelCase", "partiallyPaid"),
            ("PascalCase", "PartiallyPaid"),
            ("lowercase", "partiallypaid"),
            ("UPPERCASE", "PARTIALLYPAID"),
        ] {
            assert_eq!(Case::parse(case).unwrap().apply("PartiallyPaid"), stored);
        }
        assert!(Case::parse("Snake_case").unwrap_err().contains("did you mean `snake_case`"));
    }

    #[test]
    fn words_end_where_a_reader_ends_them() {
        for (variant, stored) in [
            ("Paid", "paid"),
            ("HTTPError", "http_error"),
            ("OnHTTP", "on_http"),
            ("APending", "a_pending"),
            ("Step2", "step2"),
            ("V2Beta", "v2_beta"),
            ("Step2Of3", "step2_of3"),
            ("Already_Split", "already_split"),
            ("paid", "paid"),
            ("ÜberMüde", "über_müde"),
        ] {
            assert_eq!(Case::Snake.apply(variant), stored);
        }
        assert_eq!(Case::Camel.apply("HTTPError"), "httpError");
    }

    #[test]
    fn events_are_called_by_any_word() {
        let name = |word: &str| function_name(&Ident::new(word, Span::call_site())).map(|name| name.to_string());
        assert_eq!(name("pay").as_deref(), Some("pay"));
        assert_eq!(name("return").as_deref(), Some("r#return"));
        assert_eq!(name("gen").as_deref(), Some("r#gen"));
        assert_eq!(name("self"), None);
    }

    #[test]
    fn every_text_has_a_name_in_rust() {
        for (text, word) in [
            ("to_partially fulfilled", "to_partially_fulfilled"),
            ("OP_VOID/SUCCESS", "OP_VOID_SUCCESS"),
            ("to_über", "to_über"),
            ("m²", "m_"),
            ("3ds", "_3ds"),
            ("return", "_return"),
        ] {
            assert_eq!(word_of(text, Span::call_site()).to_string(), word);
        }
    }
}
