//! The protocol as it is: what must always hold does, and what may happen happens.

use std::io::Write;
use std::time::Instant;

use stateright::{Checker, Model};

use crate::client::Mode::{self, Leased, Transactional};
use crate::client::OnCrash::{Hold, Retry, RetryUpTo};
use crate::protocol::{Protocol, Transactions};
use crate::row::Left;

const RETRIED: Mode = Leased(Retry);
const HELD: Mode = Leased(Hold);
const TRIED_TWICE: Mode = Leased(RetryUpTo(2));

/// Explores everything, and says past the test runner's capture how much that was.
fn check(name: &str, protocol: Protocol) {
    let began = Instant::now();
    let checker = protocol.checker().spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    let took = began.elapsed();
    let _ = writeln!(std::io::stderr(), "model: {name}: {states} unique states, {depth} steps deep, {took:.1?}");
    checker.assert_properties();
}

#[test]
fn transactions_that_lock_have_one_effect() {
    check("4 locking", Protocol { transactions: Transactions::Lock, ..Protocol::of([Transactional; 4]) });
}

#[test]
fn transactions_that_are_guarded_have_one_effect() {
    check("4 guarded", Protocol::of([Transactional; 4]));
}

#[test]
fn a_leased_run_that_is_abandoned_is_tried_again() {
    check("3 leased", Protocol::of([RETRIED; 3]));
}

#[test]
fn a_lease_as_long_as_the_ttl_is_no_exception() {
    check("2 leased for all the ttl", Protocol { lease: Left::of(2), most_claims: 4, ..Protocol::of([RETRIED; 2]) });
}

#[test]
fn a_longer_lease_is_no_exception() {
    let longer = Protocol { lease: Left::of(2), ttl: Left::of(4), most_claims: 4, ..Protocol::of([RETRIED; 2]) };
    check("2 leased for longer", longer);
}

#[test]
fn a_held_run_has_one_effect_until_somebody_decides() {
    check("2 held", Protocol { most_claims: 4, ..Protocol::of([HELD; 2]) });
}

#[test]
fn limited_attempts_have_as_many_effects_until_somebody_decides() {
    check("2 limited", Protocol::of([TRIED_TWICE; 2]));
}

#[test]
fn leased_runs_and_a_transaction_may_share_a_key() {
    let guarded = Protocol::of([Transactional, RETRIED, RETRIED]);
    check("1 guarded, 2 leased", guarded.clone());
    check("1 locking, 2 leased", Protocol { transactions: Transactions::Lock, ..guarded });
}

#[test]
fn runs_that_are_held_and_runs_that_are_not_may_share_a_key() {
    check("1 held, 1 leased", Protocol::of([HELD, RETRIED]));
    check("1 guarded, 1 held", Protocol::of([Transactional, HELD]));
}
