//! The shapes of the dialect's messages, for writing them and for their JSON Schema. Holds no behaviour.

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use switchboard_types::{
    ApprovalId, ApprovalKind, ContextItem, Decision, Detail, Outcome, PlanEntry, Resolution, Seq, Severity, TabId,
    Text, ToolCall, TurnName,
};

/// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
#[must_use]
pub fn schema() -> serde_json::Value {
    serde_json::json!({ "viewToHost": schema_for!(ToHost), "hostToView": schema_for!(ToView) })
}

/// What a view says to the host. Reading is by hand, so that an error names the field; the tests hold the two together.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum ToHost {
    /// The view is there and asks for its tabs.
    WebviewReady {
        /// The last index that was seen of each tab that the view knows; −1 is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_seen_index: Option<std::collections::BTreeMap<String, i64>>,
    },
    /// Opens a tab, or attaches again to one that exists.
    NewTab {
        /// The view's name for it.
        tab_id: TabId,
        /// Which agent; the workspace's default if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// An absolute path; the host's own workspace if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The last index that was seen; −1 or absent is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_seen_index: Option<i64>,
    },
    /// Queues a prompt.
    Prompt {
        /// Where.
        tab_id: TabId,
        /// The view's name for the turn; one that was seen before is not run again.
        message_id: TurnName,
        /// The words.
        text: String,
        /// Files and excerpts that go with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Vec<ContextItem>>,
    },
    /// Stops a turn, or takes a waiting prompt out of the queue.
    Cancel {
        /// Where.
        tab_id: TabId,
        /// Which turn.
        message_id: TurnName,
    },
    /// Closes a tab.
    CloseTab {
        /// Which one.
        tab_id: TabId,
    },
    /// The view was hidden or shown.
    Visibility {
        /// Whether it can be seen.
        visible: bool,
    },
    /// The view has seen a message. Advisory.
    MessageAck {
        /// Where.
        tab_id: TabId,
        /// The message's index.
        index: i64,
    },
    /// Answers an approval.
    ApprovalResponse {
        /// Where.
        tab_id: TabId,
        /// Which question.
        approval_id: ApprovalId,
        /// The answer.
        decision: Decision,
        /// The command as the person edited it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// The rule that would be stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// Starts the tab's agent again.
    RestartAgent {
        /// Whose agent.
        tab_id: TabId,
    },
}

/// What the host says to a view.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum ToView {
    /// The tab exists.
    TabOpened {
        tab_id: TabId,
        index: Seq,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// The tab has a new title.
    TabTitle { tab_id: TabId, index: Seq, title: String },
    /// A prompt was accepted.
    PromptQueued {
        tab_id: TabId,
        index: Seq,
        message_id: TurnName,
        text: String,
        /// How many turns are ahead of it; 0 starts now.
        position: u32,
    },
    /// The prompt goes to the agent.
    PromptStarted { tab_id: TabId, index: Seq, message_id: TurnName },
    /// A piece of the answer; what came before is not repeated.
    ResponseChunk { tab_id: TabId, index: Seq, message_id: TurnName, chunk: Text },
    /// A piece of the agent's thinking; what came before is not repeated.
    ThoughtChunk { tab_id: TabId, index: Seq, message_id: TurnName, chunk: Text },
    /// The plan as it stands now; replaces the one before.
    Plan { tab_id: TabId, index: Seq, message_id: TurnName, entries: Vec<PlanEntry> },
    /// A word on what goes on.
    Status {
        tab_id: TabId,
        index: Seq,
        message: String,
        /// From 0 to 1, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<f64>,
    },
    /// The turn is over.
    ResponseComplete {
        tab_id: TabId,
        index: Seq,
        message_id: TurnName,
        reason: Outcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Detail>,
    },
    /// The agent calls a tool.
    ToolCall { tab_id: TabId, index: Seq, message_id: TurnName, tool_call: ToolCall },
    /// More is known of a call; fields that are absent stay as they were.
    ToolCallUpdate { tab_id: TabId, index: Seq, message_id: TurnName, tool_call: ToolCall },
    /// A person must answer before something runs.
    ApprovalRequest {
        tab_id: TabId,
        index: Seq,
        approval_id: ApprovalId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<TurnName>,
        kind: ApprovalKind,
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        severity: Severity,
        reason: String,
    },
    /// The question is answered, here or elsewhere.
    ApprovalResolved { tab_id: TabId, index: Seq, approval_id: ApprovalId, decision: Resolution },
    /// The agent's process has ended.
    AgentExited { tab_id: TabId, index: Seq, message: String },
    /// The agent runs again after an exit.
    AgentRestarted { tab_id: TabId, index: Seq },
    /// The tab was closed.
    TabClosed { tab_id: TabId, index: Seq },
    /// The tabs that exist, in answer to `webview-ready`.
    TabsRestored { tabs: Vec<TabShape> },
    /// Events that the log no longer holds; what remains comes after it.
    Gap { tab_id: TabId, from: Seq, to: Seq },
    /// What the view has seen of the tab is not this log's; everything comes again from the start.
    TabReset { tab_id: TabId },
    /// A message was refused, or something went wrong that no event tells.
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tab_id: Option<TabId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<TurnName>,
        error: ErrorShape,
    },
}

/// A tab in a list.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TabShape {
    pub(super) tab_id: TabId,
    pub(super) title: String,
    pub(super) last_index: Seq,
}

/// Why something was refused.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ErrorShape {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

/// For programs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorCode {
    BadJson,
    BadMessage,
    UnknownType,
    UnknownTab,
    TooLarge,
    WorkspaceUntrusted,
    AgentUnavailable,
    Internal,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;
    use crate::view::tabs::read::TYPES;

    #[derive(Deserialize)]
    struct Line {
        message: Option<Value>,
        gives: Option<Value>,
        #[serde(default)]
        messages: Vec<Box<RawValue>>,
    }

    fn lines() -> Vec<Line> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/tabs");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()));
        let line = |line: &str| serde_json::from_str(line).unwrap();
        files.flat_map(|text| text.unwrap().lines().map(line).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn every_message_that_is_written_by_hand_or_not_is_its_shape() {
        let mut hot = 0;
        for message in lines().iter().flat_map(|line| &line.messages) {
            let shape: ToView = serde_json::from_str(message.get()).unwrap();
            hot += usize::from(matches!(shape, ToView::ResponseChunk { .. } | ToView::ThoughtChunk { .. }));
            assert_eq!(serde_json::to_string(&shape).unwrap(), message.get());
        }
        assert!(hot > 0);
    }

    #[test]
    fn every_message_that_is_understood_has_its_shape() {
        let mut understood = 0;
        for line in lines() {
            let (Some(message), Some(gives)) = (line.message, line.gives) else { continue };
            let shape = serde_json::from_value::<ToHost>(message.clone());
            if gives.get("command").is_some() {
                understood += 1;
                assert!(shape.is_ok(), "{message} is understood, but {shape:?}");
            }
        }
        assert!(understood > 0);
    }

    #[test]
    fn the_types_that_are_read_are_those_of_the_schema() {
        let schema = schema();
        let shapes = schema["viewToHost"]["oneOf"].as_array().unwrap();
        let types: Vec<_> = shapes.iter().map(|shape| shape["properties"]["type"]["const"].as_str().unwrap()).collect();
        assert_eq!(types, TYPES);
    }
}
