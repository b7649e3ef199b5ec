//! How often a call is tried, and with which pauses.

use std::time::Duration;

use crate::jitter::jitter;

/// How often a call is tried, for how long, and with which pauses.
///
/// Before attempt *n* + 1 the client waits for as long as the last answer's `Retry-After` says, if it says so, and then
/// for a random time of up to `first_pause` × 2ⁿ⁻¹, at most `longest_pause` (exponential backoff with full jitter). It
/// gives up when the attempts are used up, or when the next one would begin after `within`.
///
/// ```
/// use std::time::Duration;
/// use idempotent_runtime::client::RetryPolicy;
///
/// let patient = RetryPolicy::default().attempts(20).within(Duration::from_secs(600));
/// # let _ = patient;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    attempts: u32,
    within: Duration,
    attempt_timeout: Duration,
    first_pause: Duration,
    longest_pause: Duration,
}

impl Default for RetryPolicy {
    /// Up to 8 attempts of at most 30 s in a minute, with pauses from 200 ms to 10 s.
    fn default() -> Self {
        Self {
            attempts: 8,
            within: Duration::from_secs(60),
            attempt_timeout: Duration::from_secs(30),
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(10),
        }
    }
}

impl RetryPolicy {
    /// At most so many attempts, the first one included; 0 counts as 1.
    ///
    /// ```
    /// # use idempotent_runtime::client::RetryPolicy;
    /// let once = RetryPolicy::default().attempts(1);
    /// # let _ = once;
    /// ```
    #[must_use]
    pub fn attempts(self, attempts: u32) -> Self {
        Self { attempts: attempts.max(1), ..self }
    }

    /// The whole call, with all of its attempts and pauses, takes no longer than this.
    ///
    /// ```
    /// # use idempotent_runtime::client::RetryPolicy;
    /// let hasty = RetryPolicy::default().within(std::time::Duration::from_secs(5));
    /// # let _ = hasty;
    /// ```
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        Self { within: limit, ..self }
    }

    /// One attempt, to the last byte of its answer, takes no longer than this.
    ///
    /// ```
    /// # use idempotent_runtime::client::RetryPolicy;
    /// let slow_server = RetryPolicy::default().attempt_timeout(std::time::Duration::from_secs(120));
    /// # let _ = slow_server;
    /// ```
    #[must_use]
    pub fn attempt_timeout(self, limit: Duration) -> Self {
        Self { attempt_timeout: limit, ..self }
    }

    /// The longest random pause before the second attempt, and the longest before any.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use idempotent_runtime::client::RetryPolicy;
    /// let policy = RetryPolicy::default().pauses(Duration::from_millis(50), Duration::from_secs(2));
    /// # let _ = policy;
    /// ```
    #[must_use]
    pub fn pauses(self, first: Duration, longest: Duration) -> Self {
        Self { first_pause: first, longest_pause: longest, ..self }
    }

    /// How long the attempt that begins after `spent` may take.
    pub(super) fn left_for_attempt(&self, spent: Duration) -> Duration {
        self.attempt_timeout.min(self.within.saturating_sub(spent))
    }

    /// The pause after the attempt of this number, counted from 1; `None` when there is to be no other.
    pub(super) fn pause(&self, attempt: u32, spent: Duration, asked: Duration) -> Option<Duration> {
        let pause = asked.saturating_add(jitter(self.longest_after(attempt)));
        (attempt < self.attempts && spent.saturating_add(pause) < self.within).then_some(pause)
    }

    fn longest_after(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        self.first_pause.saturating_mul(doubled).min(self.longest_pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pause_doubles_up_to_a_limit() {
        let policy = RetryPolicy::default();
        let longest = |attempt| policy.longest_after(attempt).as_millis();
        assert_eq!([1, 2, 3, 6, 7, 1_000].map(longest), [200, 400, 800, 6_400, 10_000, 10_000]);
    }

    #[test]
    fn what_the_server_asks_for_is_the_least() {
        let asked = Duration::from_secs(20);
        for attempt in 1..8 {
            assert!(RetryPolicy::default().pause(attempt, Duration::ZERO, asked).unwrap() >= asked);
        }
    }

    #[test]
    fn it_ends_with_the_attempts_or_with_the_time() {
        let policy = RetryPolicy::default().attempts(3);
        assert!(policy.pause(2, Duration::ZERO, Duration::ZERO).is_some());
        assert!(policy.pause(3, Duration::ZERO, Duration::ZERO).is_none());
        assert!(policy.pause(1, Duration::from_secs(60), Duration::ZERO).is_none());
        assert!(policy.pause(1, Duration::ZERO, Duration::from_secs(60)).is_none());
        assert!(RetryPolicy::default().attempts(0).pause(1, Duration::ZERO, Duration::ZERO).is_none());
    }

    #[test]
    fn no_attempt_outlives_its_call() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.left_for_attempt(Duration::ZERO), Duration::from_secs(30));
        assert_eq!(policy.left_for_attempt(Duration::from_secs(50)), Duration::from_secs(10));
        assert_eq!(policy.left_for_attempt(Duration::from_secs(70)), Duration::ZERO);
    }
}
