//! The claim: everything a statement needs to know of a request, and the fence it runs under.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::answer::Answer;
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::hex::hex;
use crate::key::Key;
use crate::lifetime::{Term, Ttl};
use crate::record::{Decision, Record, Refusal, decide, decide_token};
use crate::terms::Repeat;
use crate::vault::Vault;

/// The name of a record: its primary key.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) namespace: String,
    /// `""` for keys that clients send: one key space for each caller. The function's name for natural keys.
    pub(crate) operation: String,
    pub(crate) scope: String,
    pub(crate) key: Key,
    /// With what the parts of the record are sealed: no part of its name.
    pub(crate) vault: Vault,
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Address {}

impl std::hash::Hash for Address {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl Address {
    /// The number of this record's advisory lock: 8 bytes of SHA-256. A collision is a false "in use", no more.
    pub(crate) fn lock(&self) -> i64 {
        let [namespace, operation, scope, key] = self.parts();
        let digest = digest(&["idempotency_keys", namespace, operation, scope, key]);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        i64::from_le_bytes(first)
    }

    /// The four that are its name.
    pub(crate) fn parts(&self) -> [&str; 4] {
        let Self { namespace, operation, scope, key, vault: _ } = self;
        [namespace, operation, scope, key.as_str()]
    }

    /// SHA-256 of the name and of something that belongs to the record.
    pub(crate) fn digest_of(&self, what: &[&str]) -> [u8; 32] {
        digest(&[&self.parts()[..], what].concat())
    }

    /// The key that a step sends to another system: 256 bits, the same in every attempt.
    pub(crate) fn downstream_key(&self, step: &str) -> String {
        let [namespace, operation, scope, key] = self.parts();
        hex(&digest(&["downstream", namespace, operation, scope, key, step]))
    }
}

/// SHA-256 of parts, each with its length, so that no two lists of parts are the same bytes.
fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// A request that wants to run.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) address: Address,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) ttl: Ttl,
    pub(crate) lease: Term,
    /// Whether a claim that is abandoned is held, for somebody to decide.
    pub(crate) hold: bool,
    /// Attempts after which it is held in any case; 0 = no limit.
    pub(crate) max_attempts: i64,
    /// What the operation was called with, for a completer.
    pub(crate) arguments: Option<Bytes>,
    pub(crate) by: By,
    /// Whether the record is likely to be there: then a look may settle everything.
    pub(crate) known: bool,
}

/// What kind of key a claim has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// One that the caller has chosen.
    Key,
    /// A token that the engine has issued into the record.
    Token(Repeat),
    /// A token that another store has, or had: it was issued.
    Ticket(Repeat),
}

impl Claim {
    /// What the protocol makes of what is stored; `None` says that it may be claimed.
    pub(crate) fn settle(&self, stored: Option<Row>) -> Option<Claimed> {
        match (self.by, stored) {
            (By::Key, stored) => stored?.settle(decide, self.fingerprint),
            (By::Token(_), None) => Some(Claimed::Refused(Refusal::TokenInvalid)),
            (By::Ticket(_), None) => None,
            (By::Token(repeat) | By::Ticket(repeat), Some(row)) => {
                repeat.of(row.settle(decide_token, self.fingerprint))
            }
        }
    }
}

impl Repeat {
    /// What a repeat is told.
    fn of(self, settled: Option<Claimed>) -> Option<Claimed> {
        match (settled, self) {
            (Some(Claimed::Replay(_) | Claimed::Withheld(_)), Self::Refuse) => {
                Some(Claimed::Withheld(Error::TokenUsed))
            }
            (settled, _) => settled,
        }
    }
}

/// What a completion must match: a nonce of this attempt, and the number of the claim. With it, whose steps these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) owner: Uuid,
    pub(crate) token: i64,
    /// The life of the key: one more each time it is claimed after it has expired.
    pub(crate) generation: i64,
    /// How often this life of the key was claimed.
    pub(crate) attempt: i64,
}

/// A step as it is recorded.
#[derive(Debug, Clone)]
pub(crate) struct StepRow {
    pub(crate) name: String,
    pub(crate) value: Bytes,
}

/// A claim whose lease is over and that was never ended.
#[derive(Debug, Clone)]
pub(crate) struct Unresolved {
    pub(crate) address: Address,
    pub(crate) fence: Fence,
    pub(crate) created_at: i64,
    pub(crate) arguments: Option<Bytes>,
}

/// What came of a claim.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// It is ours: run.
    Won(Fence),
    /// It ran before.
    Replay(Kept),
    /// It ran before, and its answer is not given back: why.
    Withheld(Error),
    /// Run nothing.
    Refused(Refusal),
}

/// An answer that is given back.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) answer: Answer,
    /// For how long it still is.
    pub(crate) left_ms: i64,
}

/// A stored row, as far as one request needs it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) now: i64,
    pub(crate) record: Record,
    pub(crate) answer: Option<Answer>,
    /// Whether there is an answer that cannot be read.
    pub(crate) unreadable: bool,
}

/// A protocol.
type Decide = fn(Option<&Record>, Fingerprint, i64) -> Decision;

/// How long a second request waits for a first whose row cannot be seen yet.
pub(crate) const UNSEEN: Refusal = Refusal::InUse { retry_after_ms: 1_000 };

impl Row {
    /// What the protocol makes of this row; `None` says that it may be claimed.
    fn settle(self, decide: Decide, asked: Fingerprint) -> Option<Claimed> {
        match (decide(Some(&self.record), asked, self.now), self.answer) {
            (Decision::Claim | Decision::TakeOver, _) => None,
            (Decision::Replay, Some(answer)) => {
                Some(Claimed::Replay(Kept { answer, left_ms: self.record.expires_at - self.now }))
            }
            (Decision::Replay, None) if self.unreadable => Some(Claimed::Withheld(Error::ResponseUnreadable)),
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
            vault: Vault::default(),
        }
    }

    #[test]
    fn neighbouring_addresses_have_their_own_locks() {
        assert_eq!(address("a", "b").lock(), address("a", "b").lock());
        assert_ne!(address("a", "b").lock(), address("ab", "").lock());
        assert_ne!(address("a", "b").lock(), address("b", "a").lock());
    }
}
