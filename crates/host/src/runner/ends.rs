//! The first and the last of a text, within a bound, with a word on what lay between. Forgets the rest.

use super::tail::Tail;

/// Both ends of what was written.
#[derive(Debug)]
pub(super) struct Ends {
    head: String,
    /// Bytes that may still go there; none once something did not fit.
    room: Option<usize>,
    tail: Tail,
    total: u64,
}

/// What is kept of a text that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// Bytes at its beginning.
    pub(super) head: u64,
    /// Bytes at its end.
    pub(super) tail: u64,
    /// Bytes between them that are gone.
    pub(super) left_out: u64,
}

impl Ends {
    /// Keeps so many bytes, half of them from the beginning.
    pub(super) fn new(limit: usize) -> Self {
        let half = limit / 2;
        Self { head: String::new(), room: Some(half), tail: Tail::new(limit - half), total: 0 }
    }

    /// More was written.
    pub(super) fn push(&mut self, text: &str) {
        self.total += text.len() as u64;
        let Some(room) = self.room else { return self.tail.push(text) };
        let (fits, rest) = text.split_at_checked(text.floor_char_boundary(room)).unwrap_or((text, ""));
        self.head.push_str(fits);
        self.room = Some(room - fits.len()).filter(|_| rest.is_empty());
        self.tail.push(rest);
    }

    /// Bytes that are kept.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// What is kept, with a mark where something is left out.
    pub(super) fn text(&self) -> (String, Option<Gap>) {
        let tail = self.tail.text().0;
        let (head_bytes, tail_bytes) = (self.head.len() as u64, tail.len() as u64);
        let left_out = self.total - head_bytes - tail_bytes;
        if left_out == 0 {
            return (format!("{}{tail}", self.head), None);
        }
        let text = format!("{}\n[… {left_out} bytes left out …]\n{tail}", self.head);
        (text, Some(Gap { head: head_bytes, tail: tail_bytes, left_out }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(limit: usize, pieces: &[&str]) -> (String, Option<Gap>) {
        let mut ends = Ends::new(limit);
        for piece in pieces {
            ends.push(piece);
        }
        assert!(ends.len() <= limit);
        ends.text()
    }

    #[test]
    fn both_ends_are_kept_and_what_is_between_is_counted() {
        assert_eq!(ends(10, &[]), (String::new(), None));
        assert_eq!(ends(10, &["abcde", "fghij"]), ("abcdefghij".into(), None));
        let gap = |head, tail, left_out| Some(Gap { head, tail, left_out });
        assert_eq!(ends(10, &["abcdefghijk"]), ("abcde\n[… 1 bytes left out …]\nghijk".into(), gap(5, 5, 1)));
        assert_eq!(ends(4, &["a", "b", "c", "d", "e", "f"]), ("ab\n[… 2 bytes left out …]\nef".into(), gap(2, 2, 2)));
        // A character is kept whole or not at all, and nothing slips into the room that it left.
        assert_eq!(ends(6, &["aéé", "b", "éé"]), ("aé\n[… 5 bytes left out …]\né".into(), gap(3, 2, 5)));
        assert_eq!(ends(0, &["abc"]), ("\n[… 3 bytes left out …]\n".into(), gap(0, 0, 3)));
    }
}
