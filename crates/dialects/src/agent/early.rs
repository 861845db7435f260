//! What an agent says of a session before it has said which one it is. Bounded in bytes and in number; the oldest go
//! first, and never in silence.

use std::collections::VecDeque;

use bytes::Bytes;
use switchboard_types::limits::MAX_EARLY_BYTES;

/// Messages that are kept for agent sessions that are not known yet.
pub(crate) const MAX_EARLY_MESSAGES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Early {
    kept: VecDeque<Kept>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    id: Box<str>,
    frame: Bytes,
}

impl Kept {
    fn cost(&self) -> usize {
        self.id.len() + self.frame.len()
    }
}

impl Early {
    /// Keeps a message for an agent session and says how many had to go for it, itself included.
    pub(super) fn keep(&mut self, id: &str, frame: &Bytes) -> usize {
        // A copy, since the frame would hold on to all that the link has read with it.
        let kept = Kept { id: id.into(), frame: Bytes::copy_from_slice(frame) };
        self.bytes += kept.cost();
        self.kept.push_back(kept);
        let mut dropped = 0;
        while self.bytes > MAX_EARLY_BYTES || self.kept.len() > MAX_EARLY_MESSAGES {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.cost();
            dropped += 1;
        }
        dropped
    }

    /// What was kept for an agent session, in order.
    pub(super) fn take(&mut self, id: &str) -> Vec<Bytes> {
        let (mut taken, mut others) = (Vec::new(), VecDeque::new());
        for kept in self.kept.drain(..) {
            if *kept.id == *id {
                self.bytes -= kept.cost();
                taken.push(kept.frame);
            } else {
                others.push_back(kept);
            }
        }
        self.kept = others;
        taken
    }

    /// Lets everything go and says how much it was.
    pub(super) fn clear(&mut self) -> usize {
        let count = self.kept.len();
        *self = Self::default();
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Bytes {
        Bytes::copy_from_slice(text.as_bytes())
    }

    #[test]
    fn each_session_gets_its_own_in_order() {
        let mut early = Early::default();
        for (id, text) in [("a", "1"), ("b", "2"), ("a", "3")] {
            assert_eq!(early.keep(id, &frame(text)), 0);
        }
        assert_eq!(early.take("a"), vec![frame("1"), frame("3")]);
        assert_eq!(early.take("a"), Vec::<Bytes>::new());
        assert_eq!((early.bytes, early.clear()), (2, 1));
    }

    #[test]
    fn beyond_the_bytes_the_oldest_go() {
        let mut early = Early::default();
        let half = Bytes::from(vec![b'x'; MAX_EARLY_BYTES / 2]);
        assert_eq!(early.keep("", &half), 0);
        assert_eq!(early.keep("", &half), 0);
        assert_eq!(early.keep("", &frame("last")), 1);
        assert_eq!(early.take(""), vec![half, frame("last")]);
        assert_eq!(early.bytes, 0);
    }

    #[test]
    fn one_that_is_too_large_alone_goes_itself() {
        let mut early = Early::default();
        assert_eq!(early.keep("", &Bytes::from(vec![b'x'; MAX_EARLY_BYTES + 1])), 1);
        assert_eq!((early.bytes, early.kept.len()), (0, 0));
    }

    #[test]
    fn beyond_the_number_the_oldest_go() {
        let mut early = Early::default();
        let dropped: usize = (0..MAX_EARLY_MESSAGES + 3).map(|_| early.keep("a", &frame("{}"))).sum();
        assert_eq!((dropped, early.take("a").len()), (3, MAX_EARLY_MESSAGES));
    }
}
