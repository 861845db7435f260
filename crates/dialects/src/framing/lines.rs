//! One message per line, ended by `\n` or `\r\n`. Never looks inside a message and never copies one.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use switchboard_types::limits::MAX_FRAME_BYTES;
use thiserror::Error;

/// A line that was over the limit. It is skipped up to its end; the lines after it are read as ever.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("line of {size} bytes is over the limit of {max}")]
pub struct LineTooLong {
    /// Bytes of the line without its ending.
    pub size: usize,
    /// Bytes that a line may have.
    pub max: usize,
}

/// Finds lines in what a link has read so far. One reader belongs to one stream and one buffer.
#[derive(Debug)]
pub struct Lines {
    max: usize,
    /// Bytes at the head of the buffer that hold no newline, so they are not searched again.
    scanned: usize,
    /// What was thrown away of a line that is too long.
    skipped: Option<Skipped>,
}

/// The head of a line that is too long. Its last byte decides whether a `\r` belongs to the line's ending.
#[derive(Clone, Copy, Debug)]
struct Skipped {
    size: usize,
    last: u8,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// A reader for lines of up to [`MAX_FRAME_BYTES`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_max(MAX_FRAME_BYTES)
    }

    /// A reader with another limit.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self { max, scanned: 0, skipped: None }
    }

    /// Takes the next whole line out of the buffer, without its ending; none if more bytes must come first.
    ///
    /// Empty lines are skipped. A line that is too long is reported once, at its end, and costs no memory beyond the
    /// limit.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Option<Result<Bytes, LineTooLong>> {
        loop {
            let Some(found) = memchr(b'\n', buffer.get(self.scanned..).unwrap_or_default()) else {
                self.wait(buffer);
                return None;
            };
            let line = buffer.split_to(self.scanned + found);
            buffer.advance(1);
            self.scanned = 0;
            if let Some(line) = self.whole(line) {
                return Some(line);
            }
        }
    }

    /// Takes the last line when the stream has ended and [`Self::next`] gives none: it may lack its newline.
    pub fn finish(&mut self, buffer: &mut BytesMut) -> Option<Result<Bytes, LineTooLong>> {
        self.scanned = 0;
        let rest = buffer.split();
        self.whole(rest)
    }

    /// Remembers what was searched, and lets go of what can only become too long a line.
    fn wait(&mut self, buffer: &mut BytesMut) {
        self.scanned = buffer.len();
        let Some(&last) = buffer.last() else { return };
        // A `\r` right after a line of the full length may turn out to be its ending.
        let certain = buffer.len() - usize::from(last == b'\r');
        if self.skipped.is_some() || certain > self.max {
            let before = self.skipped.map_or(0, |skipped| skipped.size);
            self.skipped = Some(Skipped { size: before.saturating_add(buffer.len()), last });
            self.scanned = 0;
            buffer.clear();
        }
    }

    /// A line whose end is known; `rest` is what the buffer still had of it.
    fn whole(&mut self, mut rest: BytesMut) -> Option<Result<Bytes, LineTooLong>> {
        let before = self.skipped.take();
        let last = rest.last().copied().or(before.map(|skipped| skipped.last));
        let ending = usize::from(last == Some(b'\r'));
        let size = before.map_or(0, |skipped| skipped.size).saturating_add(rest.len()) - ending;
        if before.is_some() || size > self.max {
            return Some(Err(LineTooLong { size, max: self.max }));
        }
        rest.truncate(size);
        (size > 0).then(|| Ok(rest.freeze()))
    }
}

