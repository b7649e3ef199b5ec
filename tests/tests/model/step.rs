//! What each action does. One action is one atomic statement, or one step of a body.

use idempotent_runtime::{Decision, Refusal};

use crate::client::{Attempt, Client, Mode, OnCrash, Span};
use crate::event::{By, Event, Request, Why};
use crate::protocol::{Action, Answer, Protocol, Transactions, Verdict, Writes};
use crate::row::{Ask, Fence, Left, NOW, Row, Stage, Standing};
use crate::state::State;

impl Protocol {
    /// The state after a step; `None` if it cannot be taken.
    pub(crate) fn step(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        next.event = match action {
            Action::Request(n, ask) => self.request(&mut next, n, ask)?,
            Action::Perform(n) => self.perform(&mut next, n)?,
            Action::Commit(n, writes) => self.commit(&mut next, n, writes)?,
            Action::Crash(n) => {
                next.clients[n] = Client::Idle;
                Event::Quiet
            }
            Action::Tick => next.tick(),
            Action::Look => next.look()?,
            // Who writes waits for a transaction that has written.
            _ if next.is_locked() => return None,
            Action::Complete(n, answer) => self.complete(&mut next, n, answer)?,
            Action::Release(n) => self.end(&mut next, n, |row| row.stage = Stage::Released)?,
            Action::Panic(n) => self.end(&mut next, n, |row| (row.held, row.lease) = (true, Left::OVER))?,
            Action::Renew(n) => self.renew(&mut next, n)?,
            Action::Sweep => self.sweep(&mut next)?,
            Action::Resolve(verdict) => self.resolve(&mut next, verdict)?,
        };
        next.violated = violated(last, &next, action);
        Some(next)
    }

    fn request(&self, state: &mut State, n: usize, asked: Ask) -> Option<Event> {
        let found = state.standing();
        let why = match self.decide(state, asked) {
            Decision::Claim | Decision::TakeOver => return self.run(state, n, asked),
            Decision::Replay => {
                let answer = match state.row?.stage {
                    Stage::Completed(answer) => answer,
                    Stage::Claimed | Stage::Released => None,
                };
                let request = if answer == Some(asked) { Request::Same } else { Request::Another };
                return Some(Event::Replayed { found, request });
            }
            Decision::Refuse(Refusal::Reused) => Why::Reused,
            Decision::Refuse(Refusal::InUse { .. }) => Why::InUse,
            Decision::Refuse(Refusal::OutcomeUnknown) => Why::OutcomeUnknown,
            Decision::Refuse(Refusal::NotStored) => Why::NotStored,
            // Of tokens alone, and the clients of the model choose their keys.
            Decision::Refuse(Refusal::TokenInvalid) => return None,
        };
        Some(Event::Refused { found, why })
    }

    fn decide(&self, state: &State, asked: Ask) -> Decision {
        (self.decide)(state.row.map(Row::record).as_ref(), asked.print(), NOW)
    }

    /// Claims for a leased run, or begins a transaction.
    fn run(&self, state: &mut State, n: usize, asked: Ask) -> Option<Event> {
        let writes_first = self.transactions == Transactions::Lock;
        let mode = self.clients[n];
        if state.is_locked() && (writes_first || mode != Mode::Transactional) {
            return None;
        }
        let row = self.claimed(state, n, asked);
        if mode == Mode::Transactional {
            state.clients[n] = Client::Transaction(Span { asked, pending: writes_first.then_some(row) });
            return Some(Event::Quiet);
        }
        let event = state.write(row);
        state.clients[n] =
            Client::Leased(Attempt { asked, fence: row.fence, performed: false, revived: false, counts: true });
        Some(event)
    }

    /// The row of a new claim.
    fn claimed(&self, state: &State, n: usize, asked: Ask) -> Row {
        let row = state.row;
        let most = match self.clients[n] {
            Mode::Transactional => 0,
            Mode::Leased(on_crash) => on_crash.max_attempts(),
        };
        let attempts = match row {
            Some(row) if !row.ttl.is_over() => row.attempts + 1,
            _ => 1,
        };
        let counted = self.on_crash().map(OnCrash::max_attempts).max().unwrap_or(0);
        Row {
            asked,
            stage: Stage::Claimed,
            held: most > 0 && attempts >= most,
            fence: Fence { owner: state.fresh_nonce(), token: (self.next_token)(row) },
            attempts: attempts.min(counted),
            lease: self.lease,
            ttl: self.ttl,
        }
    }

