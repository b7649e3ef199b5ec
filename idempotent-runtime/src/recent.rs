//! The records that this process has met lately. A repeat of one is answered by a look, which costs no more than a plain
//! SELECT; for a key that was never seen the claim is sent at once. A guess that is wrong costs a statement, no more.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::claim::Address;

/// How many records are remembered at most: 256 KB.
const SLOTS: usize = 1 << 15;

/// One slot for each hash, which the next record of the same slot takes over.
#[derive(Debug)]
pub(crate) struct Recent {
    slots: Box<[AtomicU64]>,
    hashes: RandomState,
}

impl Default for Recent {
    fn default() -> Self {
        Self { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(), hashes: RandomState::new() }
    }
}

impl Recent {
    /// Whether the record was met; may be wrong either way.
    pub(crate) fn has(&self, address: &Address) -> bool {
        let (slot, hash) = self.slot(address);
        slot.load(Ordering::Relaxed) == hash
    }

    /// Remembers that there is such a record.
    pub(crate) fn note(&self, address: &Address) {
        let (slot, hash) = self.slot(address);
        slot.store(hash, Ordering::Relaxed);
    }

    fn slot(&self, address: &Address) -> (&AtomicU64, u64) {
        let hash = self.hashes.hash_one(address);
        // The remainder fits: it is less than the number of slots.
        let at = usize::try_from(hash % SLOTS as u64).unwrap_or_default();
        (&self.slots[at], hash)
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
    fn what_was_noted_is_known_until_its_slot_is_taken() {
        let recent = Recent::default();
        assert!(!recent.has(&address("one")));
        recent.note(&address("one"));
        assert!(recent.has(&address("one")));
        assert!(!recent.has(&address("two")));
        for n in 0..20 * SLOTS {
            recent.note(&address(&n.to_string()));
        }
        assert!(!recent.has(&address("one")), "20 records for each slot have come since");
    }
}
