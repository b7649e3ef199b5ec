//! The protocol of `PostgreSQL`, in clear text, as far as it has to be read to be counted.

use std::collections::VecDeque;

use super::{Messages, Wire};
use crate::proxy::Observer;

/// What one connection says.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    wire: Wire,
    requests: Messages,
    answers: Messages,
    /// The first message has no tag.
    started: bool,
    /// Whether the last cycle has not been sent to its end.
    sending: bool,
    /// The cycles, from their first message to the Sync that ends them, whose answers have not come to their end.
    due: VecDeque<Cycle>,
}

#[derive(Debug)]
struct Cycle {
    /// Nobody waits until a statement is closed.
    awaited: bool,
    answered: bool,
}

impl Conversation {
    /// A new connection.
    pub(crate) fn new(wire: Wire) -> Self {
        Self { wire, ..Self::default() }
    }

    /// Begins a cycle. It was waited for what was sent before it, unless no answer to that has been seen.
    fn begin(&mut self, awaited: bool) {
        if awaited && self.due.iter().all(|cycle| cycle.answered || !cycle.awaited) {
            self.wire.lock().round_trips += 1;
        }
        self.due.push_back(Cycle { awaited, answered: false });
    }

    fn request(&mut self, tag: u8) {
        // Terminate has no answer; a password, and rows to copy, belong to what is under way.
        if matches!(tag, b'X' | b'p' | b'd' | b'c' | b'f') {
            return;
        }
        if !self.sending {
            self.begin(tag != b'C');
        }
        // Sync, Query and FunctionCall end a cycle.
        self.sending = !matches!(tag, b'S' | b'Q' | b'F');
        let mut counts = self.wire.lock();
        match tag {
            b'E' | b'Q' => counts.statements += 1,
            b'P' => counts.prepared += 1,
            _ => {}
        }
    }

    fn answer(&mut self, tag: u8) {
        match tag {
            b'Z' => drop(self.due.pop_front()),
            // Notices, notifications and parameters come when they like.
            b'N' | b'A' | b'S' => {}
            _ => self.due.iter_mut().take(1).for_each(|cycle| cycle.answered = true),
        }
    }
}

impl Observer for Conversation {
    fn requests(&mut self, bytes: &[u8]) {
        self.requests.arrive(bytes);
        if !self.started && self.requests.next(|bytes| length(bytes, 0)).is_some() {
            self.started = true;
            self.begin(true);
        }
        while self.started
            && let Some(message) = self.requests.next(|bytes| length(bytes, 1))
        {
            self.request(message[0]);
        }
    }

    fn answers(&mut self, bytes: &[u8]) {
        self.answers.arrive(bytes);
        while let Some(message) = self.answers.next(|bytes| length(bytes, 1)) {
            self.answer(message[0]);
        }
    }
}

/// The length of a message behind a tag of so many bytes.
fn length(bytes: &[u8], tag: usize) -> Option<usize> {
    let length = bytes.get(tag..)?.first_chunk()?;
    Some(tag + usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::Counts;
    use super::*;

    fn message(tag: u8) -> Vec<u8> {
        vec![tag, 0, 0, 0, 6, b'?', 0]
    }

    fn messages(tags: &str) -> Vec<u8> {
        tags.bytes().flat_map(message).collect()
    }

    /// A conversation of requests and the answers to them, in pieces of `size` bytes.
    fn counted(size: usize, turns: &[(&str, &str)]) -> Counts {
        let wire = Wire::default();
        let mut conversation = Conversation::new(wire.clone());
        conversation.requests(&[0, 0, 0, 9, 0, 3, 0, 0, 0]);
        conversation.answers(&messages("RSSKZ"));
        let before = wire.counts();
        for (requests, answers) in turns {
            messages(requests).chunks(size).for_each(|piece| conversation.requests(piece));
            messages(answers).chunks(size).for_each(|piece| conversation.answers(piece));
        }
        wire.counts() - before
    }

    #[test]
    fn a_pipelined_batch_is_one_round_trip_however_it_is_cut() {
        for size in 1..30 {
            let batch = counted(size, &[("PDS", "1tTZ"), ("BESBESBES", "2DCZ2DCZ2DCZ"), ("Q", "CZ")]);
            assert_eq!(batch, Counts { round_trips: 3, statements: 4, prepared: 1, checkouts: 0 }, "{size}");
        }
    }

    #[test]
    fn whoever_sends_after_the_first_row_has_waited_for_it() {
        let early = counted(100, &[("BES", "2D"), ("BES", "CZ2DCZ")]);
        assert_eq!((early.round_trips, early.statements), (2, 2));
    }

    #[test]
    fn nobody_waits_for_the_end_of_a_statement() {
        for turns in [[("CS", ""), ("BES", "3Z2CZ")], [("CS", "3Z"), ("BES", "2CZ")], [("BES", "2CZ"), ("CS", "3Z")]] {
            assert_eq!(counted(100, &turns).round_trips, 1, "{turns:?}");
        }
    }
}
