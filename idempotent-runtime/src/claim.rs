//! The claim: everything a statement needs to know of a request, and the fence it runs under.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::answer::Answer;
use crate::fingerprint::Fingerprint;
use crate::key::Key;
use crate::lifetime::{Lease, Ttl};
use crate::record::{Record, Refusal};

/// The name of a record: its primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) namespace: String,
    /// `""` for keys that clients send: one key space for each caller. The function's name for natural keys.
    pub(crate) operation: String,
    pub(crate) scope: String,
    pub(crate) key: Key,
}

impl Address {
    /// The number of this record's advisory lock: 8 bytes of SHA-256. A collision is a false "in use", no more.
    pub(crate) fn lock(&self) -> i64 {
        let mut hash = Sha256::new();
        for part in ["idempotency_keys", &self.namespace, &self.operation, &self.scope, self.key.as_str()] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut first = [0; 8];
        first.copy_from_slice(&hash.finalize()[..8]);
        i64::from_le_bytes(first)
    }
}

/// A request that wants to run.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) address: Address,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) ttl: Ttl,
    pub(crate) lease: Lease,
    /// Attempts after which a claim that is abandoned is held; 0 = no limit.
    pub(crate) max_attempts: i64,
}

/// What a completion must match: a nonce of this attempt, and the number of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) owner: Uuid,
    pub(crate) token: i64,
}

/// What came of a claim.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// It is ours: run.
    Won(Fence),
    /// It ran before.
    Replay(Answer),
    /// Run nothing.
    Refused(Refusal),
}

/// A stored row, as far as one request needs it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) now: i64,
    pub(crate) record: Record,
    pub(crate) answer: Option<Answer>,
}

/// How long a second request waits for a first whose row cannot be seen yet.
pub(crate) const UNSEEN: Refusal = Refusal::InUse { retry_after_ms: 1_000 };

impl Row {
    /// What the protocol makes of this row; `None` says that it may be claimed.
    pub(crate) fn settle(self, asked: Fingerprint) -> Option<Claimed> {
        use crate::record::{Decision, decide};
        match (decide(Some(&self.record), asked, self.now), self.answer) {
            (Decision::Claim | Decision::TakeOver, _) => None,
            (Decision::Replay, Some(answer)) => Some(Claimed::Replay(answer)),
            (Decision::Replay, None) => Some(Claimed::Refused(Refusal::NotStored)),
            (Decision::Refuse(refusal), _) => Some(Claimed::Refused(refusal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(operation: &str, scope: &str) -> Address {
        Address {
            namespace: String::new(),
            operation: operation.into(),
            scope: scope.into(),
            key: Key::natural("k").unwrap(),
        }
    }

    #[test]
    fn neighbouring_addresses_have_their_own_locks() {
        assert_eq!(address("a", "b").lock(), address("a", "b").lock());
        assert_ne!(address("a", "b").lock(), address("ab", "").lock());
        assert_ne!(address("a", "b").lock(), address("b", "a").lock());
    }
}
