//! The nonce of an attempt: never the same twice, in this process or another. It is no secret.

use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::Lazy;
use uuid::Uuid;

/// 122 random bits, asked of the system once: to ask for each attempt would cost more than all else of a claim here.
static PROCESS: Lazy<u128> = Lazy::new(|| Uuid::new_v4().as_u128());
static ATTEMPTS: AtomicU64 = AtomicU64::new(1);

/// A nonce. The process's number tells apart what was forked after the first one.
pub(crate) fn owner() -> Uuid {
    let attempt = u128::from(ATTEMPTS.fetch_add(1, Ordering::Relaxed));
    let process = u128::from(std::process::id());
    Uuid::from_u128(PROCESS.wrapping_add(process << 64).wrapping_add(attempt))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let made = || (0..10_000).map(|_| owner()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(made)).collect();
        let all: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
