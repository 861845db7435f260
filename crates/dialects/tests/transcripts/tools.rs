//! The transcripts of the dialect `tools`, those in `testdata/tools`.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_dialects::view::{Tools, ViewDialect, tools};
use switchboard_types::{
    AnsweredBy, Approval, BatchMode, CallEnd, CallId, CallPlace, CallRow, Command, Effect, Provider, Reject,
    RejectCode, RequestNo, Resolution, Seq, SessionId, Success, Time, Told, Tool, ToolCode, ToolDefinition,
    ToolFailure, ToolName, ToolOutcome, ToolRequest,
};

use crate::file::{Line, object, transcripts};

#[test]
fn every_transcript_is_what_the_dialect_does() {
    for (path, lines) in transcripts("tools") {
        let mut dialect = Tools::new();
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}", path.display(), at + 1);
            match line.dir.as_deref() {
                Some("->") => hears(&mut dialect, line, &place),
                Some("<-") => {
                    let told = told(line.from.as_ref().expect("a line with `<-` needs from"));
                    assert_eq!(said(|message| dialect.write(Time(0), &told, message)), line.messages(), "{place}");
                }
                other => assert_eq!(other, None, "{place}"),
            }
        }
    }
}

#[test]
fn every_message_type_of_the_schema_has_a_transcript() {
    let (schema, lines) = (tools::schema(), all());
    let types: Vec<Value> =
        lines.iter().filter(|line| gives_command(line)).map(|line| heard(line)["type"].clone()).collect();
    let mut wanted = 0;
    for shape in schema["viewToHost"]["oneOf"].as_array().unwrap() {
        let name = &shape["properties"]["type"]["const"];
        assert!(types.contains(name), "no transcript with -> {name}");
        wanted += 1;
    }
    for shape in schema["hostToView"]["oneOf"].as_array().unwrap() {
        let validator = jsonschema::validator_for(&whole(&schema["hostToView"], shape)).unwrap();
        assert!(messages(&lines).iter().any(|message| validator.is_valid(message)), "no transcript with <- {shape}");
        wanted += 1;
    }
    assert_eq!(wanted, 9 + 11);
}

#[test]
fn every_message_is_as_the_schema_says() {
    let (schema, lines) = (tools::schema(), all());
    let to_host = jsonschema::validator_for(&schema["viewToHost"]).unwrap();
    for line in lines.iter().filter(|line| gives_command(line)) {
        let message = heard(line);
        assert!(to_host.is_valid(&message), "{message}: {:?}", to_host.validate(&message));
    }
    let to_view = jsonschema::validator_for(&schema["hostToView"]).unwrap();
    for message in messages(&lines) {
        assert!(to_view.is_valid(&message), "{message}: {:?}", to_view.validate(&message));
    }
}

#[test]
fn every_code_has_a_transcript() {
    let said = messages(&all());
    let codes = |value: &Value| -> Vec<String> {
        let mut found = Vec::new();
        each(value, &mut |one| found.extend(one.get("code").and_then(Value::as_str).map(str::to_owned)));
        found
    };
    let said: BTreeSet<String> = said.iter().flat_map(codes).collect();
    for code in [
        "TOOL_NOT_FOUND",
        "VALIDATION_ERROR",
        "TIMEOUT",
        "EXECUTION_ERROR",
        "CANCELLED",
        "DENIED",
        "WORKSPACE_UNTRUSTED",
        "REGISTRY_NOT_READY",
        "UNKNOWN_MESSAGE_TYPE",
        "REQUIRED",
        "UNKNOWN_PARAMETER",
        "TYPE_MISMATCH",
        "NULL_VALUE",
        "ENUM_MISMATCH",
        "OUT_OF_RANGE",
        "PATTERN_MISMATCH",
    ] {
        assert!(said.contains(code), "no transcript in which the host says {code}");
    }
}

fn each(value: &Value, seen: &mut dyn FnMut(&Value)) {
    seen(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| each(item, seen)),
        Value::Object(members) => members.values().for_each(|member| each(member, seen)),
        _ => {}
    }
}

