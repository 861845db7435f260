//! What an agent asks the host to do for it, and what comes of it. Plain data: the core decides, the runner does.

use std::sync::Arc;

use crate::body::{ApprovalKind, ExecutionEnd};
use crate::diff::FileDiff;
use crate::ids::{ErrandId, ExecutionId, SessionId, WorkspaceRoot};
use crate::policy::{Facts, RunAs};
use crate::tool::{Effect, Finding, Provider, Tool};

/// What the core wants done about an errand.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrandOrder {
    /// Make ready what may do harm, so that a person can be shown exactly what would happen; do nothing yet. Answered by
    /// [`ErrandNews::Prepared`]; the plan is kept until it is performed or dropped.
    Prepare {
        /// The errand.
        errand: ErrandId,
        /// Whose it is.
        session: SessionId,
        /// The folder that it must stay in.
        root: WorkspaceRoot,
        /// What it is.
        what: Errand,
    },
    /// Do what was made ready, if it is still what was shown. Answered by [`ErrandNews::Done`] and, once it is over, by
    /// [`ErrandNews::Ended`].
    Perform {
        /// The errand.
        errand: ErrandId,
        /// Whose it is.
        session: SessionId,
        /// Its name from now on; a command's terminal has the same.
        execution: ExecutionId,
        /// How a command is run.
        run_as: RunAs,
        /// Whether a command may use the network.
        network: Network,
    },
    /// End what is being done at once, process tree and all. It is answered as ever, sooner.
    Stop {
        /// The errand.
        errand: ErrandId,
    },
    /// Forget what was made ready.
    Drop {
        /// The errand.
        errand: ErrandId,
    },
    /// Do what can do no harm. Answered by [`ErrandNews::Done`].
    Serve {
        /// The errand.
        errand: ErrandId,
        /// Whose it is.
        session: SessionId,
        /// The folder that it must stay in.
        root: WorkspaceRoot,
        /// What it is.
        what: Errand,
    },
    /// End every command of a session that still runs, and answer everything of it that is open.
    EndAll {
        /// Which session.
        session: SessionId,
    },
}

/// What becomes of errands.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrandNews {
    /// It is made ready, or cannot be.
    Prepared {
        /// The errand.
        errand: ErrandId,
        /// What a person is to be shown.
        result: Result<Box<Prepared>, ErrandFailure>,
    },
    /// The agent's answer is there; the last word on the errand itself.
    Done {
        /// The errand.
        errand: ErrandId,
        /// What came of it.
        result: Result<ErrandResult, ErrandFailure>,
    },
    /// A command has written something.
    Output {
        /// Whose command it is.
        session: SessionId,
        /// Its execution.
        execution: ExecutionId,
        /// What came since the last time.
        text: String,
    },
    /// An execution is over; exactly one for each that was performed.
    Ended {
        /// Whose it is.
        session: SessionId,
        /// Which one.
        execution: ExecutionId,
        /// How it ended.
        end: ExecutionEnd,
    },
}

/// What an agent asks the host to do for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Errand {
    /// Read a file of text. Harmless within the workspace, so it is served without a question.
    Read {
        /// Which one; absolute, or below the workspace.
        path: String,
        /// From this line, counted from 1.
        line: Option<u32>,
        /// At most so many lines.
        limit: Option<u32>,
    },
    /// Write a file of text.
    Write {
        /// Which one; absolute, or below the workspace.
        path: String,
        /// All that it shall say.
        content: String,
    },
    /// Run a command.
    Run(Run),
    /// Call a tool of the registry; its parameters are checked first. What a view lends is only checked here.
    Tool {
        /// Which one.
        tool: Arc<Tool>,
        /// What goes in.
        parameters: serde_json::Value,
    },
    /// Look at a command that runs, wait for it, end it, let it go.
    Terminal {
        /// Which one.
        terminal: ExecutionId,
        /// What of it.
        wish: TerminalWish,
    },
}

