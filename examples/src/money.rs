//! Money, as requests carry it. What is no money is refused while the body is read, before any key is claimed: such an
//! answer (422) is never stored, and the corrected request may use the same key.

use serde::{Deserialize, Serialize};

/// A positive amount, in the smallest unit of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64")]
pub struct Amount(i64);

impl Amount {
    /// The number of units.
    #[must_use]
    pub fn units(self) -> i64 {
        self.0
    }
}

impl TryFrom<i64> for Amount {
    type Error = &'static str;

    fn try_from(units: i64) -> Result<Self, Self::Error> {
        if units <= 0 {
            return Err("an amount must be greater than 0");
        }
        Ok(Self(units))
    }
}

/// The currencies that are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Currency {
    /// US dollar.
    Usd,
    /// Euro.
    Eur,
    /// Pound sterling.
    Gbp,
}

impl Currency {
    /// Its ISO 4217 code, in lower case as on the wire.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Usd => "usd",
            Self::Eur => "eur",
            Self::Gbp => "gbp",
        }
    }
}
