//! Where an order can be.

use serde::{Deserialize, Serialize};

/// The states of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Created,
    Paying,
    Paid,
    Cancelled,
    Settled,
    Notified,
}

impl Status {
    const ALL: [Self; 6] = [Self::Created, Self::Paying, Self::Paid, Self::Cancelled, Self::Settled, Self::Notified];

    /// Its name, as it is stored and shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Paying => "paying",
            Self::Paid => "paid",
            Self::Cancelled => "cancelled",
            Self::Settled => "settled",
            Self::Notified => "notified",
        }
    }
}

/// A stored state that this program does not know.
#[derive(Debug, thiserror::Error)]
#[error("an order is in the unknown state `{0}`")]
pub(crate) struct UnknownStatus(String);

impl TryFrom<String> for Status {
    type Error = UnknownStatus;

    fn try_from(name: String) -> Result<Self, UnknownStatus> {
        Self::ALL.into_iter().find(|status| status.name() == name).ok_or(UnknownStatus(name))
    }
}
