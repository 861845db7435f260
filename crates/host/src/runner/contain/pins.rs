//! Programs told apart from others that take their place: by what the system knows of their file. Runs nothing.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A program's file as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pin {
    /// Where it is; may lead over links.
    pub(crate) path: PathBuf,
    /// Device and number of the file.
    file: (u64, u64),
    size: u64,
    /// When it was changed last: seconds, nanoseconds.
    changed: (i64, i64),
    /// When anything about it was changed last, its time of change included.
    touched: (i64, i64),
}

impl Pin {
    /// Looks at a program.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let found = path.metadata()?;
        Ok(Self {
            path: path.to_owned(),
            file: (found.dev(), found.ino()),
            size: found.size(),
            changed: (found.mtime(), found.mtime_nsec()),
            touched: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// Whether it is still the same.
    pub(crate) fn holds(&self) -> bool {
        Self::of(&self.path).is_ok_and(|now| now == *self)
    }
}