/// Adds one message as a line.
///
/// Between the tokens of JSON a newline is blank space, and within strings it is escaped; so one that a message carries
/// is written as a space and the message means the same.
pub fn frame(message: &[u8], out: &mut BytesMut) {
    out.reserve(message.len() + 1);
    let start = out.len();
    out.extend_from_slice(message);
    let mut rest = out.get_mut(start..).unwrap_or_default();
    while let Some(at) = memchr(b'\n', rest) {
        let (_, tail) = rest.split_at_mut(at);
        if let Some((newline, tail)) = tail.split_first_mut() {
            *newline = b' ';
            rest = tail;
        } else {
            break;
        }
    }
    out.extend_from_slice(b"\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Read = Vec<Result<Bytes, LineTooLong>>;

    fn read(max: usize, pieces: &[&[u8]]) -> Read {
        let (mut lines, mut buffer, mut read) = (Lines::with_max(max), BytesMut::new(), Vec::new());
        for piece in pieces {
            buffer.extend_from_slice(piece);
            while let Some(line) = lines.next(&mut buffer) {
                read.push(line);
            }
            assert!(buffer.len() <= max + 1, "the buffer holds {} bytes", buffer.len());
        }
        read.extend(lines.finish(&mut buffer));
        assert!(buffer.is_empty());
        read
    }

    fn good(line: &'static str) -> Result<Bytes, LineTooLong> {
        Ok(Bytes::from_static(line.as_bytes()))
    }

    #[test]
    fn both_line_endings_are_taken_and_empty_lines_are_skipped() {
        let lines = read(9, &[b"\n\r\none\r\n\n", b"two\nthr", b"ee"]);
        assert_eq!(lines, vec![good("one"), good("two"), good("three")]);
    }

    #[test]
    fn a_carriage_return_within_a_line_belongs_to_it() {
        assert_eq!(read(9, &[b"a\rb\r\r\n"]), vec![good("a\rb\r")]);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_a_line_with_either_ending() {
        assert_eq!(read(3, &[b"abc\n", b"abc", b"\r", b"\nabc"]), vec![good("abc"), good("abc"), good("abc")]);
    }

    #[test]
    fn a_line_over_the_limit_is_reported_once_with_its_size_and_the_stream_goes_on() {
        let lines = read(3, &[b"ok\nabcd", b"efgh\r", b"\nok\n"]);
        assert_eq!(lines, vec![good("ok"), Err(LineTooLong { size: 8, max: 3 }), good("ok")]);
    }

    #[test]
    fn a_line_over_the_limit_that_never_ends_is_reported_at_the_end_of_the_stream() {
        assert_eq!(read(3, &[b"abcd", b"e"]), vec![Err(LineTooLong { size: 5, max: 3 })]);
    }

    #[test]
    fn what_was_searched_is_not_searched_again() {
        let (mut lines, mut buffer) = (Lines::new(), BytesMut::from(&b"half a line"[..]));
        assert_eq!(lines.next(&mut buffer), None);
        assert_eq!(lines.scanned, buffer.len());
    }

    #[test]
    fn a_line_shares_the_bytes_of_the_buffer() {
        let mut buffer = BytesMut::from(&b"line\nrest"[..]);
        let before = buffer.as_ptr();
        let line = Lines::new().next(&mut buffer).unwrap().unwrap();
        assert_eq!(line.as_ptr(), before);
    }

    #[test]
    fn a_framed_message_is_one_line_even_if_it_was_written_on_several() {
        let mut out = BytesMut::new();
        frame(b"{\n\"a\":1}\n", &mut out);
        frame(b"{}", &mut out);
        assert_eq!(&out[..], b"{ \"a\":1} \n{}\n");
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_lines(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
            max in 0_usize..12,
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let (mut pieces, mut from) = (Vec::new(), 0);
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(read(max, &pieces), read(max, &[&bytes[..]]));
        }

        #[test]
        fn what_is_framed_is_read_again(messages in proptest::collection::vec("[^\r\n]{1,20}", 0..10)) {
            let mut out = BytesMut::new();
            messages.iter().for_each(|message| frame(message.as_bytes(), &mut out));
            let sent: Read = messages.iter().map(|message| Ok(Bytes::from(message.clone()))).collect();
            prop_assert_eq!(read(1024, &[&out[..]]), sent);
        }
    }
}
