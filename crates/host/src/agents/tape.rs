//! What goes over a process's pipes, kept in order until the host's task takes it. Off, it costs a branch; on, it is
//! bounded, and what an agent says is never left out: it carries the words.

use bytes::Bytes;
use switchboard_types::{SessionId, Time, Word};

use crate::link::{AgentTape, Taping};
use crate::wire::recorder::head;

/// Messages to the process that wait here; more are counted only.
const MAX_TOLD: usize = 1024;
/// Bytes of them.
const MAX_TOLD_BYTES: usize = 4 * 1024 * 1024;

/// The tape of one process.
#[derive(Debug)]
pub(super) struct Tape {
    taping: Taping,
    items: Vec<AgentTape>,
    told: usize,
    told_bytes: usize,
    left_out: u64,
}

impl Tape {
    pub(super) fn new(taping: Taping) -> Self {
        Self { taping, items: Vec::new(), told: 0, told_bytes: 0, left_out: 0 }
    }

    pub(super) fn set(&mut self, taping: Taping) {
        self.taping = taping;
    }

    /// Takes the words that a message became, from this place on, with the message; leaves them where they are when off.
    pub(super) fn heard(
        &mut self,
        at: Time,
        message: &Bytes,
        said: &mut Vec<Word>,
        from: usize,
        noise: Option<String>,
    ) {
        if self.taping == Taping::Off {
            return;
        }
        let words = said.split_off(from.min(said.len()));
        self.items.push(AgentTape::Heard { at, raw: head(message), bytes: message.len(), words, noise });
    }

    /// Takes note of a message to the process.
    pub(super) fn told(&mut self, at: Time, message: &[u8], session: Option<SessionId>) {
        if self.taping == Taping::Off {
            return;
        }
        let raw = head(&Bytes::copy_from_slice(message));
        if self.told >= MAX_TOLD || self.told_bytes + raw.len() > MAX_TOLD_BYTES {
            self.left_out += 1;
            return;
        }
        self.told += 1;
        self.told_bytes += raw.len();
        self.items.push(AgentTape::Told { at, raw, bytes: message.len(), session });
    }

    /// What there is to hand in; none if there is nothing.
    pub(super) fn take(&mut self) -> Option<Vec<AgentTape>> {
        if self.left_out > 0 {
            self.items.push(AgentTape::LeftOut(std::mem::take(&mut self.left_out)));
        }
        (self.told, self.told_bytes) = (0, 0);
        (!self.items.is_empty()).then(|| std::mem::take(&mut self.items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_it_leaves_the_words_where_they_are() {
        let (mut tape, mut said) = (Tape::new(Taping::Off), vec![Word::Trouble { message: "x".to_owned() }]);
        tape.heard(Time(1), &Bytes::from_static(b"{}"), &mut said, 0, None);
        tape.told(Time(1), b"{}", None);
        assert_eq!(said.len(), 1);
        assert!(tape.take().is_none());
    }

    #[test]
    fn what_is_said_to_a_process_is_bounded_and_counted() {
        let mut tape = Tape::new(Taping::On);
        (0..MAX_TOLD + 5).for_each(|_| tape.told(Time(1), b"{}", None));
        let items = tape.take().unwrap();
        assert_eq!(items.len(), MAX_TOLD + 1);
        assert!(matches!(items.last(), Some(AgentTape::LeftOut(5))));
        assert!(tape.take().is_none());
    }
}
