//! What can go wrong in the store, in words that a person can act on. Never retries anything.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// Why the store could not do something.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Somebody else writes to the file.
    #[error("{} is locked by another process; stop that process (another switchboard?) and try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// There is no room.
    #[error("the disk of {} is full; free some space, writing then goes on by itself", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The disk or its file system failed.
    #[error("cannot read or write {}: {source}; check the disk and the permissions of its folder", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is damaged.
    #[error("{} is damaged ({what}); restart switchboard: it sets the file aside and saves all that is readable", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A newer switchboard wrote the file.
    #[error("{} was written by a newer switchboard (format {found}, this one knows up to {known}); start the newer one, the file was not touched", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The file is a database, but of something else.
    #[error("{} is a database of another program; move it away or choose another data folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The database engine failed in a way that has no name of its own here.
    #[error("the database {} failed: {source}", path.display())]
    Engine {
        /// The file.
        path: PathBuf,
        /// What it said.
        #[source]
        source: rusqlite::Error,
    },
    /// The store was closed, or its writer is gone.
    #[error("the store is closed; restart switchboard")]
    Closed,
}

impl StoreError {
    /// Gives an error of the engine its name.
    pub(crate) fn from_engine(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match code_of(&source) {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, what: source.to_string() }
            }
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
                Self::Disk { path, source: std::io::Error::other(source) }
            }
            _ if is_bad_value(&source) => Self::Damaged { path, what: source.to_string() },
            _ => Self::Engine { path, source },
        }
    }

    pub(crate) fn from_io(path: &Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == std::io::ErrorKind::StorageFull {
            return Self::DiskFull { path };
        }
        Self::Disk { path, source }
    }
}

/// The engine's own code of an error.
pub(crate) fn code_of(error: &rusqlite::Error) -> Option<ErrorCode> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(failure.code),
        rusqlite::Error::SqlInputError { error, .. } => Some(error.code),
        _ => None,
    }
}

/// Whether an error says that the file itself is damaged.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(code_of(error), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) || is_bad_value(error)
}

/// A cell that this version never writes: only damage puts it there.
fn is_bad_value(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