fn all() -> Vec<Line> {
    transcripts("tools").into_iter().flat_map(|(_, lines)| lines).collect()
}

fn gives_command(line: &Line) -> bool {
    line.gives.as_ref().is_some_and(|gives| gives.get("command").is_some())
}

fn heard(line: &Line) -> Value {
    serde_json::from_slice(&line.incoming()).unwrap()
}

fn messages(lines: &[Line]) -> Vec<Value> {
    let texts = lines.iter().flat_map(|line| line.messages().into_iter().chain(line.sends()));
    texts.map(|text| serde_json::from_str(&text).unwrap()).collect()
}

/// One shape with the definitions that it needs.
fn whole(schema: &Value, shape: &Value) -> Value {
    let mut whole = shape.clone();
    whole["$defs"] = schema["$defs"].clone();
    whole
}

fn said(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<String> {
    let mut messages = Vec::new();
    write(&mut |message| messages.push(String::from_utf8(message.to_vec()).unwrap()));
    messages
}

fn hears(dialect: &mut Tools, line: &Line, place: &str) {
    let read = dialect.read(Time(0), &line.incoming());
    let sends = match &read {
        Ok(_) => Vec::new(),
        Err(reject) => said(|message| dialect.refuse(Time(0), reject, message)),
    };
    let gives = match read {
        Ok(command) => commanded(&command),
        Err(Reject { code, message, .. }) => json!({"reject": code, "message": message}),
    };
    assert_eq!(Some(gives), line.gives, "{place}");
    assert_eq!(sends, line.sends(), "{place}");
}

fn commanded(command: &Command) -> Value {
    match command {
        Command::ListTools { request } => json!({"command": "listTools", "request": request}),
        Command::CallTools { request, calls, mode } => {
            let mode = match mode {
                BatchMode::Parallel => "parallel",
                BatchMode::Sequential => "sequential",
                BatchMode::SequentialUntilError => "sequentialUntilError",
            };
            let calls: Vec<_> = calls.iter().map(call).collect();
            json!({"command": "callTools", "request": request, "calls": calls, "mode": mode})
        }
        Command::CancelCall { request, call } => json!({"command": "cancelCall", "request": request, "call": call}),
        Command::ListCalls { request, tool, before, limit } => object([
            ("command", Some(json!("listCalls"))),
            ("request", Some(json!(request))),
            ("tool", tool.as_ref().map(|tool| json!(tool))),
            ("before", before.map(|place| json!([place.asked, place.session, place.asked_at]))),
            ("limit", Some(json!(limit))),
        ]),
        Command::LendTools { request, tools } => {
            json!({"command": "lendTools", "request": request, "tools": tools})
        }
        Command::LentResult { call, result } => object([
            ("command", Some(json!("lentResult"))),
            ("call", Some(json!(call))),
            ("data", result.as_ref().ok().cloned()),
            ("error", result.as_ref().err().map(failed)),
        ]),
        Command::WatchApprovals { request } => json!({"command": "watchApprovals", "request": request}),
        Command::Answer { request, session, approval, decision, command } => object([
            ("command", Some(json!("answer"))),
            ("request", Some(json!(request))),
            ("session", Some(json!(session))),
            ("approval", Some(json!(approval))),
            ("decision", Some(json!(decision))),
            ("edited", command.as_ref().map(|command| json!(command))),
        ]),
        other => panic!("the dialect has no word for this: {other:?}"),
    }
}

fn call(request: &ToolRequest) -> Value {
    object([
        ("call", request.call.as_ref().map(|call| json!(call))),
        ("tool", Some(json!(request.tool))),
        ("parameters", Some(request.parameters.clone())),
        ("session", request.session.map(|session| json!(session))),
        ("workspace", request.workspace.as_ref().map(|root| json!(root))),
        ("timeoutMs", request.timeout_ms.map(|ms| json!(ms))),
    ])
}

fn failed(failure: &ToolFailure) -> Value {
    object([
        ("code", Some(json!(failure.code))),
        ("message", Some(json!(failure.message))),
        ("details", failure.details.clone()),
    ])
}

#[derive(Deserialize)]
#[serde(tag = "told", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Saying {
    Tools { request: RequestNo, tools: Option<Vec<ToolDefinition>>, error: Option<Failure> },
    ToolsCalled { request: RequestNo, outcomes: Option<Vec<Outcome>>, error: Option<Failure> },
    CallCancelled { request: RequestNo, cancelled: bool },
    Calls { request: RequestNo, calls: Option<Vec<Row>>, next: Option<(Time, SessionId, Seq)>, error: Option<Failure> },
    Lent { request: RequestNo, names: Option<Vec<ToolName>>, error: Option<Failure> },
    LentCall { call: u64, tool: ToolName, parameters: Value },
    ApprovalsWatched { request: RequestNo },
    ApprovalOpen { session: SessionId, approval: Box<Approval> },
    Answered { request: RequestNo, resolution: Option<Resolution>, yours: Option<bool>, error: Option<Failure> },
    Refused { message: String },
    Pong,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: ToolCode,
    message: String,
    details: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    call: CallId,
    data: Option<Value>,
    error: Option<Failure>,
    duration: u64,
    metadata: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    session: SessionId,
    call: CallId,
    tool: ToolName,
    parameters: String,
    asked: Time,
    data: Option<String>,
    error: Option<String>,
}

