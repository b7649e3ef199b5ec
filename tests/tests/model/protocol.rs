//! The protocol as a model: who may do what, and the parts of it that a test may break.

use idempotent_runtime::{Decision, Fingerprint, Millis, Record};
use stateright::{Model, Property};

use crate::client::{Attempt, Client, Mode, OnCrash, Span};
use crate::event::Event;
use crate::properties;
use crate::row::{Ask, Fence, Left, Row};
use crate::state::State;

/// One key, its clients, and everything that they share.
#[derive(Clone)]
pub(crate) struct Protocol {
    pub(crate) clients: Vec<Mode>,
    pub(crate) transactions: Transactions,
    pub(crate) lease: Left,
    pub(crate) ttl: Left,
    /// How often one row is claimed, at most, in what is explored.
    pub(crate) most_claims: u8,
    pub(crate) decide: fn(Option<&Record>, Fingerprint, Millis) -> Decision,
    pub(crate) admits: fn(Row, Fence) -> bool,
    pub(crate) is_sweepable: fn(Row) -> bool,
    pub(crate) is_unresolved: fn(Row) -> bool,
    pub(crate) next_token: fn(Option<Row>) -> u8,
}

/// How a claim in a transaction meets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transactions {
    /// The claim is written first and locks others out, as on `SQLite`.
    Lock,
    /// The row is written last, by a statement that fails unless the key may be claimed, as on `PostgreSQL` without its
    /// advisory lock.
    Guard,
    /// The row is written last, whatever is there: broken.
    Trust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A request arrives: it claims, begins its transaction, is replayed or refused.
    Request(usize, Ask),
    Perform(usize),
    Complete(usize, Answer),
    Release(usize),
    /// The body panics where an abandoned claim is held.
    Panic(usize),
    Renew(usize),
    Commit(usize, Writes),
    /// The client forgets everything, and an open transaction is rolled back.
    Crash(usize),
    Tick,
    Sweep,
    /// Somebody sees an unresolved claim, …
    Look,
    /// … and decides about it later.
    Resolve(Verdict),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Stored,
    TooLarge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    Kept,
    /// The answer is stored, as of a 422, and the writes go.
    Undone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done,
    Free,
}

impl Protocol {
    /// The protocol as it is.
    pub(crate) fn of(clients: impl Into<Vec<Mode>>) -> Self {
        Self {
            clients: clients.into(),
            transactions: Transactions::Guard,
            lease: Left::of(1),
            ttl: Left::of(2),
            most_claims: 3,
            decide: idempotent_runtime::decide,
            admits: Row::admits,
            is_sweepable: Row::is_sweepable,
            is_unresolved: Row::is_unresolved,
            next_token: |row| row.map_or(1, |row| row.fence.token + 1),
        }
    }

    pub(crate) fn on_crash(&self) -> impl Iterator<Item = OnCrash> + Clone {
        self.clients.iter().filter_map(|mode| match mode {
            Mode::Transactional => None,
            Mode::Leased(on_crash) => Some(*on_crash),
        })
    }

    pub(crate) fn has_transactions(&self) -> bool {
        self.clients.contains(&Mode::Transactional)
    }

    /// Effects outside of the database in one life of a key, before somebody decides; `None` if that is not limited.
    pub(crate) fn most_effects(&self) -> Option<u8> {
        let most = self.on_crash().map(OnCrash::max_attempts);
        if most.clone().any(|most| most == 0) { None } else { most.max() }
    }

    /// How many clients would pass the fence now.
    pub(crate) fn holders(&self, state: &State) -> usize {
        let passes = |client: &&Client| match (client, state.row) {
            (Client::Leased(attempt), Some(row)) => (self.admits)(row, attempt.fence),
            _ => false,
        };
        state.clients.iter().filter(passes).count()
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::of(self.clients.len())]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        // Nothing was changed: what may follow follows the state before.
        if matches!(state.event, Event::Replayed { .. } | Event::Refused { .. }) {
            return;
        }
        for (n, (client, mode)) in state.clients.iter().zip(&self.clients).enumerate() {
            match (client, mode) {
                (Client::Idle, _) => actions.extend([Action::Request(n, Ask::Ten), Action::Request(n, Ask::Twenty)]),
                (Client::Leased(attempt), Mode::Leased(on_crash)) => {
                    attempt_actions(n, *attempt, *on_crash, actions);
                    actions.push(Action::Crash(n));
                }
                (Client::Transaction(Span { .. }), _) => {
                    actions.extend([Action::Commit(n, Writes::Kept), Action::Commit(n, Writes::Undone)]);
                    actions.push(Action::Crash(n));
                }
                (Client::Leased(_), Mode::Transactional) => {}
            }
        }
        actions.extend([Action::Tick, Action::Sweep]);
        if self.on_crash().any(OnCrash::may_hold) {
            match state.operator {
                None => actions.push(Action::Look),
                Some(_) => actions.extend([Action::Resolve(Verdict::Done), Action::Resolve(Verdict::Free)]),
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        Some(self.step(last, action)?.representative(&self.clients))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::of(self)
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.row.is_none_or(|row| row.fence.token <= self.most_claims)
    }
}

/// What a client may do that runs under a lease.
fn attempt_actions(n: usize, attempt: Attempt, on_crash: OnCrash, actions: &mut Vec<Action>) {
    if attempt.performed {
        actions.extend([Action::Complete(n, Answer::Stored), Action::Complete(n, Answer::TooLarge)]);
    } else {
        actions.push(Action::Perform(n));
    }
    // Where effects are counted, a body that gives its key back says by this that it had none.
    if !attempt.performed || !on_crash.may_hold() {
        actions.push(Action::Release(n));
    }
    if on_crash == OnCrash::Hold {
        actions.push(Action::Panic(n));
    }
    actions.push(Action::Renew(n));
}
