//! What a history is told besides.

use serde::Serialize;

/// Notes that a function's parameters carry.
pub trait Note {
    /// The text, if there is one.
    fn note(&self) -> Option<String>;
}

impl Note for str {
    fn note(&self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl Note for String {
    fn note(&self) -> Option<String> {
        Some(self.clone())
    }
}

impl<T: Note> Note for Option<T> {
    fn note(&self) -> Option<String> {
        self.as_ref().and_then(Note::note)
    }
}

impl<T: Note + ?Sized> Note for &T {
    fn note(&self) -> Option<String> {
        T::note(self)
    }
}

/// A value as the JSON that a history holds.
pub(crate) fn json(metadata: &impl Serialize) -> Option<String> {
    serde_json::to_string(metadata)
        .inspect_err(|error| tracing::error!(%error, "the metadata of a transition is no JSON, and was left out"))
        .ok()
}
