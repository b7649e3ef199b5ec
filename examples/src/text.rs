//! Text that every database can store.

use serde::{Deserialize, Serialize};

/// Text without a zero character, which not every database can store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Text(String);

impl Text {
    /// The text as it was sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.contains('\0') {
            return Err("text must not contain a zero character");
        }
        Ok(Self(text))
    }
}
