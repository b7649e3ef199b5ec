//! The protocol of `MySQL`, in clear text, as far as it has to be read to be counted.

use super::{Messages, Wire};
use crate::proxy::Observer;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_SEND_LONG_DATA: u8 = 0x18;
const COM_STMT_CLOSE: u8 = 0x19;

/// What one connection says.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    wire: Wire,
    requests: Messages,
    /// Whether a command was sent whose answer has not begun.
    due: bool,
}

impl Conversation {
    /// A new connection.
    pub(crate) fn new(wire: Wire) -> Self {
        Self { wire, ..Self::default() }
    }

    fn command(&mut self, command: u8) {
        let mut counts = self.wire.lock();
        match command {
            // They have no answer.
            COM_QUIT | COM_STMT_CLOSE | COM_STMT_SEND_LONG_DATA => return,
            COM_QUERY | COM_STMT_EXECUTE => counts.statements += 1,
            COM_STMT_PREPARE => counts.prepared += 1,
            _ => {}
        }
        counts.round_trips += i32::from(!std::mem::replace(&mut self.due, true));
    }
}

impl Observer for Conversation {
    fn requests(&mut self, bytes: &[u8]) {
        self.requests.arrive(bytes);
        while let Some(packet) = self.requests.next(length) {
            // A command begins a sequence; what goes on with one, or with the handshake, has a later number.
            if let [_, _, _, 0, command, ..] = packet[..] {
                self.command(command);
            }
        }
    }

    fn answers(&mut self, _: &[u8]) {
        self.due = false;
    }
}

/// The length of a packet: that of its payload, in three bytes, and the number of it.
fn length(bytes: &[u8]) -> Option<usize> {
    let [a, b, c, _] = bytes.first_chunk()?;
    Some(4 + usize::try_from(u32::from_le_bytes([*a, *b, *c, 0])).ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::Counts;
    use super::*;

    #[test]
    fn every_command_that_has_an_answer_is_a_round_trip_however_it_is_cut() {
        for size in 1..20 {
            let wire = Wire::default();
            let mut conversation = Conversation::new(wire.clone());
            let packet = |number, command| vec![3, 0, 0, number, command, b'?', 0];
            let handshake = packet(1, COM_QUERY);
            for command in [COM_STMT_PREPARE, COM_STMT_EXECUTE, COM_QUERY, COM_STMT_CLOSE, COM_STMT_EXECUTE, COM_QUIT] {
                let packets = [handshake.clone(), packet(0, command)].concat();
                packets.chunks(size).for_each(|piece| conversation.requests(piece));
                if ![COM_STMT_CLOSE, COM_QUIT].contains(&command) {
                    conversation.answers(b"OK");
                }
            }
            assert_eq!(wire.counts(), Counts { round_trips: 4, statements: 3, prepared: 1, checkouts: 0 }, "{size}");
        }
    }
}
