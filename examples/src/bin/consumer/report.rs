//! What is said of a delivery, and what the broker is to be told: acknowledged, or to be delivered again.

use idempotent_runtime::Error;
use serde::Serialize;

use crate::event::Delivery;
use crate::failures::MAX_DELIVERIES;
use crate::inbox::{Outcome, Refused};

/// A line of the output.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) id: String,
    outcome: &'static str,
    /// The outcome is that of an earlier delivery.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How many deliveries have failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    deliveries: Option<i64>,
    /// It is among the dead letters, and will not be tried again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dead_letter: bool,
    /// Whether the broker may forget it.
    #[serde(skip)]
    pub(crate) is_settled: bool,
}

impl Report {
    /// An event with an outcome, which is committed.
    pub(crate) fn of(delivery: &Delivery, outcome: Outcome, replayed: bool) -> Self {
        let outcome = match outcome {
            Outcome::Applied => "applied",
            Outcome::Late => "late",
        };
        Self { replayed, is_settled: true, ..Self::new(delivery, outcome) }
    }

    /// An event that was not tried, or in vain, by nobody's fault.
    pub(crate) fn passing(delivery: &Delivery, refused: &Refused) -> Self {
        let outcome = match refused {
            Refused::Idempotency(Error::KeyInUse { .. }) => "in_use",
            _ => "retry",
        };
        Self { error: Some(refused.to_string()), ..Self::new(delivery, outcome) }
    }

    /// An event that has failed so many times.
    pub(crate) fn failed(delivery: &Delivery, outcome: &'static str, reason: String, deliveries: i64) -> Self {
        let dead = deliveries >= MAX_DELIVERIES;
        let counted = Self { error: Some(reason), deliveries: Some(deliveries), ..Self::new(delivery, outcome) };
        Self { dead_letter: dead, is_settled: dead, ..counted }
    }

    fn new(delivery: &Delivery, outcome: &'static str) -> Self {
        let (id, error, deliveries) = (delivery.name(), None, None);
        Self { id, outcome, replayed: false, error, deliveries, dead_letter: false, is_settled: false }
    }
}

/// The last line of a batch: what to acknowledge, and what to have delivered again.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Batch {
    ack: Vec<String>,
    nack: Vec<String>,
}

impl Batch {
    pub(crate) fn add(&mut self, report: Report) {
        match report.is_settled {
            true => self.ack.push(report.id),
            false => self.nack.push(report.id),
        }
    }
}
