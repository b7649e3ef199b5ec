//! How often, and after what pauses, a transaction that met another one is run again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Runs after the first.
const RETRIES: u32 = 25;
const LONGEST: Duration = Duration::from_millis(500);

/// Exponential, from 2 ms on, with full jitter.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    retries: u32,
}

impl Backoff {
    /// Waits before the next run; false when there were enough.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.retries == RETRIES {
            return false;
        }
        self.retries += 1;
        let most = LONGEST.min(Duration::from_millis(1 << self.retries.min(16)));
        let dice = RandomState::new().hash_one(self.retries) % 1_000;
        tokio::time::sleep(most.mul_f64(f64::from(u32::try_from(dice).unwrap_or(0)) / 1_000.0)).await;
        true
    }
}
