//! What tells a program's file from any other, so that the one that was shown is the one that runs. Compares; starts
//! nothing.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::runner::digest::FileDigest;

/// A file that is small enough to be read: a script, mostly. Larger ones are told apart by what the system says of them.
const MAX_READ_BYTES: u64 = 4 * 1024 * 1024;

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The digest of its bytes.
    Bytes([u8; 32]),
    /// Which file it is, its size, and when it was written last.
    Stat([u64; 3], [i64; 2]),
}

/// How a file is told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// By its bytes: whoever works in the workspace can write it.
    Bytes,
    /// By what the system says of it.
    Stat,
}

impl Seal {
    /// Of the file as it is now.
    pub(super) fn of(path: &Path, by: By) -> io::Result<Self> {
        let found = path.metadata()?;
        if !found.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // A program may be one that its user may run and not read.
        let read =
            Some(by).filter(|by| *by == By::Bytes && found.size() <= MAX_READ_BYTES).and_then(|_| digest(path).ok());
        Ok(read.map_or_else(
            || Self::Stat([found.dev(), found.ino(), found.size()], [found.mtime(), found.mtime_nsec()]),
            Self::Bytes,
        ))
    }

    /// For a digest of the whole.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(digest) => digest.to_vec(),
            Self::Stat(file, written) => {
                let file = file.iter().flat_map(|number| number.to_le_bytes());
                file.chain(written.iter().flat_map(|number| number.to_le_bytes())).collect()
            }
        }
    }
}

fn digest(path: &Path) -> io::Result<[u8; 32]> {
    let mut digest = FileDigest::default();
    let mut file = File::open(path)?.take(MAX_READ_BYTES);
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(digest.end()),
            read => digest.feed(piece.get(..read).unwrap_or_default()),
        }
    }
}
