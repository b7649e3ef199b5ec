//! How often, and after what pauses, a transaction that met another one is run again.

use std::time::Duration;

use crate::jitter::jitter;

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
        tokio::time::sleep(jitter(LONGEST.min(Duration::from_millis(1 << self.retries.min(16))))).await;
        true
    }
}
