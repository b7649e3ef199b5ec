//! The lines of a journal: what is written down of a call, and how a file of them is read.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::client::journal::Entry;

/// What is written down of a call. Of several lines with one id the last counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) entry: Entry,
    /// When the call had its answer, in milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) finished: Option<u64>,
}

impl Line {
    /// Whether the call is still known: it has no answer, or has had it since then.
    pub(super) fn is_kept(&self, oldest: u64) -> bool {
        self.finished.is_none_or(|finished| finished >= oldest)
    }

    /// The line as it is written, with its end.
    pub(super) fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) known: BTreeMap<String, Line>,
    /// How many lines there are.
    pub(super) count: usize,
    /// How many bytes they take. What follows was not written to its end.
    pub(super) length: usize,
}

impl Lines {
    /// Reads whole lines; or says which of them is none.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let length = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut lines = Self { known: BTreeMap::new(), count: 0, length };
        for text in text[..length].split_inclusive(|byte| *byte == b'\n') {
            lines.count += 1;
            let line: Line = serde_json::from_slice(text).map_err(|error| format!("line {}: {error}", lines.count))?;
            lines.known.insert(line.id.clone(), line);
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(id: &str, finished: Option<u64>) -> Line {
        Line { id: id.into(), entry: Entry { key: format!("key of {id}"), fingerprint: "01".into() }, finished }
    }

    fn texts(lines: &[Line]) -> Vec<u8> {
        lines.iter().flat_map(|line| line.text().unwrap()).collect()
    }

    #[test]
    fn the_last_line_of_an_id_counts() {
        let lines = Lines::read(&texts(&[line("a", None), line("b", None), line("a", Some(7))])).unwrap();
        assert_eq!(lines.count, 3);
        assert_eq!(lines.known.into_values().collect::<Vec<_>>(), [line("a", Some(7)), line("b", None)]);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let text = [texts(&[line("a", None)]), b"{\"id\":\n".to_vec(), texts(&[line("b", None)])].concat();
        assert!(Lines::read(&text).unwrap_err().starts_with("line 2: "));
    }

    proptest! {
        #[test]
        fn whatever_is_torn_off_only_the_last_line_is_lost(ids in proptest::collection::vec(".{0,8}", 1..6), cut: prop::sample::Index) {
            let written: Vec<_> = ids.iter().map(|id| line(id, None)).collect();
            let text = texts(&written);
            let cut = cut.index(text.len() + 1);
            let read = Lines::read(&text[..cut]).unwrap();
            let whole = (0..=written.len()).rev().find(|lines| texts(&written[..*lines]).len() <= cut).unwrap();
            prop_assert_eq!(read.count, whole);
            prop_assert_eq!(read.length, texts(&written[..whole]).len());
            for line in &written[..whole] {
                prop_assert_eq!(&read.known[&line.id], line);
            }
        }
    }
}
