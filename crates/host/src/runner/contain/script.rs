//! What the process behind the walls is told: where it is, and what it is to become. Plain data.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::pins::Pin;

/// The hidden subcommand that takes a script.
pub(crate) const SUBCOMMAND: &str = "__start";

/// What to do. The words themselves follow it on the command line, so that they can be anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Script {
    /// The workspace: redirections lead nowhere else.
    pub(crate) root: PathBuf,
    /// The folder to be in.
    pub(crate) cwd: PathBuf,
    /// What tells this folder from any other.
    pub(crate) folder: (u64, u64),
    /// How many words at the beginning are variables, `NAME=value`.
    pub(crate) variables: usize,
    /// Whether standard output is a terminal that is to be the command's own.
    pub(crate) terminal: bool,
    /// What runs, in order.
    pub(crate) steps: Vec<Step>,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// Its file; none for what is built in.
    pub(crate) program: Option<Pin>,
    /// How many words are variables that are set for it alone.
    pub(crate) variables: usize,
    /// How many words after those are its own, its name first.
    pub(crate) words: usize,
    /// How it is joined to the one before.
    pub(crate) join: Join,
    /// Where its input and output go, in order.
    pub(crate) redirects: Vec<Redirect>,
}

/// Where an input or output goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Redirect {
    /// Which.
    pub(crate) of: Stream,
    /// Where to.
    pub(crate) to: RedirectTo,
}

/// An input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stream {
    /// 0
    Input,
    /// 1
    Output,
    /// 2
    Errors,
}

/// Where it goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RedirectTo {
    /// From this file.
    Read(String),
    /// Into this file, from its beginning.
    Write(String),
    /// Onto the end of this file.
    Append(String),
    /// To where this one goes.
    Same(Stream),
}

/// How a program is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Join {
    /// `;`, and the first one.
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// What the host hears, a line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The command runs.
    Started,
    /// It does not.
    Trouble {
        /// Whether something is not what it was when it was shown.
        changed: bool,
        /// What went wrong.
        message: String,
    },
    /// It has ended by itself.
    Code(i32),
    /// It was ended by a signal.
    Signal(i32),
}

/// A line of it is no longer than this.
pub(crate) const MAX_REPORT_BYTES: usize = 4096;

impl Script {
    /// The command line of the process, without its first word.
    pub(crate) fn arguments(&self, words: Vec<OsString>) -> serde_json::Result<Vec<OsString>> {
        let head = [SUBCOMMAND.into(), serde_json::to_string(self)?.into()];
        Ok(head.into_iter().chain(words).collect())
    }
}
