//! What goes out to a view in one write: frames of one's own and shared ones, in order. Never copies a shared page.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};
use switchboard_dialects::view::{ViewDialect, ViewKind};
use switchboard_types::{Reject, Time, Told};

use super::frames;
use crate::link::SharedPage;

/// Bytes that are ready to be written, and what they stand for.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pieces: VecDeque<Bytes>,
    // Frames that are not shared gather here until a shared page or the write comes.
    own: Vec<u8>,
    /// What it costs within the link's window, as the core counts.
    pub(super) cost: usize,
    /// Events in it.
    pub(super) events: u64,
    /// Frames in it that are no events.
    pub(super) frames: u64,
}

/// A place in a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark(usize);

impl Batch {
    /// Adds a page of events.
    pub(super) fn add_page(&mut self, now: Time, page: &SharedPage, kind: ViewKind, dialect: &mut dyn ViewDialect) {
        let bytes = frames::of_page(page, now, kind, dialect);
        self.cost += page.page.cost();
        self.events += page.page.count();
        self.seal();
        if !bytes.is_empty() {
            self.pieces.push_back(bytes);
        }
    }

    /// Adds anything else.
    pub(super) fn add_told(&mut self, now: Time, told: &Told, dialect: &mut dyn ViewDialect) {
        self.cost += told.cost();
        self.frames += frames::put_told(&mut self.own, now, dialect, told);
    }

    /// Adds what a dialect held back until now.
    pub(super) fn add_due(&mut self, now: Time, dialect: &mut dyn ViewDialect) {
        self.frames += frames::put_due(&mut self.own, now, dialect);
    }

    /// Adds that the message that came last is refused.
    pub(super) fn add_refusal(&mut self, now: Time, reject: &Reject, dialect: &mut dyn ViewDialect) {
        self.frames += frames::put_refusal(&mut self.own, now, dialect, reject);
    }

    /// Where the batch ends now; what is added after it can be told apart.
    pub(super) fn mark(&mut self) -> Mark {
        self.seal();
        Mark(self.pieces.len())
    }

    /// The messages that were added since, one by one.
    pub(super) fn since(&mut self, mark: Mark) -> Vec<Bytes> {
        self.seal();
        self.pieces.iter().skip(mark.0).flat_map(frames::texts).collect()
    }

    /// Makes everything that was added ready to be written.
    pub(super) fn seal(&mut self) {
        if !self.own.is_empty() {
            self.pieces.push_back(Bytes::from(std::mem::take(&mut self.own)));
        }
    }
}

impl Buf for Batch {
    fn remaining(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.pieces.front().map_or(&[], |piece| piece)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
            *slice = IoSlice::new(piece);
            count += 1;
        }
        count
    }

    fn advance(&mut self, mut count: usize) {
        while count > 0 {
            let Some(piece) = self.pieces.front_mut() else { return };
            if count < piece.len() {
                piece.advance(count);
                return;
            }
            count -= piece.len();
            self.pieces.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(pieces: &[&'static str]) -> Batch {
        let pieces = pieces.iter().map(|piece| Bytes::from_static(piece.as_bytes())).collect();
        Batch { pieces, ..Batch::default() }
    }

    #[test]
    fn writes_of_any_length_take_the_bytes_in_order() {
        for step in 1..12 {
            let (mut batch, mut written) = (batch(&["abc", "d", "efghij"]), Vec::new());
            while batch.has_remaining() {
                let mut slices = [IoSlice::new(&[]); 2];
                let count = batch.chunks_vectored(&mut slices);
                let seen: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).take(step).collect();
                written.extend_from_slice(&seen);
                batch.advance(seen.len());
            }
            assert_eq!(written, b"abcdefghij", "{step} bytes at a time");
        }
    }
}
