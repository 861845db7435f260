//! The events of an engine as bytes of a stream, and counting them in whatever carries them. Never does I/O of its own.

use std::io::Write as _;

use memchr::memmem;

/// What a stream begins with.
pub const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n";
/// The one event of a stream that has no more.
pub const BARE_EVENT: &str = "id: 1\ndata: {\"id\":\"1\",\"seq\":1,\"type\":\"assistant_delta\"}\n\n";
/// Bytes of text of one piece of an answer.
pub const DELTA_BYTES: usize = 200;
/// What stands in every piece of an answer, and in nothing else, on every wire.
pub const DELTA: &[u8] = b"\"type\":\"assistant_delta\"";

const WORDS: &str = "the answer goes on word by word, as answers do, and ends when all is said; ";

/// Events with their numbers, gathered to be written at once.
#[derive(Debug)]
pub struct Numbered {
    /// Whose they are.
    pub session: String,
    /// The turn they belong to.
    pub turn: u32,
    /// The last number that was given.
    pub seq: u64,
    /// What is to be written.
    pub block: Vec<u8>,
}

impl Numbered {
    /// Adds an event; its payload is JSON.
    pub fn push(&mut self, kind: &str, payload: &str) {
        self.seq += 1;
        let (seq, session, turn) = (self.seq, &self.session, self.turn);
        // Writing into memory cannot fail.
        let _ = write!(
            self.block,
            "id: {seq}\ndata: {{\"id\":\"{seq}\",\"seq\":{seq},\"type\":\"{kind}\",\"session_id\":\"{session}\",\"turn\":{turn},\
             \"timestamp_ms\":1700000000000,\"protocol_version\":\"1.0\",\"payload\":{payload}}}\n\n"
        );
    }

    /// Adds a piece of an answer of [`DELTA_BYTES`].
    pub fn push_delta(&mut self, name: &str) {
        let text: String = WORDS.chars().cycle().take(DELTA_BYTES).collect();
        self.push("assistant_delta", &format!("{{\"message_id\":\"{name}\",\"text\":\"{text}\"}}"));
    }
}

/// Counts pieces of an answer in bytes that come in any cut.
#[derive(Debug, Default)]
pub struct Counter {
    /// How many there were.
    pub deltas: u64,
    rest: Vec<u8>,
}

impl Counter {
    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let mut after = 0;
        for at in memmem::find_iter(&self.rest, DELTA) {
            self.deltas += 1;
            after = at + DELTA.len();
        }
        // What could be the beginning of the next one stays.
        let keep = self.rest.len().saturating_sub(DELTA.len() - 1).max(after);
        self.rest.drain(..keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_counted_wherever_the_bytes_are_cut() {
        let mut events = Numbered { session: "s1".into(), turn: 1, seq: 0, block: Vec::new() };
        events.push("turn_start", "{}");
        (0..5).for_each(|_| events.push_delta("m1"));
        events.push("run_finished", "{}");
        assert_eq!(events.seq, 7);
        for step in [1, 3, 23, 24, 500, 10_000] {
            let mut counter = Counter::default();
            events.block.chunks(step).for_each(|chunk| counter.take(chunk));
            assert_eq!(counter.deltas, 5, "{step} bytes at a time");
        }
        let line =
            events.block.split(|byte| *byte == b'\n').find(|line| line.windows(DELTA.len()).any(|part| part == DELTA));
        let data = line.and_then(|line| line.strip_prefix(b"data: ")).unwrap();
        let event: serde_json::Value = serde_json::from_slice(data).unwrap();
        assert_eq!(event["payload"]["text"].as_str().unwrap().len(), DELTA_BYTES);
    }
}
