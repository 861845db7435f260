//! What binds an approval to the exact bytes: SHA-256 over parts that cannot run into each other. Reads nothing.

use sha2::{Digest as _, Sha256};

/// A digest in the making.
pub(super) struct Digest(Sha256);

impl Digest {
    /// Of something of this sort.
    pub(super) fn of(sort: &str) -> Self {
        Self(Sha256::new()).part(sort.as_bytes())
    }

    /// One more part; its length stands before it.
    #[must_use]
    pub(super) fn part(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// How many parts follow.
    #[must_use]
    pub(super) fn count(mut self, parts: usize) -> Self {
        self.0.update((parts as u64).to_le_bytes());
        self
    }

    /// In hexadecimal.
    pub(super) fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The digest of a file's bytes, fed piece by piece.
#[derive(Default)]
pub(super) struct FileDigest(Sha256);

impl FileDigest {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn end(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_never_run_into_each_other() {
        let all = [
            Digest::of("x").part(b"ab").part(b"c").hex(),
            Digest::of("x").part(b"a").part(b"bc").hex(),
            Digest::of("x").part(b"abc").hex(),
            Digest::of("y").part(b"abc").hex(),
            Digest::of("x").count(1).part(b"abc").hex(),
        ];
        for (at, one) in all.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(!all[..at].contains(one), "{all:?}");
        }
    }
}
