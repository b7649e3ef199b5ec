//! The record, and the whole protocol as one pure function.

use crate::fingerprint::Fingerprint;

/// Milliseconds since the epoch, by the database's clock.
///
/// ```
/// let year_2001: idempotent_runtime::Millis = 1_000_000_000_000;
/// # let _ = year_2001;
/// ```
pub type Millis = i64;

/// Where a record stands.
///
/// ```
/// use idempotent_runtime::State;
/// assert_ne!(State::Claimed, State::Completed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Somebody runs, or died running.
    Claimed,
    /// The answer is stored. Terminal until it expires.
    Completed,
    /// The run failed and gave the key back; the row stays, so that fences never repeat.
    Released,
}

/// What the protocol looks at in a stored row.
///
/// ```
/// use idempotent_runtime::{Fingerprint, Record, State};
///
/// let record = Record {
///     fingerprint: Fingerprint::NONE,
///     state: State::Completed,
///     held: false,
///     lease_until: 0,
///     expires_at: 1_000,
///     replayable: true,
/// };
/// assert_eq!(record.state, State::Completed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// What was asked when the key was claimed.
    pub fingerprint: Fingerprint,
    /// Where it stands.
    pub state: State,
    /// Not to be taken over: after its lease only an operator decides.
    pub held: bool,
    /// When the claim is no longer believed.
    pub lease_until: Millis,
    /// When a finished record counts as absent.
    pub expires_at: Millis,
    /// Whether the answer was stored; not for one that was too large, or a stream.
    pub replayable: bool,
}

/// What is to be done with a request.
///
/// ```
/// use idempotent_runtime::{decide, Decision, Fingerprint};
///
/// assert_eq!(decide(None, Fingerprint::NONE, 0), Decision::Claim);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nobody has this key: claim it and run.
    Claim,
    /// Its holder is gone: claim it with the next fence and run.
    TakeOver,
    /// Give back the stored answer.
    Replay,
    /// Run nothing.
    Refuse(Refusal),
}

/// Why a request is refused by what is stored.
///
/// ```
/// use idempotent_runtime::{decide, Decision, Fingerprint, Record, Refusal, State};
///
/// let running = Record {
///     fingerprint: Fingerprint::NONE,
///     state: State::Claimed,
///     held: false,
///     lease_until: 2_500,
///     expires_at: 10_000,
///     replayable: false,
/// };
/// let refused = Decision::Refuse(Refusal::InUse { retry_after_ms: 1_500 });
/// assert_eq!(decide(Some(&running), Fingerprint::NONE, 1_000), refused);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The key was used for another request.
    Reused,
    /// The first request still runs.
    InUse {
        /// How long its claim is believed yet.
        retry_after_ms: i64,
    },
    /// The first request died, and may not be run again without somebody's decision.
    OutcomeUnknown,
    /// It ran, but its answer could not be stored.
    NotStored,
    /// No such token was issued for this caller and this operation, or it has expired.
    TokenInvalid,
}

/// The protocol: what to do with a request, given what is stored under its key and the database's clock.
///
/// ```
/// use idempotent_runtime::{decide, Content, Decision, Fingerprint, Record, Refusal, State};
///
/// let asked = Fingerprint::of_value(b"10");
/// let done = Record {
///     fingerprint: asked,
///     state: State::Completed,
///     held: false,
///     lease_until: 0,
///     expires_at: 1_000,
///     replayable: true,
/// };
/// assert_eq!(decide(Some(&done), asked, 999), Decision::Replay);
/// assert_eq!(decide(Some(&done), Fingerprint::of_value(b"20"), 999), Decision::Refuse(Refusal::Reused));
/// assert_eq!(decide(Some(&done), asked, 1_000), Decision::Claim, "expired is absent");
/// ```
#[must_use]
pub fn decide(existing: Option<&Record>, asked: Fingerprint, now: Millis) -> Decision {
    let Some(&Record { fingerprint, state, held, lease_until, expires_at, replayable }) = existing else {
        return Decision::Claim;
    };
    let expired = expires_at <= now;
    let abandoned = state == State::Claimed && lease_until <= now;
    match state {
        State::Completed | State::Released if expired => Decision::Claim,
        // A token that was issued, and under which nobody has asked for anything.
        State::Released if fingerprint == Fingerprint::UNASKED => Decision::Claim,
        State::Claimed if abandoned && expired && !held => Decision::TakeOver,
        _ if fingerprint != asked => Decision::Refuse(Refusal::Reused),
        State::Completed if replayable => Decision::Replay,
        State::Completed => Decision::Refuse(Refusal::NotStored),
        State::Released => Decision::Claim,
        State::Claimed if !abandoned => Decision::Refuse(Refusal::InUse { retry_after_ms: lease_until - now }),
        State::Claimed if held => Decision::Refuse(Refusal::OutcomeUnknown),
        State::Claimed => Decision::TakeOver,
    }
}

