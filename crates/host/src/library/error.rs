//! What can go wrong in the library, in words that a person can act on. Nothing that goes wrong here loses what was said.

use std::path::{Path, PathBuf};

use switchboard_types::{Reject, RejectCode};
use thiserror::Error;

use crate::store::StoreError;

/// Why the library could not do something.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// The file cannot be used.
    #[error("{} cannot be used: {source}; the logs are whole: move that file away, and it is made anew at the next start", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: rusqlite::Error,
    },
    /// A file cannot be moved or looked at.
    #[error("{}: {source}", path.display())]
    Disk {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: std::io::Error,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is looked for is too long.
    #[error("what is looked for has {0} bytes, over the limit of {limit}", limit = switchboard_types::limits::MAX_SEARCH_BYTES)]
    TooLong(usize),
    /// The host is stopping.
    #[error("the host is stopping")]
    Stopping,
    /// Too much is asked at once.
    #[error("upkeep is under way already; try again when it is done")]
    Busy,
}

impl LibraryError {
    pub(crate) fn file(path: &Path) -> impl Fn(rusqlite::Error) -> Self + '_ {
        |source| Self::File { path: path.to_owned(), source }
    }

    pub(crate) fn disk(path: &Path) -> impl Fn(std::io::Error) -> Self + '_ {
        |source| Self::Disk { path: path.to_owned(), source }
    }

    /// The same for a view.
    #[must_use]
    pub fn reject(&self) -> Reject {
        let code = match self {
            Self::TooLong(_) => RejectCode::TooLarge,
            Self::Busy => RejectCode::Conflict,
            Self::File { .. } | Self::Disk { .. } | Self::Store(_) | Self::Stopping => RejectCode::Internal,
        };
        Reject::new(code, self.to_string())
    }
}
