//! Lines out of bytes in any pieces, ended by `\n`, `\r\n` or `\r`, empty ones too. Bounded, in the same place however the bytes are
//! cut.

use super::{MAX_ANSWER_BYTES, MAX_LINE_BYTES};

/// Which limit was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    Line,
    Answer,
}

impl Overflow {
    pub(super) fn words(self) -> String {
        match self {
            Self::Line => format!("The server sent one piece of more than {} MiB.", MAX_LINE_BYTES >> 20),
            Self::Answer => format!("The server's answer is longer than {} MiB.", MAX_ANSWER_BYTES >> 20),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Feed {
    line: Vec<u8>,
    /// All bytes so far.
    total: usize,
    /// A `\r` has ended a line; a `\n` that follows belongs to it.
    after_return: bool,
}

impl Feed {
    /// The next whole line, without its ending; none if more bytes must come first.
    pub(super) fn next(&mut self, rest: &mut &[u8]) -> Result<Option<Vec<u8>>, Overflow> {
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            if let Some(after) = rest.strip_prefix(b"\n") {
                self.total += 1;
                *rest = after;
            }
        }
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        let in_line = MAX_LINE_BYTES.saturating_sub(self.line.len());
        let in_answer = MAX_ANSWER_BYTES.saturating_sub(self.total);
        if part.len() > in_line && in_line <= in_answer {
            return Err(Overflow::Line);
        }
        if part.len() + usize::from(end.is_some()) > in_answer {
            return Err(Overflow::Answer);
        }
        self.line.extend_from_slice(part);
        self.total += part.len();
        let Some((ending, after)) = after.split_first() else {
            *rest = after;
            return Ok(None);
        };
        self.total += 1;
        self.after_return = *ending == b'\r';
        *rest = after;
        Ok(Some(std::mem::take(&mut self.line)))
    }

    /// What came after the last end of a line.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.line)).filter(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Option<Overflow>) {
        let (mut feed, mut lines) = (Feed::default(), Vec::new());
        for piece in pieces {
            let mut rest = *piece;
            loop {
                match feed.next(&mut rest) {
                    Ok(Some(line)) => lines.push(line),
                    Ok(None) => break,
                    Err(overflow) => return (lines, Some(overflow)),
                }
            }
        }
        lines.extend(feed.rest());
        (lines, None)
    }

    #[test]
    fn every_ending_of_a_line_is_one() {
        let wanted = [&b"a"[..], b"b", b"", b"c", b"", b"d"].map(<[u8]>::to_vec);
        let bytes = b"a\nb\r\n\r\nc\r\rd";
        assert_eq!(lines(&[bytes]), (wanted.to_vec(), None));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(lines(&single), (wanted.to_vec(), None));
    }

    #[test]
    fn the_limits_hold_however_the_bytes_are_cut() {
        let full = vec![b'x'; MAX_LINE_BYTES];
        assert_eq!(lines(&[&full, b"\r\n"]), (vec![full.clone()], None));
        assert_eq!(lines(&[&full, b"x"]), (vec![], Some(Overflow::Line)));
        let long = [&full[..], b"x\n"].concat();
        assert_eq!(lines(&[&long]), (vec![], Some(Overflow::Line)));
        let half = [&full[..MAX_LINE_BYTES / 2 - 1], b"\n"].concat();
        let many = half.repeat(MAX_ANSWER_BYTES / half.len());
        assert_eq!(lines(&[&many]).1, None);
        for over in [&b"\n"[..], b"x"] {
            let (read, overflow) = lines(&[&many, over]);
            assert_eq!((read.len(), overflow), (MAX_ANSWER_BYTES / half.len(), Some(Overflow::Answer)));
            assert_eq!(lines(&[&[&many[..], over].concat()]), (read, overflow));
        }
    }
}