/// The protocol of one-time tokens: as [`decide`], except that nothing runs which was not issued, or whose time is over.
///
/// ```
/// use idempotent_runtime::{decide_token, Decision, Fingerprint, Record, Refusal, State};
///
/// let issued = Record {
///     fingerprint: Fingerprint::UNASKED,
///     state: State::Released,
///     held: false,
///     lease_until: 0,
///     expires_at: 1_000,
///     replayable: false,
/// };
/// let asked = Fingerprint::of_value(b"10");
/// assert_eq!(decide_token(Some(&issued), asked, 999), Decision::Claim);
/// assert_eq!(decide_token(Some(&issued), asked, 1_000), Decision::Refuse(Refusal::TokenInvalid), "expired");
/// assert_eq!(decide_token(None, asked, 999), Decision::Refuse(Refusal::TokenInvalid), "never issued");
/// ```
#[must_use]
pub fn decide_token(existing: Option<&Record>, asked: Fingerprint, now: Millis) -> Decision {
    match decide(existing, asked, now) {
        Decision::Claim | Decision::TakeOver if existing.is_none_or(|record| record.expires_at <= now) => {
            Decision::Refuse(Refusal::TokenInvalid)
        }
        decision => decision,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn print(n: u8) -> Fingerprint {
        Fingerprint::of_value(&[n])
    }

    prop_compose! {
        fn any_case()(
            which in 0_u8..2,
            asked in 0_u8..2,
            state in prop_oneof![Just(State::Claimed), Just(State::Completed), Just(State::Released)],
            held: bool,
            replayable: bool,
            now: i32,
            // Often just at the edge.
            lease_in in prop_oneof![-1_i64..=1, any::<i32>().prop_map(i64::from)],
            expires_in in prop_oneof![-1_i64..=1, any::<i32>().prop_map(i64::from)],
        ) -> (Record, Fingerprint, Millis) {
            let now = i64::from(now);
            let record = Record {
                fingerprint: print(which),
                state,
                held,
                lease_until: now + lease_in,
                expires_at: now + expires_in,
                replayable,
            };
            (record, print(asked), now)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        #[test]
        fn another_request_never_gets_the_answer((record, asked, now) in any_case()) {
            if record.fingerprint != asked {
                prop_assert_ne!(decide(Some(&record), asked, now), Decision::Replay);
            }
        }

        #[test]
        fn a_live_claim_is_never_taken((record, asked, now) in any_case()) {
            if record.state == State::Claimed && record.lease_until > now {
                let refused = if record.fingerprint == asked {
                    Refusal::InUse { retry_after_ms: record.lease_until - now }
                } else {
                    Refusal::Reused
                };
                prop_assert_eq!(decide(Some(&record), asked, now), Decision::Refuse(refused));
            }
        }

        #[test]
        fn completed_is_terminal_until_it_expires((record, asked, now) in any_case()) {
            if record.state == State::Completed {
                let decision = decide(Some(&record), asked, now);
                prop_assert_eq!(decision == Decision::Claim, record.expires_at <= now);
                prop_assert_ne!(decision, Decision::TakeOver);
            }
        }

        #[test]
        fn a_held_claim_is_never_taken_over((record, asked, now) in any_case()) {
            if record.state == State::Claimed && record.held {
                prop_assert!(matches!(decide(Some(&record), asked, now), Decision::Refuse(_)));
            }
        }

        #[test]
        fn only_an_abandoned_claim_is_taken_over((record, asked, now) in any_case()) {
            if decide(Some(&record), asked, now) == Decision::TakeOver {
                prop_assert!(record.state == State::Claimed && record.lease_until <= now && !record.held);
                prop_assert!(record.fingerprint == asked || record.expires_at <= now);
            }
        }

        #[test]
        fn an_expired_finished_record_is_as_good_as_none((record, asked, now) in any_case()) {
            if record.state != State::Claimed && record.expires_at <= now {
                prop_assert_eq!(decide(Some(&record), asked, now), decide(None, asked, now));
            }
        }

        #[test]
        fn a_released_key_runs_again_for_the_same_request_only((record, asked, now) in any_case()) {
            if record.state == State::Released && record.expires_at > now {
                let expected = if record.fingerprint == asked { Decision::Claim } else { Decision::Refuse(Refusal::Reused) };
                prop_assert_eq!(decide(Some(&record), asked, now), expected);
            }
        }
    }
}
