//! What the agent wants done in the world, and what came of it. The edges do it, through whoever runs the agent; nothing here does.

use serde_json::Value;

/// Something to be done for one call.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Read a file of the workspace, or some of its lines.
    Read {
        /// Its path, relative to the workspace or absolute.
        path: String,
        /// The first line, from 1.
        line: Option<u32>,
        /// How many lines.
        limit: Option<u32>,
    },
    /// Read a file as a whole, exactly as it is, because it is about to be changed: never cut short. A file that is too large or is
    /// not text is [`Outcome::Failed`], one that does not exist [`Outcome::NotThere`].
    ReadWhole {
        /// Its path, relative to the workspace or absolute.
        path: String,
    },
    /// List a folder, or what matches a glob below it.
    List {
        /// The folder.
        path: String,
        /// Only what matches.
        glob: Option<String>,
    },
    /// Look for a regular expression in the files of the workspace.
    Search {
        /// The expression.
        pattern: String,
        /// Below this folder.
        path: Option<String>,
        /// Only in files that match.
        glob: Option<String>,
    },
    /// Write a file as a whole. The person may be asked.
    Write {
        /// Which.
        path: String,
        /// What was in it when it was read; none if it is new.
        before: Option<String>,
        /// What shall be in it.
        after: String,
    },
    /// Run a command. The person may be asked.
    Run {
        /// As for a shell.
        command: String,
        /// Where, if not in the workspace's folder.
        cwd: Option<String>,
        /// How long it may take, in milliseconds.
        timeout_ms: u64,
    },
}

/// How a deed is shown while it is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// One line for a person.
    pub title: String,
    /// What sort, in ACP's words.
    pub kind: ShownKind,
    /// What the model wrote.
    pub input: Value,
}

/// What sort of deed it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownKind {
    /// Reads.
    Read,
    /// Changes a file.
    Edit,
    /// Looks for something.
    Search,
    /// Runs something.
    Execute,
    /// Something else.
    Other,
}

/// What came of a deed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was read, listed, found or printed. Bounded by the edge, which says what it left out.
    Done(String),
    /// A command has ended.
    Ran {
        /// What it printed.
        output: String,
        /// Whether more was printed than is here.
        truncated: bool,
        /// Its code; none if a signal ended it.
        code: Option<i32>,
        /// Whether it was ended because it took too long.
        late: bool,
    },
    /// There is no such file.
    NotThere,
    /// A person or the policy said no. `stop` ends the turn.
    Denied {
        /// Why, if it was said.
        why: String,
        /// Whether the turn shall end.
        stop: bool,
    },
    /// It could not be done.
    Failed(String),
}
