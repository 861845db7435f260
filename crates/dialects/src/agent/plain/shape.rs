//! The shapes of the messages of `plain`, for their schema. Reading and writing are by hand; the tests hold them together.

#![expect(dead_code, reason = "the shapes are for the schema only")]

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use switchboard_types::{ApprovalKind, ContextItem, PlanEntry, Resolution, Severity};

/// The JSON Schemas of both directions: `{"hostToAgent": …, "agentToHost": …}`.
#[must_use]
pub fn schema() -> serde_json::Value {
    serde_json::json!({ "hostToAgent": schema_for!(ToAgent), "agentToHost": schema_for!(ToHost) })
}

/// What the host says to an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum ToAgent {
    /// Open a session for work in a folder; answer with `session-created` or `error`.
    NewSession {
        /// To be repeated in the answer.
        request_id: String,
        /// The folder.
        cwd: String,
    },
    /// Work on this.
    ProcessPrompt {
        /// Where.
        session_id: String,
        /// The turn's name.
        message_id: String,
        /// What is asked.
        text: String,
        /// Files and excerpts that go with it.
        context: Option<Vec<ContextItem>>,
    },
    /// Stop working on it, and say `response-complete` when you have.
    Cancel {
        /// Where.
        session_id: String,
        /// The turn's name.
        message_id: String,
    },
    /// Forget the session; no answer.
    CloseSession {
        /// Which one.
        session_id: String,
    },
    /// What came of a `tool-call`.
    ToolResult {
        /// Where.
        session_id: String,
        /// Which call.
        call_id: String,
        /// Whether it worked.
        success: bool,
        /// What came out, if it did.
        data: Option<serde_json::Value>,
        /// Why not, if it did not.
        error: Option<ToolError>,
    },
    /// What came of an `approval-request`.
    ApprovalResult {
        /// Where.
        session_id: String,
        /// Which question.
        approval_id: String,
        /// The answer; one that you do not know is a no.
        decision: Resolution,
    },
}

/// Why a tool did not work.
#[derive(Debug, Deserialize, JsonSchema)]
struct ToolError {
    /// For programs.
    code: String,
    /// For people.
    message: String,
}

/// What an agent says to the host.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum ToHost {
    /// A piece of the answer; what came before is not repeated.
    ResponseChunk {
        /// Where.
        session_id: String,
        /// The turn's name.
        message_id: Option<String>,
        /// The piece.
        chunk: String,
    },
    /// A piece of thinking, shown apart from the answer.
    ThoughtChunk {
        /// Where.
        session_id: String,
        /// The turn's name.
        message_id: Option<String>,
        /// The piece.
        chunk: String,
    },
    /// A word on what goes on.
    Status {
        /// Where.
        session_id: String,
        /// For a person to read.
        message: String,
        /// From 0 to 1, where it is known.
        progress: Option<f64>,
    },
    /// The plan as it stands now; replaces the one before.
    Plan {
        /// Where.
        session_id: String,
        /// All entries, in order.
        entries: Vec<PlanEntry>,
    },
    /// Asks the host to run a tool; the answer is a `tool-result`.
    ToolCall {
        /// Where.
        session_id: String,
        /// The agent's name for the call.
        call_id: String,
        /// Which tool.
        tool_name: String,
        /// What goes in.
        parameters: Option<serde_json::Value>,
    },
    /// Asks a person before something is done; the answer is an `approval-result`.
    ApprovalRequest {
        /// Where.
        session_id: String,
        /// The agent's name for the question.
        approval_id: String,
        /// For people: what would happen.
        title: String,
        /// What sort of thing it is.
        kind: Option<ApprovalKind>,
        /// The command that would run.
        command: Option<String>,
        /// Where it would run.
        cwd: Option<String>,
        /// The file that would change.
        path: Option<String>,
        /// How it would change.
        diff: Option<String>,
        /// How bad it could be.
        severity: Option<Severity>,
        /// Why a person is asked.
        reason: Option<String>,
    },
    /// The turn is over.
    ResponseComplete {
        /// Where.
        session_id: String,
        /// The turn's name.
        message_id: Option<String>,
    },
    /// With `requestId`: the session cannot be opened. With `sessionId`: the turn has failed and is over.
    Error {
        /// Which request.
        request_id: Option<String>,
        /// Where.
        session_id: Option<String>,
        /// For people.
        message: Option<String>,
    },
    /// The session is open, under a name of the agent's choice.
    SessionCreated {
        /// Which request; the oldest open one if absent.
        request_id: Option<String>,
        /// The name.
        session_id: String,
    },
    /// The agent has closed the session itself.
    SessionEnded {
        /// Which one.
        session_id: String,
        /// Why.
        reason: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::{AGENT_SAYS, HOST_SAYS};
    use super::*;

    #[derive(Deserialize)]
    struct Line {
        message: Option<Value>,
        gives: Option<Value>,
        noise: Option<String>,
        #[serde(default)]
        messages: Vec<Value>,
        #[serde(default)]
        sends: Vec<Value>,
    }

    fn lines() -> Vec<Line> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/plain");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()));
        let line = |line: &str| serde_json::from_str(line).unwrap();
        files.flat_map(|text| text.unwrap().lines().map(line).collect::<Vec<_>>()).collect()
    }

    fn types(schema: &Value) -> Vec<&str> {
        let shapes = schema["oneOf"].as_array().unwrap();
        shapes.iter().map(|shape| shape["properties"]["type"]["const"].as_str().unwrap()).collect()
    }

    #[test]
    fn the_types_of_the_schema_are_those_that_are_said() {
        let schema = schema();
        assert_eq!(types(&schema["agentToHost"]), AGENT_SAYS);
        assert_eq!(types(&schema["hostToAgent"]), HOST_SAYS);
    }

    #[test]
    fn every_message_that_is_said_has_its_shape() {
        let mut said = 0;
        for line in lines() {
            for message in line.messages.iter().chain(&line.sends) {
                said += 1;
                let shape = serde_json::from_value::<ToAgent>(message.clone());
                assert!(shape.is_ok(), "{message} goes out, but {shape:?}");
            }
        }
        assert!(said > 0);
    }

    #[test]
    fn every_message_that_is_understood_has_its_shape() {
        let mut understood = 0;
        for line in lines() {
            let (Some(message), Some(gives), None) = (line.message, line.gives, line.noise) else { continue };
            let known = message["type"].as_str().is_some_and(|kind| AGENT_SAYS.contains(&kind));
            // The reader is kinder than the schema to a plan's words.
            if !known || gives.as_array().is_none_or(Vec::is_empty) || message["type"] == "plan" {
                continue;
            }
            understood += 1;
            let shape = serde_json::from_value::<ToHost>(message.clone());
            assert!(shape.is_ok(), "{message} is understood, but {shape:?}");
        }
        assert!(understood > 0);
    }
}