    fn commit(&self, state: &mut State, n: usize, writes: Writes) -> Option<Event> {
        let Client::Transaction(Span { asked, pending }) = state.clients[n] else { return None };
        state.clients[n] = Client::Idle;
        let guarded = self.transactions == Transactions::Guard;
        if guarded && !matches!(self.decide(state, asked), Decision::Claim | Decision::TakeOver) {
            return Some(Event::Overtaken);
        }
        let row = pending.unwrap_or_else(|| self.claimed(state, n, asked));
        let event = state.write(Row { stage: Stage::Completed(Some(asked)), ..row });
        if writes == Writes::Kept {
            state.truth.committed = (state.truth.committed + 1).min(2);
        }
        Some(event)
    }

    fn perform(&self, state: &mut State, n: usize) -> Option<Event> {
        let Client::Leased(attempt) = &mut state.clients[n] else { return None };
        attempt.performed = true;
        if attempt.counts {
            let most = self.most_effects().unwrap_or(1) + 1;
            state.truth.performed = (state.truth.performed + 1).min(most);
        }
        Some(Event::Quiet)
    }

    fn complete(&self, state: &mut State, n: usize, answer: Answer) -> Option<Event> {
        let Client::Leased(Attempt { asked, fence, revived, .. }) = state.clients[n] else { return None };
        state.clients[n] = Client::Idle;
        let Some(row) = state.row.as_mut().filter(|row| (self.admits)(**row, fence)) else {
            return Some(Event::Fenced);
        };
        let by = by(*row, fence);
        row.stage = Stage::Completed((answer == Answer::Stored).then_some(asked));
        Some(Event::Completed { by, revived })
    }

    /// Ends a run without an answer.
    fn end(&self, state: &mut State, n: usize, write: impl Fn(&mut Row)) -> Option<Event> {
        let Client::Leased(Attempt { fence, .. }) = state.clients[n] else { return None };
        state.clients[n] = Client::Idle;
        let Some(row) = state.row.as_mut().filter(|row| (self.admits)(**row, fence)) else { return Some(Event::Quiet) };
        let by = by(*row, fence);
        write(row);
        Some(written(by))
    }

    fn renew(&self, state: &mut State, n: usize) -> Option<Event> {
        let Client::Leased(attempt) = &mut state.clients[n] else { return None };
        let row = state.row.as_mut().filter(|row| (self.admits)(**row, attempt.fence))?;
        let by = by(*row, attempt.fence);
        attempt.revived |= row.lease.is_over();
        row.lease = self.lease;
        Some(written(by))
    }

    fn sweep(&self, state: &mut State) -> Option<Event> {
        let found = state.standing();
        state.row.take_if(|row| (self.is_sweepable)(*row))?;
        state.truth.swept = true;
        Some(Event::Swept { found })
    }

    fn resolve(&self, state: &mut State, verdict: Verdict) -> Option<Event> {
        let fence = state.operator.take()?;
        let in_question = |row: &&mut Row| row.admits(fence) && (self.is_unresolved)(**row);
        let Some(row) = state.row.as_mut().filter(in_question) else { return Some(Event::Unresolved) };
        match verdict {
            Verdict::Done => row.stage = Stage::Completed(Some(row.asked)),
            Verdict::Free => (row.stage, row.held, row.attempts) = (Stage::Released, false, 0),
        }
        state.truth.performed = 0;
        state.forget_attempts();
        Some(Event::Resolved)
    }
}

fn by(row: Row, fence: Fence) -> By {
    if row.admits(fence) { By::Holder } else { By::Stale }
}

fn written(by: By) -> Event {
    match by {
        By::Holder => Event::Quiet,
        By::Stale => Event::WrittenByStale,
    }
}

/// Where the row stood that a step changed or deleted, though only its holder might; or, if it is held, somebody who
/// decides.
fn violated(last: &State, next: &State, action: Action) -> Option<Standing> {
    let row = last.row.filter(|row| action != Action::Tick && next.row != Some(*row))?;
    let standing = Standing::of(Some(row));
    let may = match action {
        Action::Complete(n, _) | Action::Release(n) | Action::Panic(n) | Action::Renew(n) => {
            matches!(last.clients[n], Client::Leased(attempt) if row.admits(attempt.fence))
        }
        Action::Resolve(_) => standing == Standing::Held,
        _ => false,
    };
    let protected = matches!(standing, Standing::Completed | Standing::Live | Standing::Held);
    (protected && !may).then_some(standing)
}
