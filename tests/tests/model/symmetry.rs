//! States that differ only in names are one state: clients of one mode, the two requests, and nonces mean nothing by
//! themselves. Which of them stands for the others does not matter, only that it is itself one of them.

use crate::client::{Attempt, Client, Mode, Span};
use crate::protocol::State;
use crate::row::{Ask, Fence, Nonce, Row, Stage};

impl State {
    /// A nonce that nobody has or remembers.
    pub(crate) fn fresh_nonce(&self) -> Nonce {
        let used = |nonce| self.fences().any(|fence| fence.owner == nonce);
        (0..).map(Nonce).find(|nonce| !used(*nonce)).unwrap_or(Nonce(u8::MAX))
    }

    /// The state that stands for all that differ from this one only in names. Clients of one mode stand side by side.
    pub(crate) fn representative(mut self, modes: &[Mode]) -> Self {
        self.rename_owners();
        let mut rest = &mut *self.clients;
        for alike in modes.chunk_by(PartialEq::eq) {
            let (sorted, others) = rest.split_at_mut(alike.len());
            sorted.sort_unstable();
            rest = others;
        }
        self.rename_asks();
        self
    }

    fn fences(&self) -> impl Iterator<Item = Fence> {
        let row = self.row.map(|row| row.fence);
        row.into_iter().chain(self.operator).chain(self.clients.iter().filter_map(|client| client.fence()))
    }

    /// The row's owner is the first, the one that the operator thinks of the second, and no other is known to anybody
    /// but itself.
    fn rename_owners(&mut self) {
        let row = self.row.map(|row| row.fence.owner);
        let operator = self.operator.map(|fence| fence.owner);
        let mut others = 2..;
        let mut rename = |fence: &mut Fence| {
            fence.owner = if Some(fence.owner) == row {
                Nonce(0)
            } else if Some(fence.owner) == operator {
                Nonce(1)
            } else {
                Nonce(others.next().unwrap_or(u8::MAX))
            };
        };
        if let Some(Row { fence, .. }) = &mut self.row {
            rename(fence);
        }
        if let Some(fence) = &mut self.operator {
            rename(fence);
        }
        for client in &mut self.clients {
            match client {
                Client::Leased(Attempt { fence, .. })
                | Client::Transaction(Span { pending: Some(Row { fence, .. }), .. }) => rename(fence),
                Client::Idle | Client::Transaction(Span { pending: None, .. }) => {}
            }
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
