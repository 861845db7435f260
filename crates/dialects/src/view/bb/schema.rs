//! The JSON Schemas of the dialect, made from its shapes. Holds no behaviour.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::asked::{
    ApprovePermissionParams, CommandParams, CreateSessionParams, DeleteSessionParams, DownloadArtifactParams,
    InitParams, ListFilesParams, ListSessionsParams, Method, OpenDiffParams, ReadFileSnippetParams,
    SelectSessionParams, SendMessageParams, StopParams,
};
use super::said::{
    ApprovedResult, ArtifactResult, CommandResult, ConnectionShape, DeletedResult, DiffResult, ErrorShape, EventsShape,
    FilesResult, InitResult, SentResult, SessionResult, SessionsResult, SnippetResult, StateShape, StoppedResult,
};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The topics that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Connection,
    State,
    Events,
}

impl Topic {
    /// All of them, in the order of their declaration.
    pub(super) const ALL: [Self; 3] = [Self::Connection, Self::State, Self::Events];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Connection => "bb/connection",
            Self::State => "bb/state",
            Self::Events => "bb/events",
        }
    }
}

/// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
#[must_use]
pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let requests: Vec<Value> = Method::ALL.into_iter().map(|method| request(method, &mut generator)).collect();
    let to_host = json!({
        "$schema": DRAFT,
        "title": "ToHost",
        "description": "What a view asks.",
        "oneOf": requests,
        "$defs": definitions(&mut generator),
    });
    let mut said: Vec<Value> = Method::ALL.into_iter().map(|method| answer(method, &mut generator)).collect();
    said.push(error(&mut generator));
    said.extend(Topic::ALL.into_iter().map(|topic| event(topic, &mut generator)));
    // An answer does not say what it answers, and fields may be added, so one can have several of these shapes.
    let to_view = json!({
        "$schema": DRAFT,
        "title": "ToView",
        "description": "What the host says to a view.",
        "anyOf": said,
        "$defs": definitions(&mut generator),
    });
    json!({ "viewToHost": to_host, "hostToView": to_view })
}

fn definitions(generator: &mut SchemaGenerator) -> Map<String, Value> {
    generator.take_definitions(true)
}

/// One schema by itself, with the definitions that it needs.
fn alone(make: impl FnOnce(&mut SchemaGenerator) -> Schema) -> Value {
    let mut generator = SchemaGenerator::default();
    let mut schema = make(&mut generator).to_value();
    schema["$defs"] = Value::Object(definitions(&mut generator));
    schema
}

/// The schema of a method's parameters.
pub(super) fn params(method: Method) -> Value {
    alone(|generator| params_in(method, generator))
}

/// The schema of a method's result.
pub(super) fn result(method: Method) -> Value {
    alone(|generator| result_in(method, generator))
}

/// The schema of a topic's payload.
pub(super) fn payload(topic: Topic) -> Value {
    alone(|generator| payload_in(topic, generator))
}

/// The schema of an error.
pub(super) fn failure() -> Value {
    alone(ErrorShape::json_schema)
}

fn params_in(method: Method, generator: &mut SchemaGenerator) -> Schema {
    match method {
        Method::Init => InitParams::json_schema(generator),
        Method::CreateSession => CreateSessionParams::json_schema(generator),
        Method::ListSessions => ListSessionsParams::json_schema(generator),
        Method::SelectSession => SelectSessionParams::json_schema(generator),
        Method::DeleteSession => DeleteSessionParams::json_schema(generator),
        Method::SendMessage => SendMessageParams::json_schema(generator),
        Method::Stop => StopParams::json_schema(generator),
        Method::Command => CommandParams::json_schema(generator),
        Method::ApprovePermission => ApprovePermissionParams::json_schema(generator),
        Method::ListFiles => ListFilesParams::json_schema(generator),
        Method::ReadFileSnippet => ReadFileSnippetParams::json_schema(generator),
        Method::OpenDiff => OpenDiffParams::json_schema(generator),
        Method::DownloadArtifact => DownloadArtifactParams::json_schema(generator),
    }
}

fn result_in(method: Method, generator: &mut SchemaGenerator) -> Schema {
    match method {
        Method::Init => InitResult::json_schema(generator),
        Method::CreateSession | Method::SelectSession => SessionResult::json_schema(generator),
        Method::ListSessions => SessionsResult::json_schema(generator),
        Method::DeleteSession => DeletedResult::json_schema(generator),
        Method::SendMessage => SentResult::json_schema(generator),
        Method::Stop => StoppedResult::json_schema(generator),
        Method::Command => CommandResult::json_schema(generator),
        Method::ApprovePermission => ApprovedResult::json_schema(generator),
        Method::ListFiles => FilesResult::json_schema(generator),
        Method::ReadFileSnippet => SnippetResult::json_schema(generator),
        Method::OpenDiff => DiffResult::json_schema(generator),
        Method::DownloadArtifact => ArtifactResult::json_schema(generator),
    }
}

fn payload_in(topic: Topic, generator: &mut SchemaGenerator) -> Schema {
    match topic {
        Topic::Connection => ConnectionShape::json_schema(generator),
        Topic::State => StateShape::json_schema(generator),
        Topic::Events => EventsShape::json_schema(generator),
    }
}

fn request(method: Method, generator: &mut SchemaGenerator) -> Value {
    let params = params_in(method, generator).to_value();
    let mut required = vec!["v", "kind", "id", "method"];
    if params["required"].as_array().is_some_and(|needed| !needed.is_empty()) {
        required.push("params");
    }
    json!({
        "type": "object",
        "description": params["description"],
        "properties": {
            "v": {"const": 1},
            "kind": {"const": "req"},
            "id": {"type": "string"},
            "method": {"const": method.name()},
            "params": params,
        },
        "required": required,
    })
}

fn answer(method: Method, generator: &mut SchemaGenerator) -> Value {
    let result = result_in(method, generator).to_value();
    json!({
        "type": "object",
        "title": format!("answer to {}", method.name()),
        "description": result["description"],
        "properties": {
            "v": {"const": 1},
            "kind": {"const": "res"},
            "id": {"type": "string"},
            "ok": {"const": true},
            "result": result,
        },
        "required": ["v", "kind", "id", "ok", "result"],
    })
}

fn error(generator: &mut SchemaGenerator) -> Value {
    let error = ErrorShape::json_schema(generator).to_value();
    json!({
        "type": "object",
        "title": "answer to anything",
        "description": error["description"],
        "properties": {
            "v": {"const": 1},
            "kind": {"const": "res"},
            "id": {"type": "string"},
            "ok": {"const": false},
            "error": error,
        },
        "required": ["v", "kind", "id", "ok", "error"],
    })
}

fn event(topic: Topic, generator: &mut SchemaGenerator) -> Value {
    let payload = payload_in(topic, generator).to_value();
    json!({
        "type": "object",
        "description": payload["description"],
        "properties": {
            "v": {"const": 1},
            "kind": {"const": "evt"},
            "topic": {"const": topic.name()},
            "payload": payload,
        },
        "required": ["v", "kind", "topic", "payload"],
    })
}
