//! The HTTP door described for programs, as OpenAPI 3.1. Made from the shapes that the door reads and writes and from the
//! vocabulary of events, so that neither can say anything else; the list below only joins them to paths.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use switchboard_dialects::view::events::PROTOCOL_VERSION;
use switchboard_dialects::vocabulary;

use super::shape::{
    Accepted, Content, CreateSession, Created, Entries, Event, Health, Input, Order, Ordered, Refusal, Session,
    Sessions, Uploaded,
};

type Shape = fn(&mut SchemaGenerator) -> Schema;

/// One thing that can be asked.
struct Operation {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    takes: Takes,
    status: u16,
    gives: Gives,
    conflict: &'static str,
}

/// Something in the query or a header.
struct Parameter {
    name: &'static str,
    place: &'static str,
    required: bool,
    kind: &'static str,
    means: &'static str,
}

enum Takes {
    Nothing,
    Json(Shape),
    Files,
}

enum Gives {
    Nothing,
    Json(Shape),
    Events,
    Bytes,
}

const fn query(name: &'static str, kind: &'static str, means: &'static str) -> Parameter {
    Parameter { name, place: "query", required: false, kind, means }
}

const fn needed(name: &'static str, means: &'static str) -> Parameter {
    Parameter { name, place: "query", required: true, kind: "string", means }
}

const NO_CONFLICT: &str = "";

static OPERATIONS: &[Operation] = &[
    Operation {
        method: "get",
        path: "/v1/health",
        summary: "Whether the host is there, and what it speaks",
        parameters: &[],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Json(|all| all.subschema_for::<Health>()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "get",
        path: "/v1/openapi.json",
        summary: "This description",
        parameters: &[],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Json(|_| Schema::try_from(json!({ "type": "object" })).unwrap_or_default()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "get",
        path: "/v1/sessions",
        summary: "Sessions, closed ones included, the last used first",
        parameters: &[
            query("limit", "integer", "At most so many; 1 to 200, 50 if absent."),
            query("before", "string", "What an earlier answer said as `next`."),
        ],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Json(|all| all.subschema_for::<Sessions>()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "post",
        path: "/v1/sessions",
        summary: "Opens a session",
        parameters: &[],
        takes: Takes::Json(|all| all.subschema_for::<CreateSession>()),
        status: 201,
        gives: Gives::Json(|all| all.subschema_for::<Created>()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "get",
        path: "/v1/sessions/{session}",
        summary: "A session as it is",
        parameters: &[],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Json(|all| all.subschema_for::<Session>()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "delete",
        path: "/v1/sessions/{session}",
        summary: "Stops whatever runs in a session and deletes it, with its log and what was uploaded",
        parameters: &[],
        takes: Takes::Nothing,
        status: 204,
        gives: Gives::Nothing,
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "post",
        path: "/v1/sessions/{session}/input",
        summary: "Queues a prompt; the answer comes when it is on the disk",
        parameters: &[],
        takes: Takes::Json(|all| all.subschema_for::<Input>()),
        status: 202,
        gives: Gives::Json(|all| all.subschema_for::<Accepted>()),
        conflict: "This `message_id` was used for another prompt.",
    },
    Operation {
        method: "post",
        path: "/v1/sessions/{session}/command",
        summary: "Anything else than a prompt: stop, choose, answer a question",
        parameters: &[],
        takes: Takes::Json(|all| all.subschema_for::<Order>()),
        status: 202,
        gives: Gives::Json(|all| all.subschema_for::<Ordered>()),
        conflict: "It cannot be done as things are now.",
    },
    Operation {
        method: "post",
        path: "/v1/sessions/{session}/attachments",
        summary: "Uploads files for prompts: 16 MiB each, 32 files and 64 MiB a session",
        parameters: &[],
        takes: Takes::Files,
        status: 200,
        gives: Gives::Json(|all| all.subschema_for::<Uploaded>()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "get",
        path: "/v1/sessions/{session}/files",
        summary: "What a folder of the workspace holds",
        parameters: &[query("path", "string", "From the workspace; the workspace itself if absent.")],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Json(|all| all.subschema_for::<Entries>()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "get",
        path: "/v1/sessions/{session}/files/content",
        summary: "The beginning and the end of a file of the workspace",
        parameters: &[
            needed("path", "From the workspace."),
            query("head_lines", "integer", "Lines from the beginning; 200 if absent."),
            query("tail_lines", "integer", "Lines from the end; 80 if absent."),
            query("max_bytes", "integer", "Bytes of all of it; 80,000 if absent."),
        ],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Json(|all| all.subschema_for::<Content>()),
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "get",
        path: "/v1/sessions/{session}/download",
        summary: "Something whole",
        parameters: &[needed("artifact", "`log.jsonl`, `events/N.json`, `files/PATH` or `attachments/ID`.")],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Bytes,
        conflict: NO_CONFLICT,
    },
    Operation {
        method: "get",
        path: "/v1/sessions/{session}/events",
        summary: "A session's events as they come; a comment line every 15 seconds of silence",
        parameters: &[
            Parameter {
                name: "Last-Event-ID",
                place: "header",
                required: false,
                kind: "string",
                means: "Goes on after this event; counts more than `from_id` and `replay`.",
            },
            query("from_id", "string", "Goes on after this event."),
            query("replay", "boolean", "Begins at the beginning. Without any of the three, only what is new comes."),
        ],
        takes: Takes::Nothing,
        status: 200,
        gives: Gives::Events,
        conflict: "`resume_window_exceeded`: the id is none of this log as it is now.",
    },
];

/// The whole description.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(make)
}

fn make() -> Value {
    let settings =
        || SchemaSettings::default().with(|settings| settings.definitions_path = "/components/schemas".into());
    // What comes in may leave out what has a default; what goes out never does.
    let mut read = settings().into_generator();
    let mut written = settings().for_serialize().into_generator();
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let described = describe(operation, &mut read, &mut written);
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(operation.method.to_owned(), described);
        }
    }
    let mut schemas = read.take_definitions(true);
    schemas.extend(written.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Switchboard",
            "version": PROTOCOL_VERSION,
            "description": "Sessions with agents, over HTTP and server-sent events.",
        },
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
        "x-payloads": vocabulary::schema(),
    })
}

fn describe(operation: &Operation, read: &mut SchemaGenerator, written: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = operation.parameters.iter().map(parameter).collect();
    if operation.path.contains("{session}") {
        parameters.insert(
            0,
            json!({
                "name": "session", "in": "path", "required": true, "schema": { "type": "string" },
                "description": "The session's id.",
            }),
        );
    }
    let error = json!({ "application/json": { "schema": written.subschema_for::<Refusal>() } });
    let mut responses = Map::new();
    responses.insert(operation.status.to_string(), answer(&operation.gives, written));
    if !operation.conflict.is_empty() {
        responses.insert("409".to_owned(), json!({ "description": operation.conflict, "content": error }));
    }
    responses.insert("default".to_owned(), json!({ "description": "It is refused.", "content": error }));
    let mut described = json!({ "summary": operation.summary, "parameters": parameters, "responses": responses });
    let body = match operation.takes {
        Takes::Nothing => return described,
        Takes::Json(shape) => json!({ "application/json": { "schema": shape(read) } }),
        Takes::Files => json!({ "multipart/form-data": { "schema": {
            "type": "object",
            "description": "Every part with a file name is a file, whatever the part is called.",
            "additionalProperties": { "type": "string", "contentMediaType": "application/octet-stream" },
        } } }),
    };
    if let Some(described) = described.as_object_mut() {
        described.insert("requestBody".to_owned(), json!({ "required": true, "content": body }));
    }
    described
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required,
        "schema": { "type": parameter.kind },
        "description": parameter.means,
    })
}

