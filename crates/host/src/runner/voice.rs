//! What a command says: the last of it for the agent, or both its ends, and the first of it for the log. Reads no pipe.

use switchboard_types::{Cut, limits::MAX_LOGGED_OUTPUT_BYTES};
use tokio::time::Instant;

use super::decode::Decoder;
use super::ends::{Ends, Gap};
use super::limits::{LOG_EVERY, LOG_PIECE_BYTES};
use super::tail::Tail;

/// The last line of a log that is full.
const FULL: &str = "\n[the command writes more than is kept in the log; the rest is only for the agent]\n";

/// A command's output.
#[derive(Debug)]
pub(super) struct Voice {
    decoder: Decoder,
    kept: Kept,
    log: Log,
}

/// What is kept for whoever runs it.
#[derive(Debug)]
pub(super) enum Kept {
    /// The last of it.
    Tail(Tail),
    /// The first and the last of it.
    Ends(Ends),
}

/// What waits to go to the log.
#[derive(Debug)]
struct Log {
    text: String,
    /// When the oldest of it came.
    since: Option<Instant>,
    /// Bytes that may still go there; none once the log has been said to be full.
    room: Option<usize>,
}

impl Voice {
    pub(super) fn new(kept: Kept) -> Self {
        let room = Some(MAX_LOGGED_OUTPUT_BYTES - FULL.len());
        Self { decoder: Decoder::default(), kept, log: Log { text: String::new(), since: None, room } }
    }

    /// It said something.
    pub(super) fn hear(&mut self, bytes: &[u8], now: Instant) {
        let text = self.decoder.feed(bytes);
        self.take(&text, now);
    }

    /// It says nothing more.
    pub(super) fn end(&mut self, now: Instant) {
        let text = self.decoder.end();
        self.take(text, now);
    }

    fn take(&mut self, text: &str, now: Instant) {
        match &mut self.kept {
            Kept::Tail(tail) => tail.push(text),
            Kept::Ends(ends) => ends.push(text),
        }
        self.log.push(text, now);
    }

    /// Bytes that are kept for the agent.
    pub(super) fn kept(&self) -> usize {
        match &self.kept {
            Kept::Tail(tail) => tail.len(),
            Kept::Ends(ends) => ends.len(),
        }
    }

    /// What is kept of it, and whether that is all.
    pub(super) fn last(&self) -> (String, Cut) {
        match &self.kept {
            Kept::Tail(tail) => tail.text(),
            Kept::Ends(ends) => {
                let (text, gap) = ends.text();
                (text, if gap.is_some() { Cut::Short } else { Cut::Whole })
            }
        }
    }

    /// Both ends of it, if they are kept, and what lies between.
    pub(super) fn ends(&self) -> (String, Option<Gap>) {
        match &self.kept {
            Kept::Tail(tail) => (tail.text().0, None),
            Kept::Ends(ends) => ends.text(),
        }
    }

    /// Whether more may be heard before what waits for the log has gone.
    pub(super) fn has_room(&self) -> bool {
        self.log.text.len() < LOG_PIECE_BYTES
    }

    /// When what waits for the log is to go; none if nothing waits.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        self.log.since.map(|since| if self.has_room() { since + LOG_EVERY } else { now })
    }

    /// What waits for the log.
    pub(super) fn take_logged(&mut self) -> Option<String> {
        self.log.since = None;
        Some(std::mem::take(&mut self.log.text)).filter(|text| !text.is_empty())
    }
}

impl Log {
    fn push(&mut self, text: &str, now: Instant) {
        let (Some(room), false) = (self.room, text.is_empty()) else { return };
        self.since.get_or_insert(now);
        match text.split_at_checked(text.floor_char_boundary(room)) {
            Some((fits, "")) => {
                self.text.push_str(fits);
                self.room = Some(room - fits.len());
            }
            Some((fits, _)) => {
                self.text.push_str(fits);
                self.text.push_str(FULL);
                self.room = None;
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_gets_the_beginning_and_one_line_about_the_rest() {
        let now = Instant::now();
        let mut voice = Voice::new(Kept::Tail(Tail::new(10)));
        assert_eq!((voice.due(now), voice.take_logged()), (None, None));
        voice.hear(b"one\n", now);
        assert_eq!(voice.due(now), Some(now + LOG_EVERY));
        voice.hear(b"two\n", now + LOG_EVERY);
        assert_eq!(voice.due(now), Some(now + LOG_EVERY));
        assert_eq!(voice.take_logged().as_deref(), Some("one\ntwo\n"));
        let mut logged = 8;
        loop {
            voice.hear("é".repeat(1000).as_bytes(), now);
            let piece = voice.take_logged().unwrap_or_default();
            logged += piece.len();
            if piece.ends_with(FULL) {
                break;
            }
        }
        assert!(logged <= MAX_LOGGED_OUTPUT_BYTES && logged > MAX_LOGGED_OUTPUT_BYTES - 4, "{logged}");
        voice.hear(b"the very last", now);
        assert_eq!((voice.has_room(), voice.due(now), voice.take_logged()), (true, None, None));
        assert_eq!(voice.last(), (" very last".into(), Cut::Short));
    }
}
