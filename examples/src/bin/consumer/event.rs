//! What a producer says: one payment event, as it is delivered.

use examples::money::Amount;
use examples::text::Text;
use idempotent_runtime::Key;
use serde::{Deserialize, Serialize};

/// Something that has happened to an order. Members that we do not know are ignored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Event {
    /// The producer's name for this event: the same in every delivery.
    pub(crate) id: Text,
    pub(crate) order: i64,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) amount: Amount,
}

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Placed,
    Paid,
    Refunded,
}

/// A line of the input: what a broker hands over, once or more often.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Delivery {
    pub(crate) fn event(&self) -> serde_json::Result<Event> {
        serde_json::from_str(&self.text)
    }

    /// What the event is called: its id, if one can be read, or else the line.
    pub(crate) fn name(&self) -> String {
        self.id().unwrap_or_else(|| format!("line {}", self.line))
    }

    /// What tells it from other events in the count of failures: its id, or else what it says. Short, whatever comes.
    pub(crate) fn failure_key(&self) -> String {
        match self.id() {
            Some(id) => failure_key(&id),
            None => key(("text", self.text.as_str())),
        }
    }

    fn id(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Named {
            id: Text,
        }
        serde_json::from_str::<Named>(&self.text).ok().map(|named| named.id.as_str().to_owned())
    }
}

/// The same for an event that could be read.
pub(crate) fn failure_key(id: &str) -> String {
    key(("id", id))
}

/// At most 255 bytes, whatever the length of the parts.
fn key(parts: (&str, &str)) -> String {
    // A pair is never empty.
    Key::natural(&parts).map(|key| key.as_str().to_owned()).unwrap_or_default()
}
