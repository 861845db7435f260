//! The shapes of the dialect's messages, for their JSON Schema. Holds no behaviour: what an agent says is read by hand, so
//! that noise is told by its field, and the tests hold the two together.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use switchboard_types::{ApprovalId, ApprovalKind, CallId, Cost, Severity, TurnName};

use super::say::ToAgent;

/// The JSON Schemas of both directions: `{"hostToAgent": …, "agentToHost": …}`.
#[must_use]
pub fn schema() -> serde_json::Value {
    let written = SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<ToAgent<'_>>();
    serde_json::json!({ "hostToAgent": written, "agentToHost": schema_for!(FromAgent) })
}

/// What an agent says to the host.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum FromAgent {
    /// The session is open, under a name of your choice.
    SessionCreated {
        /// Which `new-session` it answers; the oldest open one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        session_id: String,
    },
    /// A piece of the answer; do not repeat what came before.
    ResponseChunk {
        session_id: String,
        /// The running turn if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<TurnName>,
        chunk: String,
    },
    /// A piece of thinking, shown apart from the answer.
    ThoughtChunk {
        session_id: String,
        /// The running turn if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<TurnName>,
        chunk: String,
    },
    /// The plan as it stands now; replaces the one before.
    Plan {
        session_id: String,
        /// At most 1,000.
        entries: Vec<PlanStep>,
    },
    /// A word on what goes on.
    Status {
        session_id: String,
        message: String,
        /// From 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<f64>,
    },
    /// What the turn that runs has used, or a part of it; several are added up.
    Usage {
        session_id: String,
        /// What the model was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// What it gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// How much of the input came from its cache.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cached_tokens: Option<u64>,
        /// How much of the output was thinking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thought_tokens: Option<u64>,
        /// What it has cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
    },
    /// The turn is over.
    ResponseComplete {
        session_id: String,
        /// The running turn if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<TurnName>,
    },
    /// With `requestId`: the session cannot be opened. With `sessionId`: the turn has failed and is over. With neither:
    /// the only turn that runs has failed, or every tab in which one runs is told.
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// What a person will read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Asks the host to run a tool; the answer is a `tool-result`.
    ToolCall {
        session_id: String,
        /// Your name for the call.
        call_id: CallId,
        tool_name: String,
        /// None if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parameters: Option<serde_json::Value>,
    },
    /// Asks a person before you do something; the answer is an `approval-result`.
    ApprovalRequest {
        session_id: String,
        /// Your name for the question.
        approval_id: ApprovalId,
        /// What would happen, for a person.
        title: String,
        /// If absent: `command` where there is a command, `edit` where there is a path or a diff, else `tool`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ApprovalKind>,
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
        /// `medium` if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        severity: Option<Severity>,
        /// Why you ask.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// You have closed the session yourself.
    SessionEnded {
        session_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// One step of a plan.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct PlanStep {
    /// What is to be done.
    content: String,
    /// `pending`, `in_progress` or `completed`; anything else counts as `pending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::{AGENT_SAYS, HOST_SAYS};
    use super::*;

    #[derive(Deserialize)]
    struct Line {
        message: Option<Value>,
        text: Option<String>,
        gives: Option<Value>,
    }

    fn lines() -> Vec<Line> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/plain");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()));
        let line = |line: &str| serde_json::from_str(line).unwrap();
        files.flat_map(|text| text.unwrap().lines().map(line).collect::<Vec<_>>()).collect()
    }

    fn types(direction: &str) -> Vec<String> {
        let schema = schema();
        let shapes = schema[direction]["oneOf"].as_array().unwrap();
        let name = |shape: &Value| shape["properties"]["type"]["const"].as_str().unwrap().to_owned();
        let mut types: Vec<_> = shapes.iter().map(name).collect();
        types.sort_unstable();
        types
    }

    #[test]
    fn every_message_that_is_understood_has_its_shape() {
        let mut understood = 0;
        for line in lines().into_iter().filter(|line| line.gives.is_some()) {
            let text = line.text.and_then(|text| serde_json::from_str(&text).ok());
            let Some(message): Option<Value> = line.message.or(text) else { continue };
            if AGENT_SAYS.contains(&message["type"].as_str().unwrap()) {
                understood += 1;
                let shape = serde_json::from_value::<FromAgent>(message.clone());
                assert!(shape.is_ok(), "{message} is understood, but {shape:?}");
            }
        }
        assert!(understood > AGENT_SAYS.len());
    }

    #[test]
    fn the_types_that_are_known_are_those_of_the_schema() {
        let sorted = |names: &[&str]| {
            let mut names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(types("agentToHost"), sorted(&AGENT_SAYS));
        assert_eq!(types("hostToAgent"), sorted(&HOST_SAYS));
    }
}
