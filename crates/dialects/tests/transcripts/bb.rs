//! The transcripts of the dialect `bb`, those in `testdata/bb`.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_dialects::view::{Bb, ViewDialect, bb};
use switchboard_types::desk::{FileAnswer, FileEntry, FileEntryKind, FileRequest};
use switchboard_types::{
    AgentHome, AgentInfo, AgentName, AgentState, AnsweredBy, Body, Command, Connection, ConnectionStatus, Epoch,
    FollowFrom, LinkId, PageBuilder, PermissionMode, ProcessPer, Reject, RejectCode, RequestNo, Resolution, Seq,
    SessionAnswer, SessionId, SessionRequest, SessionSummary, Source, Status, TabId, Time, Told, ToolCode, ToolFailure,
    Trust, TurnId, TurnName, TurnNames, WorkspaceRoot, WorkspaceSummary,
};

use crate::file::{Line, object, transcripts};

const LINK: LinkId = LinkId(7);

#[test]
fn every_transcript_is_what_the_dialect_does() {
    for (path, lines) in transcripts("bb") {
        let mut dialect = Bb::new();
        assert_eq!(dialect.begin(LINK), Some(Command::Watch { seen: Vec::new() }));
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}", path.display(), at + 1);
            let now = Time(line.at);
            match line.dir.as_deref() {
                Some("->") => hears(&mut dialect, now, line, &place),
                Some("<-") => {
                    let from = line.from.as_ref().expect("a line with `<-` needs from");
                    let told = told(from);
                    let said = said(|message| match &told {
                        Some(told) => dialect.write(now, told, message),
                        None => dialect.tick(now, message),
                    });
                    assert_eq!(said, line.messages(), "{place}");
                }
                other => assert_eq!(other, None, "{place}"),
            }
            let asks: Vec<Value> = std::iter::from_fn(|| dialect.asks()).map(|command| commanded(&command)).collect();
            assert_eq!(asks, line.asks, "{place}");
        }
    }
}

#[test]
fn every_method_and_every_topic_has_a_transcript() {
    let (schema, lines) = (bb::schema(), all());
    let asked: Vec<Value> =
        lines.iter().filter(|line| gives_command(line)).map(|line| heard(line)["method"].clone()).collect();
    let said = messages(&lines);
    let mut looked = 0;
    for shape in schema["viewToHost"]["oneOf"].as_array().unwrap() {
        let name = &shape["properties"]["method"]["const"];
        assert!(asked.contains(name), "no transcript with -> {name}");
        looked += 1;
    }
    for shape in schema["hostToView"]["anyOf"].as_array().unwrap() {
        let validator = jsonschema::validator_for(&whole(&schema["hostToView"], shape)).unwrap();
        assert!(said.iter().any(|message| validator.is_valid(message)), "no transcript with <- {shape}");
        looked += 1;
    }
    assert_eq!(looked, 13 + 13 + 1 + 3);
}

#[test]
fn every_request_answer_and_event_is_as_the_schema_says() {
    let (schema, lines) = (bb::schema(), all());
    let to_host = jsonschema::validator_for(&schema["viewToHost"]).unwrap();
    let mut looked = 0;
    for line in lines.iter().filter(|line| gives_command(line)) {
        let message = heard(line);
        assert!(to_host.is_valid(&message), "{message}: {:?}", to_host.validate(&message));
        looked += 1;
    }
    let to_view = jsonschema::validator_for(&schema["hostToView"]).unwrap();
    for message in messages(&lines) {
        assert!(to_view.is_valid(&message), "{message}: {:?}", to_view.validate(&message));
        looked += 1;
    }
    assert!(looked > 60, "only {looked}");
}

#[test]
fn every_error_code_has_a_transcript() {
    let said = messages(&all());
    let codes: BTreeSet<&str> = said.iter().filter_map(|message| message["error"]["code"].as_str()).collect();
    let wanted = [
        "agent_unavailable",
        "bad_request",
        "conflict",
        "internal_error",
        "method_not_found",
        "not_found",
        "too_large",
        "workspace_untrusted",
    ];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), wanted);
}

