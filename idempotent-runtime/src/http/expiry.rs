//! `Idempotency-Key-Expiry`: for how many seconds an answer is still kept.
//!
//! Seconds and no date, like `max-age`: the clocks of client, service and database need not agree.

use http::header::{HeaderName, HeaderValue};
use tokio::time::Instant;

use crate::claim::Claim;
use crate::lifetime::{MAX_MS, Ttl};
use crate::settings::{ExpiryHeader, Settings};
use crate::store::{End, Stored};

const EXPIRY: HeaderName = HeaderName::from_static("idempotency-key-expiry");

/// How long the answer of a run will be kept, counted from before its claim: never longer than the record says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expiry {
    ttl: Ttl,
    since: Instant,
}

impl Expiry {
    /// That of a request with this claim; `None` if nobody is told.
    pub(crate) fn of(settings: &Settings, claim: Option<&Claim>) -> Option<Self> {
        match (settings.expiry_header, claim) {
            (ExpiryHeader::Given, Some(claim)) => Some(Self { ttl: claim.ttl, since: Instant::now() }),
            (ExpiryHeader::Absent, _) | (_, None) => None,
        }
    }

    /// The header of an answer that is kept.
    pub(crate) fn header(self, end: &End) -> Option<(HeaderName, HeaderValue)> {
        match end {
            End::Commit(Stored::Answer(_)) | End::Undo(Stored::Answer(_)) => {
                let elapsed = i64::try_from(self.since.elapsed().as_millis()).unwrap_or(i64::MAX);
                header(self.ttl.millis().saturating_sub(elapsed))
            }
            End::Commit(Stored::Tombstone) | End::Undo(Stored::Tombstone) | End::Forget | End::RollBack => None,
        }
    }
}

/// The header of an answer that is given back.
pub(super) fn of_replay(settings: &Settings, left_ms: i64) -> Option<(HeaderName, HeaderValue)> {
    match settings.expiry_header {
        ExpiryHeader::Given => header(left_ms),
        ExpiryHeader::Absent => None,
    }
}

/// Rounded down; none for what never expires.
fn header(left_ms: i64) -> Option<(HeaderName, HeaderValue)> {
    (left_ms <= MAX_MS).then(|| (EXPIRY, HeaderValue::from(left_ms.max(0) / 1_000)))
}