impl Errand {
    /// Whether a person must be asked before it is done.
    #[must_use]
    pub fn may_harm(&self) -> bool {
        match self {
            Self::Write { .. } | Self::Run(_) => true,
            Self::Tool { tool, .. } => tool.provider != Provider::Host || tool.effect != Effect::Reads,
            Self::Read { .. } | Self::Terminal { .. } => false,
        }
    }
}

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The program, or a whole line for a shell if there are no arguments.
    pub program: String,
    /// What it is given.
    pub args: Vec<String>,
    /// Variables that are set for it, besides those that every child gets.
    pub env: Vec<(String, String)>,
    /// Where it runs; the workspace if absent.
    pub cwd: Option<String>,
    /// Bytes of its output that are kept for the agent, the last ones.
    pub output_limit: Option<u64>,
    /// What it talks to.
    pub console: Console,
}

/// What a command talks to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Console {
    /// Pipes.
    #[default]
    Pipes,
    /// A terminal of this size.
    Pty {
        /// Characters in a row.
        columns: u16,
        /// Rows.
        rows: u16,
    },
}

/// Whether a command may use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// It may.
    Open,
    /// It may not, where it can be held in at all.
    Closed,
}

/// What an agent wants of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalWish {
    /// What it has written so far, and whether it has ended.
    Output,
    /// An answer when it has ended.
    Wait,
    /// End it; what it wrote can still be looked at.
    Kill,
    /// End it and forget it.
    Release,
}

/// What came of an errand.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrandResult {
    /// The file's text.
    Read {
        /// What was asked for of it.
        content: String,
    },
    /// The file is written.
    Written {
        /// Its bytes now.
        bytes: u64,
    },
    /// The command runs.
    Running {
        /// Its terminal.
        terminal: ExecutionId,
    },
    /// What a command has written so far.
    Output {
        /// The last of it.
        text: String,
        /// Whether more was written before that.
        cut: Cut,
        /// How it ended; none while it runs.
        exit: Option<Exit>,
    },
    /// The command has ended.
    Exited(Exit),
    /// The command was ended, or had ended before.
    Killed,
    /// The terminal is forgotten.
    Released,
    /// What a tool gives.
    Tool {
        /// As JSON.
        data: serde_json::Value,
    },
    /// The parameters of a lent tool are as they must be; its lender may be asked.
    Checked,
}

/// Whether something is all there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is.
    Whole,
    /// Some of it was let go.
    Short,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Code(i32),
    /// By this signal.
    Signal(String),
}

/// Why an errand was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrandFailure {
    /// For programs.
    pub code: ErrandCode,
    /// For people and models: why, and what to do.
    pub message: String,
    /// Every finding, where parameters are wrong.
    pub findings: Vec<Finding>,
}

impl ErrandFailure {
    /// A failure from its two parts.
    pub fn new(code: ErrandCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), findings: Vec::new() }
    }
}

/// The sorts of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrandCode {
    /// There is no such file or terminal.
    NotFound,
    /// The path leads out of the workspace.
    Outside,
    /// A person said no, or nobody may be asked.
    Denied,
    /// It is over one of the limits.
    TooLarge,
    /// What is asked makes no sense: a folder where a file should be, a line number of 0, …
    Invalid,
    /// What was allowed is not what is there any more: the file has changed since it was shown.
    Changed,
    /// The turn was cancelled meanwhile, or the session is over.
    Cancelled,
    /// It took longer than it may, and was ended.
    TimedOut,
    /// Nothing is written or run in a workspace that nobody trusts.
    Untrusted,
    /// The system refused.
    Failed,
}

/// An errand that may do harm, made ready to be shown to a person. Whoever made it ready keeps the plan; this is all that
/// the core needs of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// What sort of thing would happen.
    pub kind: ApprovalKind,
    /// For people: what would happen.
    pub title: String,
    /// The command that would run.
    pub command: Option<String>,
    /// Where it would run.
    pub cwd: Option<String>,
    /// The file that would change.
    pub path: Option<String>,
    /// How it would change, as text.
    pub diff: Option<String>,
    /// The same line by line.
    pub change: Option<FileDiff>,
    /// What the policy judges.
    pub facts: Facts,
    /// SHA-256 in hexadecimal over the exact bytes: program, arguments, variables and folder, or path, file before and
    /// file after.
    pub digest: String,
    /// What an answer for the whole session is good for: the same command in the same folder, or the same file.
    pub scope: String,
}
