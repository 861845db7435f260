//! How a command ends: a number for programs, words for people. Prints nothing.

use std::process::ExitCode;

use thiserror::Error;

use crate::config::ConfigError;
use crate::folder::{FolderError, LeaseError};

/// The numbers of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It could not be done.
    Failed = 1,
    /// It was asked wrongly, the configuration included.
    Usage = 2,
    /// What was named is not there.
    NotFound = 3,
    /// It is not allowed.
    Denied = 4,
    /// The host or the agent cannot be reached, or another host holds the folder.
    Unreachable = 5,
    /// A person stopped it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A command that could not be done.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct Failure {
    /// For programs.
    pub exit: Exit,
    /// For people: what happened and what to do.
    pub message: String,
}

impl Failure {
    /// A failure of this sort.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// It could not be done.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// What was named is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
    }

    /// It was asked wrongly.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Nobody answers.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self::new(Exit::Unreachable, message)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let exit = match error {
            ConfigError::NoSuchAgent(..) => Exit::NotFound,
            ConfigError::Unreadable { .. } | ConfigError::Wrong { .. } => Exit::Usage,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Held(_) => Self::unreachable(error.to_string()),
            LeaseError::Folder(error) => error.into(),
        }
    }
}
