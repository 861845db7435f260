//! What is heard of a model while it answers.

use crate::talk::{ToolCall, Used};
use crate::trouble::Trouble;

/// A piece of an answer, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// More of what it says aloud.
    Text(String),
    /// More of what it thinks.
    Thought(String),
    /// A whole call.
    Call(ToolCall),
    /// What it has used. The last one counts.
    Used(Used),
    /// The end. Always there, exactly once, and last.
    End(End),
}

/// How an answer ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The model has said what it wanted, or wants its calls done.
    Done,
    /// It ran out of tokens in the middle.
    Cut,
    /// It will not, or its server will not let it; in the server's words.
    Refused(String),
    /// It failed. What came before is kept.
    Failed(Trouble),
}