fn failure(failure: Failure) -> ToolFailure {
    ToolFailure { code: failure.code, message: failure.message, details: failure.details }
}

fn either<T>(good: Option<T>, error: Option<Failure>) -> Result<T, ToolFailure> {
    error.map_or_else(|| Ok(good.unwrap()), |error| Err(failure(error)))
}

fn told(from: &Value) -> Told {
    match Saying::deserialize(from).unwrap() {
        Saying::Tools { request, tools, error } => {
            let tool = |definition| Arc::new(Tool { definition, effect: Effect::Reads, provider: Provider::Host });
            let tools = tools.map(|tools| tools.into_iter().map(tool).collect());
            Told::Tools { request, tools: either(tools, error) }
        }
        Saying::ToolsCalled { request, outcomes, error } => {
            let outcomes = outcomes.map(|outcomes| outcomes.into_iter().map(outcome).collect());
            Told::ToolsCalled { request, outcomes: either(outcomes, error) }
        }
        Saying::CallCancelled { request, cancelled } => Told::CallCancelled { request, cancelled },
        Saying::Calls { request, calls, next, error } => {
            let calls = calls.map(|calls| calls.into_iter().map(row).collect());
            let next = next.map(|(asked, session, asked_at)| CallPlace { asked, session, asked_at });
            Told::Calls { request, calls: either(calls, error), next }
        }
        Saying::Lent { request, names, error } => Told::Lent { request, result: either(names, error) },
        Saying::LentCall { call, tool, parameters } => Told::LentCall { call, tool, parameters },
        Saying::ApprovalsWatched { request } => Told::ApprovalsWatched { request },
        Saying::ApprovalOpen { session, approval } => Told::ApprovalOpen { session, approval },
        Saying::Answered { request, resolution, yours, error } => {
            let by = if yours == Some(true) { AnsweredBy::You } else { AnsweredBy::Before };
            Told::Answered { request, result: either(resolution.map(|resolution| (resolution, by)), error) }
        }
        Saying::Refused { message } => Told::Refused(Reject::new(RejectCode::Internal, message)),
        Saying::Pong => Told::Pong { number: 1 },
    }
}

fn outcome(outcome: Outcome) -> ToolOutcome {
    let result = either(Some(outcome.data.unwrap_or_default()), outcome.error);
    ToolOutcome { call: outcome.call, result, duration_ms: outcome.duration, metadata: outcome.metadata }
}

fn row(row: Row) -> CallRow {
    let success = if row.error.is_some() { Success::No } else { Success::Yes };
    let end =
        row.data.or(row.error).map(|result| CallEnd { at: Time(row.asked.0 + 9), duration_ms: 7, success, result });
    CallRow {
        session: row.session,
        asked_at: Seq(4),
        call: row.call,
        tool: row.tool,
        parameters: row.parameters,
        asked: row.asked,
        end,
    }
}
