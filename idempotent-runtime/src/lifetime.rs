//! How long a record lives: the ttl of its answer and the term of its lease.

use std::time::Duration;

use crate::error::Error;

/// The longest ttl that is not [`Ttl::FOREVER`], in milliseconds: 1,000 years.
pub(crate) const MAX_MS: i64 = 1_000 * 366 * 86_400_000;
/// Added to any clock of this millennium it neither overflows nor is ever reached.
const FOREVER_MS: i64 = i64::MAX / 2;
/// The lease of a claim that names none.
const DEFAULT_LEASE_MS: i64 = 30_000;

/// How long an answer is kept, from the claim on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ttl(i64);

impl Ttl {
    /// Never expires, never swept: for natural keys such as one like per user and post.
    pub(crate) const FOREVER: Self = Self(FOREVER_MS);

    /// A ttl of 1 millisecond to 1,000 years.
    pub(crate) fn new(ttl: Duration) -> Result<Self, Error> {
        Ok(Self(millis("ttl", ttl)?))
    }

    /// What the macro has checked already.
    #[must_use]
    pub(crate) const fn of_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub(crate) const fn millis(self) -> i64 {
        self.0
    }

    pub(crate) const fn duration(self) -> Duration {
        Duration::from_millis(self.0.unsigned_abs())
    }
}

/// How long an unfinished claim is believed before another may take it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term(i64);

impl Term {
    /// A lease of 1 millisecond or more.
    pub(crate) fn new(lease: Duration) -> Result<Self, Error> {
        Ok(Self(millis("lease", lease)?))
    }

    /// What the macro has checked already.
    #[must_use]
    pub(crate) const fn of_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// 30 seconds, or the ttl if that is shorter.
    pub(crate) const fn default_for(ttl: Ttl) -> Self {
        Self(if ttl.0 < DEFAULT_LEASE_MS { ttl.0 } else { DEFAULT_LEASE_MS })
    }

    pub(crate) const fn millis(self) -> i64 {
        self.0
    }

    /// The lease itself if it ends before the ttl does.
    pub(crate) fn within(self, ttl: Ttl) -> Result<Self, Error> {
        if self.0 <= ttl.0 {
            return Ok(self);
        }
        Err(Error::misconfigured(format!(
            "the lease of {} ms is longer than the ttl of {} ms; write a shorter `lease` or a longer `ttl`",
            self.0, ttl.0
        )))
    }
}

fn millis(what: &str, duration: Duration) -> Result<i64, Error> {
    match i64::try_from(duration.as_millis()) {
        Ok(0) => Err(Error::misconfigured(format!("the {what} is zero; write at least 1 ms"))),
        Ok(millis) if millis <= MAX_MS => Ok(millis),
        _ => Err(Error::misconfigured(format!(
            "the {what} of {duration:?} is longer than 1,000 years; write `ttl = \"forever\"`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lease_is_seconds_where_the_ttl_is_days() {
        let three_days = Ttl::new(Duration::from_secs(3 * 86_400)).unwrap();
        assert_eq!(Term::default_for(three_days), Term(30_000));
        assert_eq!(Term::default_for(Ttl::FOREVER), Term(30_000));
        assert_eq!(Term::default_for(Ttl(1_000)), Term(1_000));
    }

    #[test]
    fn nonsense_is_refused_at_construction() {
        for bad in [Duration::ZERO, Duration::from_nanos(999_999), Duration::MAX] {
            assert!(Ttl::new(bad).is_err() && Term::new(bad).is_err(), "{bad:?}");
        }
        assert!(Term(2_000).within(Ttl(1_000)).is_err());
        assert!(Term(1_000).within(Ttl(1_000)).is_ok());
    }

    #[test]
    fn forever_never_overflows_the_clock() {
        let year_9999_ms = 253_402_300_799_000_i64;
        assert!(year_9999_ms.checked_add(FOREVER_MS).is_some());
    }
}
