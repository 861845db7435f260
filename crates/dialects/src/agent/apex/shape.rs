//! The shapes of the dialect's messages, for their JSON Schema. Holds no behaviour: what a backend says is read by hand, so that
//! noise is told by its field, and the tests hold the two together.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::say::{ExecuteTask, Initialize, ToolAnswer, ToolResponse, UpdateConfiguration};

/// The JSON Schemas of both directions and of the answers: `{"hostToAgent": …, "agentToHost": …, "answers": …}`.
///
/// They are those of the members `method` and `params` (`result`, for the answers, by the method that is answered); JSON-RPC
/// says the rest.
#[must_use]
pub fn schema() -> Value {
    let written = |settings: SchemaSettings| settings.for_serialize().into_generator();
    let host = written(SchemaSettings::default()).into_root_schema_for::<ToBackend<'_>>();
    let answers = written(SchemaSettings::default()).into_root_schema_for::<Answer<'_>>();
    serde_json::json!({ "hostToAgent": host, "agentToHost": schema_for!(FromBackend), "answers": answers })
}

/// What the host says to a backend.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "method", content = "params")]
#[expect(dead_code, reason = "only its schema is wanted")]
enum ToBackend<'a> {
    /// You have been started; this is where you are. Sent once, first; not answered.
    #[serde(rename = "initialize")]
    Initialize(Initialize<'a>),
    /// A request: work on this, and answer when you are done. One at a time.
    #[serde(rename = "executeTask")]
    ExecuteTask(ExecuteTask<'a>),
    /// The agent's configuration has changed.
    #[serde(rename = "updateConfiguration")]
    UpdateConfiguration(UpdateConfiguration<'a>),
    /// What came of a tool that you asked for by a notification. One of the two is null.
    #[serde(rename = "toolResponse")]
    ToolResponse(ToolResponse<'a>),
    /// Leave now. No params; soon after it your input is closed.
    #[serde(rename = "shutdown")]
    Shutdown,
    /// Stop working on a task, and answer its request all the same.
    #[serde(rename = "$/cancelRequest")]
    CancelRequest {
        /// The id of the `executeTask` that is called back.
        id: u64,
    },
}

/// What a backend says to the host.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "method", content = "params")]
pub(super) enum FromBackend {
    /// A piece of what the task gives; do not repeat what came before.
    #[serde(rename = "$/partialResult", rename_all = "camelCase")]
    PartialResult {
        /// Which task it belongs to.
        task_id: String,
        /// The piece.
        content: String,
        #[serde(rename = "type")]
        kind: PieceKind,
    },
    /// A word on what goes on, for a person.
    #[serde(rename = "$/statusUpdate", rename_all = "camelCase")]
    StatusUpdate {
        message: String,
        /// From 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<f64>,
    },
    /// A line for the log.
    #[serde(rename = "$/logMessage", rename_all = "camelCase")]
    LogMessage {
        /// `info`, `warn` or `error`; anything else counts as `info`.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        level: Option<String>,
        message: String,
    },
    /// Asks the host to run a tool. As a request it is answered; as a notification a `toolResponse` follows.
    #[serde(rename = "$/requestToolExecution", rename_all = "camelCase")]
    RequestToolExecution {
        /// Your name for the call, used once in a task; that of the request if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        tool_name: String,
        /// What goes in; nothing if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_input: Option<Value>,
    },
    /// Something went wrong with a task. It is shown; only the answer to `executeTask` ends the task.
    #[serde(rename = "$/taskError", rename_all = "camelCase")]
    TaskError {
        /// Which task it was.
        task_id: String,
        /// What a person will read.
        message: String,
        /// More on it, in any form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
}

/// What a piece of a task's result is.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PieceKind {
    /// Thinking, shown apart from the answer.
    Thought,
    /// Code in the answer.
    Code,
    /// The answer's words.
    Text,
}

/// The results of requests, by the method that was asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "method", content = "result")]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Answer<'a> {
    /// From the backend: the task is over.
    #[serde(rename = "executeTask")]
    ExecuteTask(TaskResult),
    /// From the host: what the tool gave. If it gave nothing, the answer is an error with the code −32003 and
    /// `data: {toolCallId, code}`.
    #[serde(rename = "$/requestToolExecution")]
    RequestToolExecution(ToolAnswer<'a>),
}

/// How a task ended.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct TaskResult {
    status: TaskStatus,
    /// The answer, if nothing of it was streamed; else a last word on it, or why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// How a task ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is wanted")]
enum TaskStatus {
    /// It is done.
    Completed,
    /// It failed.
    Error,
}

#[cfg(test)]
mod tests {
    use super::super::{AGENT_SAYS, HOST_SAYS};
    use super::*;

    #[derive(Deserialize)]
    struct Line {
        message: Option<Value>,
        gives: Option<Value>,
    }

    fn lines() -> Vec<Line> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/apex");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()));
        let line = |line: &str| serde_json::from_str(line).unwrap();
        files.flat_map(|text| text.unwrap().lines().map(line).collect::<Vec<_>>()).collect()
    }

    fn methods(direction: &str) -> Vec<String> {
        let schema = schema();
        let shapes = schema[direction]["oneOf"].as_array().unwrap();
        let name = |shape: &Value| shape["properties"]["method"]["const"].as_str().unwrap().to_owned();
        let mut methods: Vec<_> = shapes.iter().map(name).collect();
        methods.sort_unstable();
        methods
    }

    #[test]
    fn every_message_that_is_understood_has_its_shape() {
        let mut understood = 0;
        for line in lines().into_iter().filter(|line| line.gives.is_some()) {
            let Some(message) = line.message else { continue };
            let Some(method) = message["method"].as_str().filter(|method| AGENT_SAYS.contains(method)) else {
                continue;
            };
            understood += 1;
            let shape = serde_json::from_value::<FromBackend>(message.clone());
            assert!(shape.is_ok(), "{method} is understood, but {shape:?}");
        }
        assert!(understood > AGENT_SAYS.len());
    }

    #[test]
    fn the_methods_that_are_known_are_those_of_the_schema() {
        let sorted = |names: &[&str]| {
            let mut names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(methods("agentToHost"), sorted(&AGENT_SAYS));
        assert_eq!(methods("hostToAgent"), sorted(&HOST_SAYS));
    }
}
