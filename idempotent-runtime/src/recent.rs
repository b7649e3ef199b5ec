//! The records that this process has met lately. A repeat of one is answered by a look, which costs no more than a plain
//! SELECT; for a key that was never seen the claim is sent at once. A guess that is wrong costs a statement, no more.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::claim::Address;

/// How many records are remembered at most: 256 KB.
const BUCKETS: usize = 1 << 12;
/// How many of them share a bucket, which is one line of a processor's cache.
const WAYS: usize = 8;

/// Hashes of records, the newest of each bucket first. Two that are asked for in turns do not drive each other out.
#[derive(Debug)]
pub(crate) struct Recent {
    buckets: Box<[Bucket]>,
    hashes: RandomState,
}

/// Racing writers may lose a hash or keep it twice, and no more is asked of a guess.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket([AtomicU64; WAYS]);

impl Default for Recent {
    fn default() -> Self {
        Self { buckets: (0..BUCKETS).map(|_| Bucket::default()).collect(), hashes: RandomState::new() }
    }
}

impl Recent {
    /// Whether the record was met; may be wrong either way.
    pub(crate) fn has(&self, address: &Address) -> bool {
        let (Bucket(known), hash) = self.bucket(address);
        known.iter().any(|known| known.load(Ordering::Relaxed) == hash)
    }

    /// Remembers that there is such a record.
    pub(crate) fn note(&self, address: &Address) {
        if self.has(address) {
            return;
        }
        let (Bucket(known), mut newer) = self.bucket(address);
        for slot in known {
            newer = slot.swap(newer, Ordering::Relaxed);
        }
    }

    fn bucket(&self, address: &Address) -> (&Bucket, u64) {
        let hash = self.hashes.hash_one(address);
        // The remainder fits: it is less than the number of buckets.
        let at = usize::try_from(hash % BUCKETS as u64).unwrap_or_default();
        (&self.buckets[at], hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::vault::Vault;

    fn address(key: &str) -> Address {
        let key = Key::natural(key).unwrap();
        let [namespace, operation, scope] = [String::new(), String::new(), "alice".to_owned()];
        Address { namespace, operation, scope, key, vault: Vault::default() }
    }

    #[test]
    fn what_was_noted_is_known_until_others_have_taken_its_place() {
        let recent = Recent::default();
        assert!(!recent.has(&address("one")));
        recent.note(&address("one"));
        assert!(recent.has(&address("one")));
        assert!(!recent.has(&address("two")));
        for n in 0..20 * BUCKETS * WAYS {
            recent.note(&address(&n.to_string()));
        }
        assert!(!recent.has(&address("one")), "20 records for each place have come since");
    }

    #[test]
    fn a_thousand_that_are_asked_for_in_turns_stay_known() {
        let recent = Recent::default();
        let addresses: Vec<Address> = (0..1_000).map(|n| address(&n.to_string())).collect();
        for address in addresses.iter().chain(&addresses) {
            recent.note(address);
        }
        let forgotten = addresses.iter().filter(|address| !recent.has(address)).count();
        assert_eq!(forgotten, 0);
    }
}
