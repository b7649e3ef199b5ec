//! A state of the model: what is stored, what the clients are about, and what really happened.

use crate::client::{Client, Span};
use crate::event::{Event, Request, Token};
use crate::row::{Fence, Left, Row, Standing};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) row: Option<Row>,
    pub(crate) clients: Vec<Client>,
    /// Which claim an operator, or a hook, has seen unresolved and thinks about.
    pub(crate) operator: Option<Fence>,
    pub(crate) truth: Truth,
    /// What the last step did.
    pub(crate) event: Event,
    /// Where the row stood that the last step changed, though it might not.
    pub(crate) violated: Option<Standing>,
}

/// What happened, whatever the row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Truth {
    /// Until the latest claim of the key expires.
    pub(crate) life: Left,
    /// Effects in this life that were committed with a transaction.
    pub(crate) committed: u8,
    /// Effects in this life outside of the database, since somebody decided.
    pub(crate) performed: u8,
    pub(crate) swept: bool,
}

impl State {
    /// No row, and nobody asks.
    pub(crate) fn of(clients: usize) -> Self {
        Self {
            row: None,
            clients: vec![Client::Idle; clients],
            operator: None,
            truth: Truth { life: Left::OVER, committed: 0, performed: 0, swept: false },
            event: Event::Quiet,
            violated: None,
        }
    }

    /// Where the key stands.
    pub(crate) fn standing(&self) -> Standing {
        match Standing::of(self.row) {
            Standing::Absent if self.truth.swept => Standing::Swept,
            standing => standing,
        }
    }

    /// Whether a transaction has written that is not committed.
    pub(crate) fn is_locked(&self) -> bool {
        self.clients.iter().any(|client| matches!(client, Client::Transaction(Span { pending: Some(_), .. })))
    }

    /// Commits the row of a claim.
    pub(crate) fn write(&mut self, row: Row) -> Event {
        let found = self.standing();
        let before = self.row.replace(row);
        if self.truth.life.is_over() {
            (self.truth.committed, self.truth.performed) = (0, 0);
            self.forget_attempts();
        }
        (self.truth.life, self.truth.swept) = (row.ttl, false);
        let same = before.is_none_or(|before| before.asked == row.asked);
        let grown = before.is_none_or(|before| before.fence.token < row.fence.token);
        Event::Claimed {
            found,
            request: if same { Request::Same } else { Request::Another },
            token: if grown { Token::Grown } else { Token::Repeated },
        }
    }

    /// What is still running belongs to the past.
    pub(crate) fn forget_attempts(&mut self) {
        for client in &mut self.clients {
            if let Client::Leased(attempt) = client {
                attempt.counts = false;
            }
        }
    }

    /// A moment passes.
    pub(crate) fn tick(&mut self) -> Event {
        self.truth.life = self.truth.life.tick();
        let pending = self.clients.iter_mut().filter_map(|client| match client {
            Client::Transaction(span) => span.pending.as_mut(),
            Client::Idle | Client::Leased(_) => None,
        });
        self.row.iter_mut().chain(pending).for_each(Row::tick);
        Event::Quiet
    }

    /// Somebody takes note of an unresolved claim.
    pub(crate) fn look(&mut self) -> Option<Event> {
        let row = self.row.filter(|row| row.is_unresolved())?;
        self.operator = Some(row.fence);
        Some(Event::Quiet)
    }
}
