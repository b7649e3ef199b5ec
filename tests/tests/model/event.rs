//! What a step did, as the properties see it.

use crate::row::Standing;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    /// Nothing that a property asks for.
    Quiet,
    /// A claim was committed, alone or with its transaction.
    Claimed {
        found: Standing,
        request: Request,
        token: Token,
    },
    Replayed {
        found: Standing,
        request: Request,
    },
    Refused {
        found: Standing,
        why: Why,
    },
    Completed {
        by: By,
        /// Its lease had lapsed in the meantime, and was renewed.
        revived: bool,
    },
    /// A release or a renewal by somebody who did not hold the claim.
    WrittenByStale,
    /// A completion was refused by its fence.
    Fenced,
    /// A transaction could not commit, because another client had claimed the key meanwhile.
    Overtaken,
    Swept {
        found: Standing,
    },
    Resolved,
    /// Somebody's decision came too late.
    Unresolved,
}

/// What was asked, against what the row was claimed for or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    Same,
    Another,
}

/// The number of a claim, against that of the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Token {
    Grown,
    Repeated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    Reused,
    InUse,
    OutcomeUnknown,
    NotStored,
}

/// Who wrote under a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum By {
    Holder,
    Stale,
}
