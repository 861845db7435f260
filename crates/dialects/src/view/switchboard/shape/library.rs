//! What was found, as JSON. The host's own types but for the lives of logs, which no number of a browser can hold.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_types::{
    AgentName, FoundMessage, FoundSession, Role, Seq, SessionId, SnippetPiece, Time, TurnId, WorkspaceRoot,
};
use ts_rs::TS;

use super::epoch;

/// A session in which something was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "FoundSession")]
pub(in super::super) struct WireFoundSession {
    session: SessionId,
    title: String,
    agent: AgentName,
    workspace: WorkspaceRoot,
    /// When a turn last began or ended.
    updated_ms: Time,
    /// The messages in it, in the order that was asked for.
    messages: Vec<WireFoundMessage>,
}

/// A message that was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "FoundMessage", optional_fields)]
pub(in super::super) struct WireFoundMessage {
    /// The life of the log that it stands in.
    epoch: String,
    /// Its first event.
    seq: Seq,
    /// Its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    /// Who said it.
    role: Role,
    /// When.
    time: Time,
    /// What stands around the first match, as plain text in pieces.
    snippet: Vec<SnippetPiece>,
}

impl From<&FoundSession> for WireFoundSession {
    fn from(found: &FoundSession) -> Self {
        Self {
            session: found.session,
            title: found.title.clone(),
            agent: found.agent.clone(),
            workspace: found.workspace.clone(),
            updated_ms: found.updated,
            messages: found.messages.iter().map(Into::into).collect(),
        }
    }
}

impl From<&FoundMessage> for WireFoundMessage {
    fn from(found: &FoundMessage) -> Self {
        Self {
            epoch: epoch(found.epoch),
            seq: found.seq,
            turn: found.turn,
            role: found.role,
            time: found.at,
            snippet: found.snippet.clone(),
        }
    }
}
