//! The commands and flags of `sessions`. Parses; does nothing.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use switchboard_types::SessionId;

use super::session_id;

/// What to do about sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List sessions, the last used first
    List {
        /// Only those of the workspace
        #[arg(long)]
        here: bool,
    },
    /// Show what was said
    Show {
        /// Which session
        #[arg(value_name = "ID", value_parser = session_id)]
        id: SessionId,
    },
    /// Find what was said, the newest first
    Search(SearchArgs),
    /// Write the log as JSON lines, or the conversation as Markdown
    Export {
        /// Which session
        #[arg(value_name = "ID", value_parser = session_id)]
        id: SessionId,
        /// As what
        #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
        format: ExportFormat,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Give a session a title of your own, which stays
    Rename {
        /// Which session
        #[arg(value_name = "ID", value_parser = session_id)]
        id: SessionId,
        /// The title
        #[arg(value_name = "TITLE", required = true)]
        title: Vec<String>,
    },
    /// Delete sessions for good; what runs in them is stopped
    Delete {
        /// Which sessions
        #[arg(value_name = "ID", required = true, value_parser = session_id)]
        ids: Vec<SessionId>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// As what a session is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Every event of the log, one JSON value a line
    Jsonl,
    /// The conversation, for people
    Markdown,
}

/// What to look for.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Words that must all be there; "…" is a phrase, word* a beginning, and so is the last word
    #[arg(value_name = "WORDS", required = true)]
    pub words: Vec<String>,
    /// Only of this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only of this session
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Only of the workspace
    #[arg(long)]
    pub here: bool,
    /// Only what this side said
    #[arg(long, value_enum)]
    pub role: Option<RoleArg>,
    /// Only of turns about a file whose path contains this
    #[arg(long, value_name = "PART")]
    pub path: Option<String>,
    /// Only from then on: a day such as 2026-11-16, or how long ago: 3d, 12h
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// What fits best first
    #[arg(long)]
    pub ranked: bool,
    /// At most so many messages
    #[arg(long, value_name = "N", default_value_t = switchboard_types::limits::DEFAULT_FOUND)]
    pub limit: usize,
}

/// Whose words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleArg {
    /// A person's prompts
    User,
    /// The agent's answers
    Assistant,
    /// The agent's thinking
    Thought,
    /// What tools were given and gave
    Tool,
}
