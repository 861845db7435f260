//! What a view asks: the thirteen methods and their parameters, as they are read and as their schemas say. Holds no behaviour.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The methods that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Init,
    CreateSession,
    ListSessions,
    SelectSession,
    DeleteSession,
    SendMessage,
    Stop,
    Command,
    ApprovePermission,
    ListFiles,
    ReadFileSnippet,
    OpenDiff,
    DownloadArtifact,
}

impl Method {
    /// All of them, in the order of their declaration.
    pub(super) const ALL: [Self; 13] = [
        Self::Init,
        Self::CreateSession,
        Self::ListSessions,
        Self::SelectSession,
        Self::DeleteSession,
        Self::SendMessage,
        Self::Stop,
        Self::Command,
        Self::ApprovePermission,
        Self::ListFiles,
        Self::ReadFileSnippet,
        Self::OpenDiff,
        Self::DownloadArtifact,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Init => "bb.init",
            Self::CreateSession => "bb.createSession",
            Self::ListSessions => "bb.listSessions",
            Self::SelectSession => "bb.selectSession",
            Self::DeleteSession => "bb.deleteSession",
            Self::SendMessage => "bb.sendMessage",
            Self::Stop => "bb.stop",
            Self::Command => "bb.command",
            Self::ApprovePermission => "bb.approvePermission",
            Self::ListFiles => "bb.listFiles",
            Self::ReadFileSnippet => "bb.readFileSnippet",
            Self::OpenDiff => "bb.openDiff",
            Self::DownloadArtifact => "bb.downloadArtifact",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Says who is there; the first thing that a view asks.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct InitParams {}

/// Opens a session and selects it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateSessionParams {
    /// Which agent, by its name; the workspace's default if absent.
    pub(super) agent: Option<String>,
    /// The configuration of the engine, by its path there; only for engines.
    pub(super) config_path: Option<String>,
    /// What the session begins with.
    pub(super) task: Option<String>,
    /// Which model.
    pub(super) model: Option<String>,
    /// Whether the agent asks before it acts.
    pub(super) permission_mode: Option<PermissionModeWord>,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PermissionMode")]
#[serde(rename_all = "snake_case")]
pub(super) enum PermissionModeWord {
    Ask,
    Auto,
}

/// Lists sessions, closed ones included, the last used first, 200 at most.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListSessionsParams {}

/// Selects a session: from then on its events come, and those of no other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SelectSessionParams {
    /// Which session.
    pub(super) session_id: String,
    /// The id of the last event that you have seen; everything from the start if absent.
    pub(super) after_id: Option<String>,
}

/// Stops what runs in a session and deletes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeleteSessionParams {
    /// Which session.
    pub(super) session_id: String,
}

/// Sends a prompt. While another one is worked on it waits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SendMessageParams {
    /// Which session.
    pub(super) session_id: String,
    /// What is asked.
    pub(super) text: String,
    /// What was uploaded for it before.
    pub(super) attachment_ids: Option<Vec<String>>,
}

/// Stops the turn that runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StopParams {
    /// Which session.
    pub(super) session_id: String,
}

/// Gives a command: `stop`, `set_model`, `set_mode`, `permission_decision`, or, to an engine, one of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommandParams {
    /// Which session.
    pub(super) session_id: String,
    /// Which command.
    pub(super) command: String,
    /// What goes with it.
    pub(super) args: Option<Map<String, Value>>,
}

/// Answers a question; the first answer wins.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApprovePermissionParams {
    /// Which session.
    pub(super) session_id: String,
    /// As the question names it.
    pub(super) request_id: String,
    /// The answer.
    pub(super) decision: DecisionWord,
    /// Taken and not looked at: the rule that is stored is the one that the question suggests.
    #[expect(dead_code, reason = "the document has it, and it must be an object")]
    pub(super) rule_update: Option<Map<String, Value>>,
}

/// What a person can answer.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Decision")]
#[serde(rename_all = "snake_case")]
pub(super) enum DecisionWord {
    AllowOnce,
    Deny,
    AllowRule,
}

/// Lists what a folder of the session's workspace holds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListFilesParams {
    /// Which session.
    pub(super) session_id: String,
    /// Relative to the workspace; `.` is the workspace.
    pub(super) path: String,
}

/// Reads the beginning and the end of a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadFileSnippetParams {
    /// Which session.
    pub(super) session_id: String,
    /// Relative to the workspace.
    pub(super) path: String,
    /// Bytes of it at most, 80,000 if absent.
    pub(super) max_bytes: Option<u64>,
    /// Lines from its beginning, 200 if absent.
    pub(super) head_lines: Option<u64>,
    /// Lines from its end, 80 if absent.
    pub(super) tail_lines: Option<u64>,
}

/// Shows how a file has changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenDiffParams {
    /// Which session.
    pub(super) session_id: String,
    /// Relative to the workspace.
    pub(super) file_path: String,
    /// A revision of the repository; if both are absent, what the session itself has changed.
    pub(super) before_ref: Option<String>,
    /// A revision of the repository; the file as it is now if absent.
    pub(super) after_ref: Option<String>,
}

/// Gives a short-lived link to something that can be fetched whole.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DownloadArtifactParams {
    /// Which session.
    pub(super) session_id: String,
    /// The `full` of a payload that was cut, `log.jsonl`, or `files/` and a path within the workspace.
    pub(super) artifact_path: String,
}
