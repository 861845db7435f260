//! The shapes of the dialect's messages, for writing them and for their JSON Schema. Holds no behaviour.

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use switchboard_types::{
    ApprovalId, ApprovalKind, ApprovalOption, ContextItem, Decision, Detail, Outcome, PlanEntry, Resolution, Seq,
    Severity, TabId, Text, ToolCall, TurnName,
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
    /// The view is there: asks for the list of tabs, and for a seat at each tab that it names.
    WebviewReady {
        /// By `tabId`, the last index that was seen; −1 is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_seen_index: Option<std::collections::BTreeMap<String, i64>>,
    },
    /// Opens a tab, or takes a seat at one that exists.
    NewTab {
        /// Your name for it.
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
    /// Asks for a turn; it waits until those before it are over.
    Prompt {
        tab_id: TabId,
        /// Your name for the turn; one that was seen before is not run again.
        message_id: TurnName,
        text: String,
        /// Files and excerpts that go with the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Vec<ContextItem>>,
    },
    /// Stops a turn, or takes a waiting prompt out of the queue.
    Cancel { tab_id: TabId, message_id: TurnName },
    /// Ends the tab; its log stays.
    CloseTab { tab_id: TabId },
    /// The view was hidden or shown.
    Visibility {
        /// While it is false, nothing with an index is sent on this link.
        visible: bool,
    },
    /// The view has seen a message. It is advice, and may be left out.
    MessageAck { tab_id: TabId, index: i64 },
    /// Answers an approval; the first answer wins.
    ApprovalResponse {
        tab_id: TabId,
        approval_id: ApprovalId,
        decision: Decision,
        /// The command as the person edited it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// The rule that would be stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// Which of the request's `options`, where there are several of one sort.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
    },
    /// Asks for a new process for the tab's agent.
    RestartAgent { tab_id: TabId },
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
    /// A prompt was accepted. Comes for every prompt.
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
    /// A piece of the answer; append it.
    ResponseChunk { tab_id: TabId, index: Seq, message_id: TurnName, chunk: Text },
    /// A piece of the agent's thinking; append it.
    ThoughtChunk { tab_id: TabId, index: Seq, message_id: TurnName, chunk: Text },
    /// The plan as it stands now; replaces the one before.
    Plan { tab_id: TabId, index: Seq, message_id: TurnName, entries: Vec<PlanEntry> },
    /// A word on what goes on, for people.
    Status {
        tab_id: TabId,
        index: Seq,
        message: String,
        /// From 0 to 1, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<f64>,
    },
    /// The turn is over. Comes exactly once for each prompt.
    ResponseComplete {
        tab_id: TabId,
        index: Seq,
        message_id: TurnName,
        reason: Outcome,
        /// Where there is more to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Detail>,
    },
    /// The agent calls a tool.
    ToolCall { tab_id: TabId, index: Seq, message_id: TurnName, tool_call: ToolCall },
    /// More is known of a call; fields that are absent stay as they were.
    ToolCallUpdate { tab_id: TabId, index: Seq, message_id: TurnName, tool_call: ToolCall },
    /// A person must answer before something runs. Comes again to whoever attaches while it is open.
    ApprovalRequest {
        tab_id: TabId,
        index: Seq,
        approval_id: ApprovalId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<TurnName>,
        kind: ApprovalKind,
        title: String,
        /// What would run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Where it would run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// The file that would change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// How it would change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        severity: Severity,
        /// Why a person is asked.
        reason: String,
        /// The answers that the agent itself offers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<ApprovalOption>,
    },
    /// The question is answered, here or elsewhere, or nobody can answer it any more.
    ApprovalResolved { tab_id: TabId, index: Seq, approval_id: ApprovalId, decision: Resolution },
    /// The agent's process has ended.
    AgentExited {
        tab_id: TabId,
        index: Seq,
        /// Why, and what to do.
        message: String,
    },
    /// The agent runs again after an exit.
    AgentRestarted { tab_id: TabId, index: Seq },
    /// The tab was closed; nothing follows.
    TabClosed { tab_id: TabId, index: Seq },
    /// The tabs that exist, in answer to `webview-ready`.
    TabsRestored { tabs: Vec<TabShape> },
    /// Events that the log no longer holds; what remains comes after it.
    Gap { tab_id: TabId, from: Seq, to: Seq },
    /// What you have of this tab is not this log's: forget it, everything comes again from the start.
    TabReset { tab_id: TabId },
    /// A message of yours was refused, or something went wrong that no event tells; the link lives on.
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
    /// Of its last event.
    pub(super) last_index: Seq,
}

/// Why something was refused.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ErrorShape {
    pub(super) code: ErrorCode,
    /// For people: what to do.
    pub(super) message: String,
}

/// Why, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorCode {
    /// No JSON, no object, or nested too deep.
    BadJson,
    /// A field is missing, of the wrong type, or too long.
    BadMessage,
    /// There is no message of this type.
    UnknownType,
    /// There is no such tab; say `new-tab` first.
    UnknownTab,
    /// Something is over its limit, such as the queue of a tab.
    TooLarge,
    /// Only the demo agent may run here until somebody runs `switchboard trust`.
    WorkspaceUntrusted,
    /// There is no such agent, or it cannot be started; the message says why.
    AgentUnavailable,
    /// The host could not do what it should; the message says what.
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
