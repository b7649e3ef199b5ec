//! The stored row, and what the statements of `store/sql.rs` make of it.

use std::sync::LazyLock;

use idempotent_runtime::{Fingerprint, Millis, Record, State};

/// Any moment will do: the protocol looks only at what is left until a deadline.
pub(crate) const NOW: Millis = 1_000;

/// Time until a deadline. 0 is the deadline itself; whatever comes after it is -1, so that the clock never runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Left(i8);

impl Left {
    pub(crate) const OVER: Self = Self(-1);

    pub(crate) const fn of(ticks: i8) -> Self {
        Self(ticks)
    }

    pub(crate) const fn is_over(self) -> bool {
        self.0 <= 0
    }

    pub(crate) fn tick(self) -> Self {
        Self((self.0 - 1).max(-1))
    }

    fn deadline(self) -> Millis {
        NOW + Millis::from(self.0)
    }
}

/// What a client asks for under the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Ask {
    Ten,
    Twenty,
}

impl Ask {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Ten => Self::Twenty,
            Self::Twenty => Self::Ten,
        }
    }

    pub(crate) fn print(self) -> Fingerprint {
        static PRINTS: LazyLock<[Fingerprint; 2]> =
            LazyLock::new(|| [b"10", b"20"].map(|value| Fingerprint::of_value(value)));
        match self {
            Self::Ten => PRINTS[0],
            Self::Twenty => PRINTS[1],
        }
    }
}

/// What tells one attempt from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Nonce(pub(crate) u8);

/// What a completion must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fence {
    pub(crate) owner: Nonce,
    pub(crate) token: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stage {
    Claimed,
    /// With the answer to what somebody asked, or with none: a tombstone.
    Completed(Option<Ask>),
    Released,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Row {
    pub(crate) asked: Ask,
    pub(crate) stage: Stage,
    pub(crate) held: bool,
    pub(crate) fence: Fence,
    /// Counted no further than any client's limit.
    pub(crate) attempts: u8,
    pub(crate) lease: Left,
    pub(crate) ttl: Left,
}

impl Row {
    /// What `decide` is shown of it.
    pub(crate) fn record(self) -> Record {
        let Self { asked, stage, held, fence: _, attempts: _, lease, ttl } = self;
        let (state, replayable) = match stage {
            Stage::Claimed => (State::Claimed, false),
            Stage::Completed(answer) => (State::Completed, answer.is_some()),
            Stage::Released => (State::Released, false),
        };
        Record {
            fingerprint: asked.print(),
            state,
            held,
            lease_until: lease.deadline(),
            expires_at: ttl.deadline(),
            replayable,
        }
    }

    pub(crate) fn tick(&mut self) {
        self.lease = self.lease.tick();
        self.ttl = self.ttl.tick();
    }

    /// The condition of every statement that ends or renews a claim.
    pub(crate) fn admits(self, fence: Fence) -> bool {
        self.stage == Stage::Claimed && self.fence == fence
    }

    /// The condition of the sweep.
    pub(crate) fn is_sweepable(self) -> bool {
        self.ttl.is_over() && (self.stage != Stage::Claimed || !self.held && self.lease.is_over())
    }

    /// Whether somebody has to decide about it: asked when it is looked at, and again when the decision is written.
    pub(crate) fn is_unresolved(self) -> bool {
        self.stage == Stage::Claimed && self.held && self.lease.is_over()
    }
}

/// Where a key stands, in the words of the design's table and without `decide`, which is judged by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Standing {
    Absent,
    /// Absent, because a sweep deleted the row.
    Swept,
    /// Completed or released, and expired.
    Expired,
    Completed,
    Released,
    /// Claimed under a lease that is believed.
    Live,
    /// Claimed under a lease that is over.
    Abandoned,
    /// Abandoned, and expired too.
    Forgotten,
    /// Claimed under a lease that is over, for somebody to decide.
    Held,
}

impl Standing {
    pub(crate) fn of(row: Option<Row>) -> Self {
        let Some(row) = row else { return Self::Absent };
        match (row.stage, row.ttl.is_over()) {
            (Stage::Completed(_) | Stage::Released, true) => Self::Expired,
            (Stage::Completed(_), false) => Self::Completed,
            (Stage::Released, false) => Self::Released,
            (Stage::Claimed, _) if !row.lease.is_over() => Self::Live,
            (Stage::Claimed, _) if row.held => Self::Held,
            (Stage::Claimed, false) => Self::Abandoned,
            (Stage::Claimed, true) => Self::Forgotten,
        }
    }

    /// Whether any request may run.
    pub(crate) fn is_free(self) -> bool {
        matches!(self, Self::Absent | Self::Swept | Self::Expired | Self::Forgotten)
    }
}
