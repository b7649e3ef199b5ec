//! How often, and after what pauses, a transaction that met another one is run again.

use std::time::Duration;

use crate::jitter::jitter;
use crate::store::{Driver, Isolation};

/// Runs after the first.
const RETRIES: u32 = 25;
const LONGEST: Duration = Duration::from_millis(500);
/// Runs after one that failed and where nobody saw by what.
const UNSEEN: u32 = 3;

/// Exponential, from 2 ms on, with full jitter.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    retries: u32,
    unseen: u32,
}

impl Backoff {
    /// Whether a transaction whose body gave up has met another: then it is run again. Where nobody saw by what it has
    /// failed it is supposed to have, a few times: what it met by itself it meets again.
    pub(crate) async fn blames_another<C>(
        &mut self,
        driver: &dyn Driver<C>,
        conn: &mut C,
        isolation: Isolation,
    ) -> bool {
        if driver.saw_contention(conn) {
            return true;
        }
        let supposed = self.unseen < UNSEEN && driver.failed_unseen(conn, isolation).await;
        self.unseen += u32::from(supposed);
        supposed
    }

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