fn all() -> Vec<Line> {
    transcripts("bb").into_iter().flat_map(|(_, lines)| lines).collect()
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

fn hears(dialect: &mut Bb, now: Time, line: &Line, place: &str) {
    let read = dialect.read(now, &line.incoming());
    let sends = match &read {
        Ok(_) => Vec::new(),
        Err(reject) => said(|message| dialect.refuse(now, reject, message)),
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
        Command::Session { request, what } => {
            let mut said = asked(what);
            said["command"] = "session".into();
            said["request"] = json!(request);
            said
        }
        Command::Answer { request, session, approval, decision, command: None } => {
            json!({"command": "answer", "request": request, "session": session, "approval": approval, "decision": decision})
        }
        other => panic!("the dialect has no word for this: {other:?}"),
    }
}

fn asked(what: &SessionRequest) -> Value {
    match what {
        SessionRequest::Create { agent, workspace: None, setup, task } => object([
            ("what", Some(json!("create"))),
            ("agent", agent.as_ref().map(|agent| json!(agent))),
            ("config", setup.config.as_ref().map(|config| json!(config))),
            ("model", setup.model.as_ref().map(|model| json!(model))),
            ("auto", setup.permission.map(|mode| json!(mode == PermissionMode::Auto))),
            ("task", task.as_ref().map(|task| json!(task))),
        ]),
        SessionRequest::List { before: None, limit } => json!({"what": "list", "limit": limit}),
        SessionRequest::Follow { session, from } => {
            let from = match from {
                FollowFrom::Start => json!("start"),
                FollowFrom::Live => json!("live"),
                FollowFrom::After(seen) => json!([seen.seq, seen.epoch]),
                FollowFrom::AfterSource(id) => json!(id),
            };
            json!({"what": "follow", "session": session, "from": from})
        }
        SessionRequest::Leave { session } => json!({"what": "leave", "session": session}),
        SessionRequest::Send { session, name, prompt, attachments } => {
            json!({"what": "send", "session": session, "name": name, "text": prompt.text, "attachments": attachments})
        }
        SessionRequest::Stop { session } => json!({"what": "stop", "session": session}),
        SessionRequest::Set { session, category, value } => {
            json!({"what": "set", "session": session, "category": category, "value": value})
        }
        SessionRequest::Order { session, name, payload } => {
            json!({"what": "order", "session": session, "name": name, "payload": payload})
        }
        SessionRequest::Delete { session } => json!({"what": "delete", "session": session}),
        SessionRequest::Files { session, what } => {
            let files = match what {
                FileRequest::List { path } => json!({"list": path}),
                FileRequest::Read { path, cut } => {
                    json!({"read": path, "cut": [cut.head_lines, cut.tail_lines, cut.max_bytes]})
                }
                FileRequest::Diff { path, before, after } => json!({"diff": path, "refs": [before, after]}),
                FileRequest::Artifact { path } => json!({"artifact": path}),
            };
            json!({"what": "files", "session": session, "files": files})
        }
        other => panic!("the dialect has no word for this: {other:?}"),
    }
}

#[derive(Deserialize)]
#[serde(tag = "told", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Saying {
    Tick,
    Overview { sessions: Vec<Summary> },
    Session { session: Summary },
    SessionGone { session: SessionId },
    Workspace { trusted: bool },
    Events { tab: TabId, first: Seq, events: Vec<Written>, elsewhere: Option<bool> },
    Gap { tab: TabId, from: Seq, to: Seq },
    Reset { tab: TabId },
    Answer { request: RequestNo, answer: Option<Answer>, error: Option<Refused> },
    Answered { request: RequestNo, resolution: Option<Resolution>, yours: Option<bool>, error: Option<String> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Answer {
    Created(SessionId),
    Sessions(Vec<Summary>),
    Following { session: SessionId, tab: TabId },
    Queued(u32),
    Stopped(bool),
    Ordered { status: String, detail: Option<Value> },
    Entries(Vec<(String, String, Option<u64>)>),
    Snippet { path: String, content: String, binary: bool },
    Diff { diff: String },
    Artifact { name: String },
    Done,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    code: String,
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Summary {
    session: SessionId,
    tab: Option<TabId>,
    title: Option<String>,
    agent: Option<String>,
    updated: u64,
    status: Option<String>,
    agent_state: Option<String>,
    approvals: Option<usize>,
    connection: Option<(String, u32, Option<String>, bool)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    turn: Option<TurnId>,
    body: Body,
    /// Repeats the text of the body so often.
    times: Option<usize>,
    source: Option<(String, Option<u64>, String, String)>,
}

const EPOCH: Epoch = Epoch(0xab);

fn told(from: &Value) -> Option<Told> {
    Some(match Saying::deserialize(from).unwrap() {
        Saying::Tick => return None,
        Saying::Overview { sessions } => Told::Overview {
            home: Some(WorkspaceRoot::from("/w")),
            workspaces: vec![workspace(Trust::Untrusted)],
            sessions: sessions.into_iter().map(summary).collect(),
        },
        Saying::Session { session } => Told::Session(summary(session)),
        Saying::SessionGone { session } => Told::SessionGone { session },
        Saying::Workspace { trusted } => {
            Told::Workspace(workspace(if trusted { Trust::Trusted } else { Trust::Untrusted }))
        }
        Saying::Events { tab, first, events, elsewhere } => {
            let home = if elsewhere == Some(true) { AgentHome::Elsewhere } else { AgentHome::Here };
            let names = TurnNames::new(vec![(TurnId(1), TurnName::from("m1"))]);
            Told::Events { tab, page: page(first, events), names, epoch: EPOCH, home }
        }
        Saying::Gap { tab, from, to } => Told::Gap { tab, from, to },
        Saying::Reset { tab } => Told::Reset { tab },
        Saying::Answer { request, answer, error } => {
            let result = match (answer, error) {
                (Some(answer), _) => Ok(Box::new(answered(answer))),
                (None, error) => Err(reject(error.unwrap())),
            };
            Told::Answer { request, result }
        }
        Saying::Answered { request, resolution, yours, error } => {
            let by = if yours == Some(true) { AnsweredBy::You } else { AnsweredBy::Before };
            let failure = |message| ToolFailure::new(ToolCode::ValidationError, message);
            Told::Answered { request, result: resolution.map(|one| (one, by)).ok_or_else(|| failure(error.unwrap())) }
        }
    })
}

fn page(first: Seq, events: Vec<Written>) -> Arc<switchboard_types::Page> {
    let mut page = PageBuilder::new(first);
    for (at, event) in events.into_iter().enumerate() {
        let source = event.source.map(|(id, seq, name, rest)| Source {
            id: id.as_str().into(),
            seq,
            name,
            rest,
            turn: Some(4),
            at: Some(Time(77)),
        });
        let body = match (event.body, event.times) {
            (Body::ExecutionOutput { execution, text }, Some(times)) => {
                Body::ExecutionOutput { execution, text: text.repeat(times) }
            }
            (body, _) => body,
        };
        page.push_from(Time(1_000 + at as u64), event.turn, &body, source.as_ref());
    }
    Arc::new(page.take().unwrap())
}

fn answered(answer: Answer) -> SessionAnswer {
    match answer {
        Answer::Created(session) => SessionAnswer::Created { session },
        Answer::Sessions(sessions) => {
            SessionAnswer::Sessions { sessions: sessions.into_iter().map(summary).collect(), next: None }
        }
        Answer::Following { session, tab } => SessionAnswer::Following { session, tab, epoch: EPOCH, head: Seq(9) },
        Answer::Queued(position) => SessionAnswer::Queued { turn: TurnId(1), position },
        Answer::Stopped(stopped) => SessionAnswer::Stopped { stopped },
        Answer::Ordered { status, detail } => SessionAnswer::Ordered { status, detail },
        Answer::Entries(entries) => {
            let entry = |(name, kind, size): (String, String, Option<u64>)| FileEntry {
                path: format!("src/{name}"),
                name,
                kind: match kind.as_str() {
                    "file" => FileEntryKind::File,
                    "directory" => FileEntryKind::Directory,
                    "symlink" => FileEntryKind::Symlink,
                    _ => FileEntryKind::Other,
                },
                size,
            };
            let entries = entries.into_iter().map(entry).collect();
            SessionAnswer::Files(Box::new(FileAnswer::Entries { entries, truncated: false }))
        }
        Answer::Snippet { path, content, binary } => SessionAnswer::Files(Box::new(FileAnswer::Snippet {
            path,
            content,
            truncated: true,
            total_bytes: 90_000,
            total_lines: 1_200,
            binary,
        })),
        Answer::Diff { diff } => SessionAnswer::Files(Box::new(FileAnswer::Diff {
            path: "a.rs".to_owned(),
            change: None,
            diff,
            opened: false,
        })),
        Answer::Artifact { name } => SessionAnswer::Files(Box::new(FileAnswer::Artifact {
            name,
            mime: "application/json".to_owned(),
            size: 70_000,
            url: "/artifact/0123".to_owned(),
        })),
        Answer::Done => SessionAnswer::Done {},
    }
}

fn reject(refused: Refused) -> Reject {
    let code = match refused.code.as_str() {
        "not_found" => RejectCode::NotFound,
        "conflict" => RejectCode::Conflict,
        "too_large" => RejectCode::TooLarge,
        "workspace_untrusted" => RejectCode::WorkspaceUntrusted,
        "agent_unavailable" => RejectCode::AgentUnavailable,
        "bad_message" => RejectCode::BadMessage,
        _ => RejectCode::Internal,
    };
    Reject::new(code, refused.message)
}

fn summary(said: Summary) -> SessionSummary {
    SessionSummary {
        session: said.session,
        epoch: EPOCH,
        tab: said.tab,
        title: said.title.unwrap_or_default(),
        agent: AgentName::new(said.agent.unwrap_or("demo".to_owned())),
        workspace: WorkspaceRoot::from("/w"),
        status: match said.status.as_deref() {
            Some("running") => Status::Running,
            Some("awaiting_approval") => Status::AwaitingApproval,
            Some("queued") => Status::Queued,
            _ => Status::Idle,
        },
        agent_state: match said.agent_state.as_deref() {
            Some("starting") => AgentState::Starting,
            Some("exited") => AgentState::Exited,
            _ => AgentState::Ready,
        },
        connection: said.connection.map(|(status, retries, last_error, gap)| Connection {
            status: match status.as_str() {
                "connected" => ConnectionStatus::Connected,
                "error" => ConnectionStatus::Error,
                _ => ConnectionStatus::Connecting,
            },
            retries,
            last_error,
            gap,
        }),
        queued: 0,
        approvals: said.approvals.unwrap_or(0),
        ended: None,
        policy: Default::default(),
        created: Time(1),
        updated: Time(said.updated),
    }
}

fn workspace(trust: Trust) -> WorkspaceSummary {
    let agent = |name: &str, kind: &str, home| AgentInfo {
        name: name.into(),
        kind: kind.to_owned(),
        process: ProcessPer::Shared,
        home,
    };
    WorkspaceSummary {
        root: WorkspaceRoot::from("/w"),
        trust,
        agents: vec![agent("demo", "demo", AgentHome::Here), agent("engine", "engine", AgentHome::Elsewhere)],
        default_agent: AgentName::from("demo"),
        offers: Vec::new(),
    }
}
