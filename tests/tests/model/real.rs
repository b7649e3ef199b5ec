//! The protocol as it is: everything that must always hold does, and everything that may happen happens.

use std::io::Write;
use std::time::Instant;

use stateright::{Checker, Model};

use crate::client::Mode::{self, Leased, Transactional};
use crate::client::OnCrash::{Hold, Retry, RetryUpTo};
use crate::protocol::{Protocol, Transactions};
use crate::row::Left;

/// Explores everything, and says past the test runner's capture how much that was.
fn check(name: &str, protocol: Protocol) {
    let began = Instant::now();
    let checker = protocol.checker().spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    let _ = writeln!(std::io::stderr(), "{name}: {states} unique states, {depth} steps deep, {:.1?}", began.elapsed());
    checker.assert_properties();
}

const RETRIED: Mode = Leased(Retry);
const HELD: Mode = Leased(Hold);

#[test]
fn transactions_that_lock_commit_one_effect() {
    check("transactions that lock", Protocol { transactions: Transactions::Lock, ..Protocol::of([Transactional; 3]) });
}

#[test]
fn transactions_that_are_guarded_commit_one_effect() {
    check("guarded transactions", Protocol::of([Transactional; 3]));
}

#[test]
fn a_leased_run_is_tried_again() {
    check("leased, retry", Protocol::of([RETRIED; 2]));
}

#[test]
fn a_lease_as_long_as_the_ttl_is_no_exception() {
    check("leased, retry, equal", Protocol { lease: Left::of(2), ..Protocol::of([RETRIED; 2]) });
}

#[test]
fn a_held_run_has_one_effect_until_somebody_decides() {
    check("leased, hold", Protocol::of([HELD; 2]));
}

#[test]
fn attempts_are_limited() {
    check("leased, two attempts", Protocol::of([Leased(RetryUpTo(2)); 2]));
}

#[test]
fn a_leased_run_and_a_transaction_share_a_key() {
    for transactions in [Transactions::Guard, Transactions::Lock] {
        let protocol = Protocol { transactions, ..Protocol::of([Transactional, RETRIED]) };
        check("a lease and a transaction", protocol);
    }
}

#[test]
#[ignore]
fn three() {
    check("leased, retry 3", Protocol::of([RETRIED; 3]));
    check("leased, mixed 3", Protocol::of([Transactional, RETRIED, RETRIED]));
    check("leased, mixed 3", Protocol{transactions:Transactions::Lock, ..Protocol::of([Transactional, RETRIED, RETRIED])});
    check("leased, mixed 3", Protocol::of([Transactional, HELD, RETRIED]));
    check("leased, hold 3", Protocol::of([HELD; 3]));
    check("leased, limit 3", Protocol::of([Leased(RetryUpTo(2)); 3]));
}
