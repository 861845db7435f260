//! The shapes within what a view of `chat` is told. Types only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Model")]
pub(super) struct ModelShape {
    /// To be named in `selectModel`.
    pub(super) name: String,
    /// Whether it is the one that works.
    pub(super) selected: bool,
}

/// The user's settings; null is not set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "Settings")]
pub(super) struct SettingsShape {
    /// Where models are served.
    pub(super) base_url: Option<String>,
    /// The model for work with tools.
    pub(super) agent_model: Option<String>,
    /// The model for questions.
    pub(super) ask_model: Option<String>,
    /// The model for edits.
    pub(super) edit_model: Option<String>,
    /// The model for completions in an editor.
    pub(super) completion_model: Option<String>,
    /// Rounds of one turn.
    pub(super) max_iterations: Option<u32>,
    /// How long a call of a tool may take, in milliseconds.
    pub(super) tool_timeout: Option<u64>,
    /// Sessions whose turns run at once.
    pub(super) max_active_sessions: Option<u32>,
    /// From 0 to 2.
    pub(super) temperature: Option<f64>,
    /// An object from glob to boolean as JSON text, `true` = no question, the last match wins.
    pub(super) sensitive_file_patterns: Option<String>,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Session")]
pub(super) struct SessionShape {
    /// To be named in every message about it.
    pub(super) id: String,
    /// For people.
    pub(super) title: String,
    /// When a turn last began or ended, in milliseconds since 1970.
    pub(super) timestamp: u64,
    /// What goes on in it.
    pub(super) status: SessionStatus,
}

/// What goes on in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum SessionStatus {
    /// Nothing was asked yet.
    Idle,
    /// Something runs, waits, or asks a person.
    Generating,
    /// The last turn is done, or a person has stopped it.
    Completed,
    /// The last turn could not be finished.
    Error,
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum ActionStatus {
    /// It waits.
    Pending,
    /// It runs.
    Running,
    /// It is done.
    Success,
    /// It failed, or was refused.
    Error,
}

/// How a question was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum ApprovalStatus {
    /// It is done.
    Approved,
    /// It is not.
    Skipped,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Role")]
pub(super) enum RoleWord {
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool.
    Tool,
}

/// A message of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Message")]
pub(super) struct MessageShape {
    /// Its name among all messages.
    pub(super) id: String,
    /// Who said it.
    pub(super) role: RoleWord,
    /// What was said, in Markdown.
    pub(super) content: String,
    /// When, in milliseconds since 1970.
    pub(super) timestamp: u64,
    /// Who said it, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// How many prompts are ahead of this one; absent if it starts at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) queued: Option<u32>,
    /// Which tool it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<String>,
    /// What went in, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_input: Option<String>,
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_output: Option<String>,
    /// The group that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) progress_title: Option<String>,
    /// The same as `text` of `showToolAction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) action_text: Option<String>,
    /// The same as `detail` of `showToolAction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) action_detail: Option<String>,
    /// The same as `icon` of `showToolAction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) action_icon: Option<String>,
    /// The same as `status` of `showToolAction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) action_status: Option<ActionStatus>,
}

/// A session in which something was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Result")]
pub(super) struct ResultShape {
    /// Which one.
    pub(super) session: FoundSessionShape,
    /// Its messages, the one that fits best first.
    pub(super) messages: Vec<FoundShape>,
}

/// The session of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FoundSession")]
pub(super) struct FoundSessionShape {
    /// To be named in `loadSession`.
    pub(super) id: String,
    /// For people.
    pub(super) title: String,
    /// When a turn last began or ended, in milliseconds since 1970.
    pub(super) timestamp: u64,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Found")]
pub(super) struct FoundShape {
    /// Its name among all messages.
    pub(super) id: String,
    /// Who said it.
    pub(super) role: RoleWord,
    /// What stands around the match, as plain text: never put it into a page as HTML.
    pub(super) snippet: String,
}
