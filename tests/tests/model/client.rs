//! The clients of one key. They share the store and nothing else, and forget everything between two requests: a client
//! that asks again is one that never got its answer.

use crate::row::{Ask, Fence, Row};

/// How a client's function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Claim, effect and answer commit together.
    Transactional,
    /// The claim commits first, and the effect is outside of the database.
    Leased(OnCrash),
}

/// What becomes of a leased claim that is abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnCrash {
    Retry,
    /// Taken over, up to this many attempts.
    RetryUpTo(u8),
    Hold,
}

impl OnCrash {
    pub(crate) fn max_attempts(self) -> u8 {
        match self {
            Self::Retry => 0,
            Self::RetryUpTo(attempts) => attempts,
            Self::Hold => 1,
        }
    }

    /// Whether somebody may have to decide.
    pub(crate) fn may_hold(self) -> bool {
        self != Self::Retry
    }
}

/// What a client is about. One that is paused takes no step while others do: every client may be, at any moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Client {
    Idle,
    Leased(Attempt),
    Transaction(Span),
}

impl Client {
    pub(crate) fn asked(&self) -> Option<Ask> {
        match self {
            Self::Idle => None,
            Self::Leased(Attempt { asked, .. }) | Self::Transaction(Span { asked, .. }) => Some(*asked),
        }
    }

    pub(crate) fn fence(&self) -> Option<Fence> {
        match self {
            Self::Idle => None,
            Self::Leased(attempt) => Some(attempt.fence),
            Self::Transaction(span) => span.pending.map(|row| row.fence),
        }
    }
}

/// A run under a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Attempt {
    pub(crate) asked: Ask,
    pub(crate) fence: Fence,
    /// Its effect has happened.
    pub(crate) performed: bool,
    /// Its lease had lapsed, and was renewed.
    pub(crate) revived: bool,
    /// Nobody has begun the key anew since, or decided about it.
    pub(crate) counts: bool,
}

/// A run in a transaction: nobody sees anything of it before it commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub(crate) asked: Ask,
    /// What was written when it began, in a store that writes first.
    pub(crate) pending: Option<Row>,
}
