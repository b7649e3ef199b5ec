//! The protocol broken on purpose, one part at a time: the model sees it, and the property that is named says what.

use idempotent_runtime::{Decision, Fingerprint, Millis, Record, State, decide};
use stateright::{Checker, Expectation, HasDiscoveries, Model};

use crate::client::Mode::{self, Leased, Transactional};
use crate::client::OnCrash::{Hold, Retry};
use crate::properties::{
    HELD, LIMITED, LIVE, NO_OLD_ANSWER, NO_STALE_COMPLETION, NO_STALE_WRITE, ONE_COMMIT, ONE_HOLDER, ONE_REQUEST,
    OWN_ANSWER, REVIVED, SWEPT, SWEPT_IF_OVER, TERMINAL, TOKENS_GROW, TRUE_REFUSALS,
};
use crate::protocol::{Protocol, Transactions};
use crate::row::{Fence, Row, Stage};

const RETRIED: [Mode; 2] = [Leased(Retry); 2];
const HELD_RUNS: [Mode; 2] = [Leased(Hold); 2];

/// Every one of these properties has a counterexample.
fn caught<const N: usize>(protocol: Protocol, properties: [&'static str; N]) {
    let caught = HasDiscoveries::AllOf(properties.into());
    let checker = protocol.checker().finish_when(caught).spawn_bfs().join();
    for name in properties {
        assert_eq!(checker.model().property(name).expectation, Expectation::Always);
        checker.assert_any_discovery(name);
    }
}

/// Everything holds that must, and everything happens that may, but for these.
fn safe_but<const N: usize>(protocol: Protocol, never: [&'static str; N]) {
    let checker = protocol.checker().spawn_bfs().join();
    for property in checker.model().properties() {
        match property.expectation {
            Expectation::Sometimes if !never.contains(&property.name) => {
                checker.assert_any_discovery(property.name);
            }
            _ => checker.assert_no_discovery(property.name),
        }
    }
}

fn deciding(clients: [Mode; 2], decide: fn(Option<&Record>, Fingerprint, Millis) -> Decision) -> Protocol {
    Protocol { decide, ..Protocol::of(clients) }
}

#[test]
fn taking_a_live_lease_is_caught() {
    let impatient = deciding(RETRIED, |existing, asked, now| {
        decide(existing.map(|record| Record { lease_until: now, ..*record }).as_ref(), asked, now)
    });
    caught(impatient, [LIVE]);
}

#[test]
fn answering_another_request_is_caught() {
    fn careless(existing: Option<&Record>, asked: Fingerprint, now: Millis) -> Decision {
        match existing {
            Some(record) if record.replayable => decide(existing, record.fingerprint, now),
            _ => decide(existing, asked, now),
        }
    }
    caught(deciding(RETRIED, careless), [OWN_ANSWER]);
    caught(deciding([Transactional; 2], careless), [OWN_ANSWER]);
}

#[test]
fn claiming_over_a_completed_record_is_caught() {
    fn forgetful(existing: Option<&Record>, asked: Fingerprint, now: Millis) -> Decision {
        decide(existing.filter(|record| record.state != State::Completed), asked, now)
    }
    caught(deciding(RETRIED, forgetful), [TERMINAL]);
    caught(deciding(HELD_RUNS, forgetful), [TERMINAL, LIMITED]);
    caught(deciding([Transactional; 2], forgetful), [TERMINAL, ONE_COMMIT]);
}

#[test]
fn taking_over_a_held_record_is_caught() {
    let unheld = deciding(HELD_RUNS, |existing, asked, now| {
        decide(existing.map(|record| Record { held: false, ..*record }).as_ref(), asked, now)
    });
    caught(unheld, [HELD, LIMITED]);
}

#[test]
fn running_another_request_on_a_released_or_abandoned_key_is_caught() {
    let careless = deciding(RETRIED, |existing, asked, now| match existing {
        Some(record) if record.state != State::Completed => decide(existing, record.fingerprint, now),
        _ => decide(existing, asked, now),
    });
    caught(careless, [ONE_REQUEST]);
}

#[test]
fn deciding_a_moment_too_early_is_caught() {
    caught(deciding(RETRIED, |existing, asked, now| decide(existing, asked, now + 1)), [LIVE, TERMINAL]);
}

#[test]
fn deciding_a_moment_too_late_is_caught() {
    let late = deciding(RETRIED, |existing, asked, now| decide(existing, asked, now - 1));
    caught(late, [NO_OLD_ANSWER, TRUE_REFUSALS]);
}

#[test]
fn a_completion_without_a_fence_is_caught() {
    let unfenced = Protocol { admits: |row, _| row.stage == Stage::Claimed, ..Protocol::of(RETRIED) };
    caught(unfenced, [NO_STALE_COMPLETION, NO_STALE_WRITE, ONE_HOLDER, LIVE, OWN_ANSWER]);
    caught(Protocol { admits: |_, _| true, ..Protocol::of(RETRIED) }, [NO_STALE_COMPLETION, TERMINAL]);
}

/// Tokens begin again when a row was swept.
#[test]
fn a_fence_without_the_owner_is_caught() {
    let admits = |row: Row, fence: Fence| row.stage == Stage::Claimed && row.fence.token == fence.token;
    caught(Protocol { admits, ..Protocol::of(RETRIED) }, [ONE_HOLDER, NO_STALE_COMPLETION]);
    let unswept = Protocol { admits, is_sweepable: |_| false, ..Protocol::of(RETRIED) };
    safe_but(unswept, [SWEPT]);
}

#[test]
fn tokens_that_stand_still_are_caught() {
    caught(Protocol { next_token: |_| 1, ..Protocol::of(RETRIED) }, [TOKENS_GROW]);
}

#[test]
fn sweeping_whatever_has_expired_is_caught() {
    let is_sweepable = |row: Row| row.ttl.is_over();
    caught(Protocol { is_sweepable, ..Protocol::of(RETRIED) }, [SWEPT_IF_OVER, LIVE]);
    caught(Protocol { is_sweepable, ..Protocol::of(HELD_RUNS) }, [SWEPT_IF_OVER, HELD]);
}

#[test]
fn committing_without_the_guard_is_caught() {
    let transactions = Transactions::Trust;
    caught(Protocol { transactions, ..Protocol::of([Transactional; 2]) }, [ONE_COMMIT, TERMINAL]);
    caught(Protocol { transactions, ..Protocol::of([Transactional, Leased(Retry)]) }, [LIVE]);
}

/// A holder that was only paused may have renewed its lease since somebody saw it lapsed.
#[test]
fn deciding_about_a_claim_that_lives_again_is_caught() {
    caught(Protocol { is_unresolved: |_| true, ..Protocol::of(HELD_RUNS) }, [LIVE]);
}

#[test]
fn a_fence_that_does_not_revive_is_safe_and_revives_nothing() {
    let admits = |row: Row, fence| row.admits(fence) && !row.lease.is_over();
    safe_but(Protocol { admits, ..Protocol::of(RETRIED) }, [REVIVED]);
}
