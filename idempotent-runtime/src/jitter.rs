//! Pauses by lot, so that those who failed together do not come again together.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A pause between nothing and `most`.
pub(crate) fn jitter(most: Duration) -> Duration {
    let dice = RandomState::new().hash_one(()) >> u32::BITS;
    most.mul_f64(f64::from(u32::try_from(dice).unwrap_or(0)) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_spread_over_all_that_is_allowed() {
        let most = Duration::from_secs(1);
        let pauses: Vec<_> = (0..1_000).map(|_| jitter(most)).collect();
        assert!(pauses.iter().all(|pause| *pause <= most));
        for tenth in 0..10 {
            let within = |pause: &&Duration| pause.as_millis() / 100 == tenth;
            assert!(pauses.iter().filter(within).count() > 40, "{tenth}");
        }
    }
}