fn answer(gives: &Gives, written: &mut SchemaGenerator) -> Value {
    match gives {
        Gives::Nothing => json!({ "description": "It is done." }),
        Gives::Json(shape) => {
            json!({ "description": "It is done.", "content": { "application/json": { "schema": shape(written) } } })
        }
        Gives::Events => json!({
            "description": "Server-sent events: `id:` and one line of `data:`, which is JSON.",
            "content": { "text/event-stream": { "schema": { "type": "string" }, "x-data": written.subschema_for::<Event>() } },
        }),
        Gives::Bytes => json!({
            "description": "The bytes.",
            "content": { "*/*": { "schema": { "type": "string", "format": "binary" } } },
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::server::ROUTES;

    #[test]
    fn every_door_of_the_table_is_described_and_nothing_else_is() {
        let routes = ROUTES.iter().filter(|route| route.path.starts_with("/v1/"));
        let routes: BTreeSet<_> =
            routes.map(|route| (route.path.to_owned(), route.method.as_str().to_lowercase())).collect();
        let paths = document()["paths"].as_object().unwrap();
        let methods = |(path, methods): (&String, &Value)| {
            let path = path.clone();
            methods.as_object().unwrap().keys().map(move |method| (path.clone(), method.clone())).collect::<Vec<_>>()
        };
        let described: BTreeSet<_> = paths.iter().flat_map(methods).collect();
        assert_eq!(described, routes);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn check(value: &Value, root: &Value) {
            match value {
                Value::Object(map) => {
                    if let Some(Value::String(reference)) = map.get("$ref") {
                        let pointer = reference.strip_prefix('#').unwrap();
                        assert!(root.pointer(pointer).is_some(), "{reference}");
                    }
                    map.values().for_each(|value| check(value, root));
                }
                Value::Array(items) => items.iter().for_each(|value| check(value, root)),
                _ => {}
            }
        }
        let mut document = document().clone();
        let payloads = document.as_object_mut().unwrap().remove("x-payloads").unwrap();
        check(&document, &document);
        payloads.as_object().unwrap().values().for_each(|payload| check(payload, payload));
    }
}
