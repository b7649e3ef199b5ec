//! States that differ only in names are one state: clients of one mode, the two requests, and nonces mean nothing by
//! themselves. Which of them stands for the others does not matter, only that it is itself one of them.

use crate::client::{Attempt, Client, Mode, Span};
use crate::row::{Ask, Fence, Nonce, Row, Stage};
use crate::state::State;

/// The first nonce of those that only one client knows.
const UNKNOWN: Nonce = Nonce(2);

impl State {
    /// A nonce that nobody has or remembers.
    pub(crate) fn fresh_nonce(&self) -> Nonce {
        let used = |nonce| self.fences().any(|fence| fence.owner == nonce);
        (0..u8::MAX).map(Nonce).find(|nonce| !used(*nonce)).unwrap_or(Nonce(u8::MAX))
    }

    /// The state that stands for all that differ from this one only in names. Clients of one mode stand side by side, and
    /// may change places at every step of a path.
    pub(crate) fn representative(mut self, modes: &[Mode]) -> Self {
        self.rename_owners(|_| UNKNOWN);
        let mut rest = &mut *self.clients;
        for alike in modes.chunk_by(PartialEq::eq) {
            let (sorted, others) = rest.split_at_mut(alike.len());
            sorted.sort_unstable();
            rest = others;
        }
        self.rename_owners(|n| Nonce(UNKNOWN.0 + n));
        self.rename_asks();
        self
    }

    fn fences(&self) -> impl Iterator<Item = Fence> {
        let row = self.row.map(|row| row.fence);
        row.into_iter().chain(self.operator).chain(self.clients.iter().filter_map(Client::fence))
    }

    /// The row's owner has the first nonce, and the one that the operator thinks of the second. No other is known to
    /// anybody but its client.
    fn rename_owners(&mut self, unknown: impl Fn(u8) -> Nonce) {
        let row = self.row.map(|row| row.fence.owner);
        let operator = self.operator.map(|fence| fence.owner);
        let rename = |fence: &mut Fence, n| {
            fence.owner = match Some(fence.owner) {
                owner if owner == row => Nonce(0),
                owner if owner == operator => Nonce(1),
                _ => unknown(n),
            };
        };
        for (client, n) in self.clients.iter_mut().zip(0..) {
            match client {
                Client::Leased(Attempt { fence, .. })
                | Client::Transaction(Span { pending: Some(Row { fence, .. }), .. }) => rename(fence, n),
                Client::Idle | Client::Transaction(Span { pending: None, .. }) => {}
            }
        }
        if let Some(fence) = &mut self.operator {
            rename(fence, 0);
        }
        if let Some(Row { fence, .. }) = &mut self.row {
            rename(fence, 0);
        }
    }

    /// What the row is for, or else the first client, is ten.
    fn rename_asks(&mut self) {
        let first = || self.clients.iter().find_map(Client::asked);
        if self.row.map(|row| row.asked).or_else(first) != Some(Ask::Twenty) {
            return;
        }
        self.row.iter_mut().for_each(rename_row);
        for client in &mut self.clients {
            match client {
                Client::Idle => {}
                Client::Leased(attempt) => attempt.asked = attempt.asked.other(),
                Client::Transaction(span) => {
                    span.asked = span.asked.other();
                    span.pending.iter_mut().for_each(rename_row);
                }
            }
        }
    }
}

fn rename_row(row: &mut Row) {
    row.asked = row.asked.other();
    if let Stage::Completed(Some(answer)) = &mut row.stage {
        *answer = answer.other();
    }
}
