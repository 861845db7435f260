//! Tool calls and what they show. Plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Image;
use crate::ids::{CallId, ExecutionId, ToolName};
use crate::tool::ToolCode;

/// A tool call, or what changed of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's name for the call.
    pub id: CallId,
    /// For people.
    pub title: String,
    /// What sort of tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<String>,
    /// How far it is.
    pub status: ToolStatus,
    /// What goes in, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub input: Option<serde_json::Value>,
    /// What came out, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub output: Option<serde_json::Value>,
    /// What it shows; replaces what it showed before. Absent in an update if that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub content: Option<Vec<ToolContent>>,
    /// The places that it is at; replace those before. Absent in an update if they stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub locations: Option<Vec<Location>>,
    /// The registry's tool that is called; absent for what the agent does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tool: Option<ToolName>,
    /// Why the registry's tool gave no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<ToolError>,
    /// How long the registry's tool took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub duration_ms: Option<u64>,
}

/// Why a tool gave no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolError {
    /// For programs.
    pub code: ToolCode,
    /// For people and models.
    pub message: String,
    /// More, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub details: Option<serde_json::Value>,
}

impl ToolCall {
    /// A call of which no more is known than this.
    #[must_use]
    pub fn new(id: CallId, title: impl Into<String>, status: ToolStatus) -> Self {
        let title = title.into();
        Self {
            id,
            title,
            kind: None,
            status,
            input: None,
            output: None,
            content: None,
            locations: None,
            tool: None,
            error: None,
            duration_ms: None,
        }
    }
}

/// A piece of what a tool call shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolContent {
    /// Words, in Markdown.
    Text {
        /// What they say.
        text: String,
    },
    /// A change of a file.
    Diff {
        /// Which file.
        path: String,
        /// What it said before; absent if it is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        old: Option<String>,
        /// What it says then.
        new: String,
    },
    /// A command's terminal.
    Terminal {
        /// The execution of that name, or one of the agent's own.
        terminal: ExecutionId,
        /// What the agent itself shows of it, where the host has not run it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        output: Option<String>,
    },
    /// A picture.
    Image {
        /// The picture.
        image: Image,
    },
    /// A pointer to something.
    Link {
        /// Where it is.
        uri: String,
        /// What it is called.
        name: String,
    },
    /// Anything else, as it came.
    Other {
        /// The JSON.
        #[ts(type = "unknown")]
        raw: serde_json::Value,
    },
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Which file.
    pub path: String,
    /// Which line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub line: Option<u32>,
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Waits, perhaps for an approval.
    Pending,
    /// Runs.
    Running,
    /// Done.
    Completed,
    /// Failed or refused.
    Failed,
}
