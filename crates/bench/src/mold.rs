//! The bytes that are streamed: messages of 200 bytes, each with a place for the time at which it was written. Never does
//! I/O.

use std::io::Write as _;

use rustix::time::{ClockId, clock_gettime};

/// Bytes of one message on an agent's pipe: a line with its newline, or the body of a content-length frame.
pub const BYTES: usize = 200;
/// Digits of a time; what is written flat out has zeros there.
pub const STAMP_DIGITS: usize = 19;
/// What stands before a time, on every wire.
pub const BEFORE_STAMP: &[u8] = b"\"chunk\":\"";
/// Messages that are written at once where it does not matter who wrote them.
const BLOCK: u64 = 40;

const WORDS: &str = "the answer goes on word by word, as answers do, and ends when all is said; ";

/// Nanoseconds of the clock that all processes of a machine share.
#[must_use]
pub fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// One message, and where its time goes.
#[derive(Clone, Debug)]
pub struct Mold {
    bytes: Vec<u8>,
    stamp: usize,
}

impl Mold {
    /// A chunk of an answer as a `plain` agent says it.
    #[must_use]
    pub fn plain(session: &str, turn: &str) -> Self {
        let (session, turn) = (serde_json::json!(session), serde_json::json!(turn));
        let head = format!(r#"{{"type":"response-chunk","sessionId":{session},"messageId":{turn},"#);
        Self::fill(Vec::new(), &head, "\"}\n")
    }

    /// A notification with content-length framing. The frame's body has [`BYTES`].
    #[must_use]
    pub fn rpc() -> Self {
        let head = r#"{"jsonrpc":"2.0","method":"$/partialResult","params":{"turn":"m1","#;
        Self::fill(format!("Content-Length: {BYTES}\r\n\r\n").into_bytes(), head, "\"}}")
    }

    fn fill(mut bytes: Vec<u8>, head: &str, tail: &str) -> Self {
        let end = bytes.len() + BYTES;
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(BEFORE_STAMP);
        let stamp = bytes.len();
        bytes.extend_from_slice(&[b'0'; STAMP_DIGITS]);
        bytes.push(b' ');
        let room = end.saturating_sub(bytes.len() + tail.len());
        bytes.extend(WORDS.bytes().cycle().take(room));
        bytes.extend_from_slice(tail.as_bytes());
        Self { bytes, stamp }
    }

    /// The message with the present time in it.
    pub fn stamped(&mut self) -> &[u8] {
        let mut place = self.bytes.get_mut(self.stamp..).unwrap_or_default();
        // The place is as long as the digits.
        let _ = write!(place, "{:0width$}", now_ns(), width = STAMP_DIGITS);
        &self.bytes
    }

    /// The message with whatever time it had last.
    #[must_use]
    pub fn unstamped(&self) -> &[u8] {
        &self.bytes
    }

    /// `count` messages with no time in them, in blocks that are handed to `write` one after the other.
    pub fn flat<E>(&self, count: u64, mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let block = self.bytes.repeat(usize::try_from(BLOCK.min(count)).unwrap_or(1));
        let mut left = count;
        while left > 0 {
            let now = left.min(BLOCK);
            let bytes = usize::try_from(now).unwrap_or(0) * self.bytes.len();
            write(block.get(..bytes).unwrap_or_default())?;
            left -= now;
        }
        Ok(())
    }
}

/// The time that a message carries, if one does.
#[must_use]
pub fn stamp_of(bytes: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(bytes, BEFORE_STAMP)? + BEFORE_STAMP.len();
    let digits = bytes.get(at..at + STAMP_DIGITS)?;
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|stamp| *stamp > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_bytes_and_is_what_the_dialect_says() {
        let mut mold = Mold::plain("s1", "m\"1");
        let line = mold.stamped().to_vec();
        assert_eq!(line.len(), BYTES);
        let json: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((&json["sessionId"], &json["messageId"]), (&"s1".into(), &"m\"1".into()));
        assert!(stamp_of(&line).is_some_and(|stamp| stamp <= now_ns()));
    }

    #[test]
    fn a_frame_says_how_long_it_is() {
        let mut mold = Mold::rpc();
        let frame = mold.stamped().to_vec();
        let text = String::from_utf8(frame).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!((head, body.len()), ("Content-Length: 200", BYTES));
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
    }

    #[test]
    fn what_is_streamed_flat_out_is_the_number_that_was_asked_for() {
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 7] {
            let mut bytes = 0;
            let add = |block: &[u8]| {
                bytes += block.len();
                Ok::<(), ()>(())
            };
            Mold::plain("s", "m").flat(count, add).unwrap();
            assert_eq!(bytes, usize::try_from(count).unwrap() * BYTES);
        }
        assert_eq!(stamp_of(Mold::plain("s", "m").bytes.as_slice()), None);
    }
}
