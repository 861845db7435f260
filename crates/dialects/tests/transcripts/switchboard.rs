//! The transcripts of the dialect `switchboard`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_dialects::view::{Switchboard, switchboard};
use switchboard_types::{
    AgentInfo, AgentName, AgentOffer, AgentState, Body, Chore, ChoreAnswer, Command, Containment, CostSum, Epoch,
    FileAnswer, FileRequest, Found, FoundMessage, FoundSession, HistoryPlace, Kept, LibraryAnswer, LibraryRequest,
    ModelServer, PageBuilder, ProcessPer, Rebuilt, Reject, RejectCode, RequestNo, Role, Rule, Seen, Seq, SessionAnswer,
    SessionId, SessionRequest, SessionSummary, Settings, SettingsAnswer, SettingsRequest, SettingsScope, SettingsState,
    SnippetPiece, Status, TabId, Time, Tokens, Told, Trust, TurnId, TurnNames, UsageRow, Visibility, WorkspaceRoot,
    WorkspaceSummary,
};

use crate::file::{assert_all_shown, object, play};

#[test]
fn every_transcript_is_what_the_dialect_does() {
    let given = |read: Result<Command, Reject>| match read {
        Ok(command) => commanded(&command),
        Err(reject) => rejected(&reject),
    };
    play("switchboard", || Box::new(Switchboard::new()), given, told);
}

#[test]
fn every_message_type_of_the_schema_has_a_transcript() {
    assert_all_shown("switchboard", &switchboard::schema(), 10);
}

#[test]
fn the_typescript_names_every_message() {
    let (schema, text) = (switchboard::schema(), switchboard::typescript());
    for direction in ["viewToHost", "hostToView"] {
        for shape in schema[direction]["oneOf"].as_array().unwrap() {
            let name = shape["properties"]["type"]["const"].as_str().unwrap();
            assert!(text.contains(&format!("{{ \"type\": \"{name}\"")), "{name}");
        }
    }
    assert!(!text.contains("bigint"), "JSON numbers are numbers in a browser");
}

fn rejected(reject: &Reject) -> Value {
    object([
        ("reject", Some(json!(reject.code))),
        ("message", Some(json!(reject.message))),
        ("tab", reject.tab.as_ref().map(|tab| json!(tab))),
        ("turn", reject.turn.as_ref().map(|name| json!(name))),
    ])
}

fn seen(seen: &Seen) -> Value {
    json!([seen.seq, seen.epoch])
}

fn commanded(command: &Command) -> Value {
    match command {
        Command::Watch { seen: all } => {
            let all: Vec<_> = all.iter().map(|(tab, one)| json!([tab, seen(one)])).collect();
            json!({"command": "watch", "seen": all})
        }
        Command::OpenTab { tab, agent, workspace, seen: one } => object([
            ("command", Some(json!("openTab"))),
            ("tab", Some(json!(tab))),
            ("agent", agent.as_ref().map(|agent| json!(agent))),
            ("workspace", workspace.as_ref().map(|workspace| json!(workspace))),
            ("seen", Some(seen(one))),
        ]),
        Command::OpenSession { tab, session, seen: one } => {
            json!({"command": "openSession", "tab": tab, "session": session, "seen": seen(one)})
        }
        Command::LeaveTab { tab } => json!({"command": "leaveTab", "tab": tab}),
        Command::Prompt { tab, name, prompt } => {
            json!({"command": "prompt", "tab": tab, "name": name, "prompt": prompt})
        }
        Command::Cancel { tab, name } => json!({"command": "cancel", "tab": tab, "name": name}),
        Command::CloseTab { tab } => json!({"command": "closeTab", "tab": tab}),
        Command::Visibility(visibility) => {
            json!({"command": "visibility", "visible": *visibility == Visibility::Visible})
        }
        Command::Decide { tab, approval, decision, command, option } => object([
            ("command", Some(json!("decide"))),
            ("tab", Some(json!(tab))),
            ("approval", Some(json!(approval))),
            ("decision", Some(json!(decision))),
            ("edited", command.as_ref().map(|command| json!(command))),
            ("option", option.as_ref().map(|option| json!(option))),
        ]),
        Command::SetPolicy { tab, change } => json!({"command": "setPolicy", "tab": tab, "change": change}),
        Command::WatchRules {} => json!({"command": "watchRules"}),
        Command::RemoveRule { rule } => json!({"command": "removeRule", "rule": rule}),
        Command::SetOption { tab, option, value } => {
            json!({"command": "setOption", "tab": tab, "option": option, "value": value})
        }
        Command::SignIn { tab, method } => json!({"command": "signIn", "tab": tab, "method": method}),
        Command::AddAgent { name } => json!({"command": "addAgent", "name": name}),
        Command::RestartAgent { tab } => json!({"command": "restartAgent", "tab": tab}),
        Command::Trust { root, trust } => {
            json!({"command": "trust", "root": root, "trusted": *trust == Trust::Trusted})
        }
        Command::History { before, limit } => {
            let before = before.map(|place| json!([place.updated, place.session]));
            object([("command", Some(json!("history"))), ("before", before), ("limit", Some(json!(limit)))])
        }
        Command::DeleteSession { session } => json!({"command": "deleteSession", "session": session}),
        Command::Chore { request, what: Chore::Library(what) } => {
            json!({"command": "library", "request": request, "what": asked(what)})
        }
        Command::Chore { request, what: Chore::Settings(what) } => {
            json!({"command": "settings", "request": request, "what": set(what)})
        }
        Command::WatchSettings {} => json!({"command": "watchSettings"}),
        Command::Session { request, what } => json!({"command": "session", "request": request, "what": about(what)}),
        Command::Ping { number } => json!({"command": "ping", "number": number}),
        Command::Ready { .. }
        | Command::Ack { .. }
        | Command::ListTools { .. }
        | Command::CallTools { .. }
        | Command::CancelCall { .. }
        | Command::ListCalls { .. }
        | Command::LendTools { .. }
        | Command::LentResult { .. }
        | Command::WatchApprovals { .. }
        | Command::Answer { .. } => panic!("the dialect has no word for this: {command:?}"),
    }
}

fn asked(what: &LibraryRequest) -> Value {
    match what {
        LibraryRequest::Search(query) => json!({"search": query}),
        LibraryRequest::Usage(query) => json!({"usage": [query.by, query.session, query.since]}),
        LibraryRequest::Upkeep {} => json!("upkeep"),
        LibraryRequest::Rebuild {} => json!("rebuild"),
    }
}

fn set(what: &SettingsRequest) -> Value {
    match what {
        SettingsRequest::Save { scope, change, unset } => {
            let root = match scope {
                SettingsScope::User => None,
                SettingsScope::Workspace(root) => Some(json!(root)),
            };
            let unset = (!unset.is_empty()).then(|| json!(unset));
            object([("save", Some(json!(change))), ("in", root), ("unset", unset)])
        }
        SettingsRequest::SaveToken { token, base_url } => json!({"token": token.0, "for": base_url}),
        SettingsRequest::Test { base_url } => json!({"test": base_url}),
        SettingsRequest::FindServers {} => json!("find"),
        SettingsRequest::UseModel { base_url, model } => json!({"use": model, "at": base_url}),
    }
}

fn about(what: &SessionRequest) -> Value {
    match what {
        SessionRequest::Rename { session, title } => json!({"rename": session, "title": title}),
        SessionRequest::Delete { session } => json!({"delete": session}),
        SessionRequest::SetPolicy { session, change } => json!({"setPolicy": session, "change": change}),
        SessionRequest::Files { session, what: FileRequest::Artifact { path } } => {
            json!({"artifact": path, "of": session})
        }
        what => panic!("the dialect has no word for this: {what:?}"),
    }
}

#[derive(Deserialize)]
#[serde(tag = "told", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Saying {
    Overview,
    Events { tab: TabId, first: Seq, events: Vec<Written> },
    Gap { tab: TabId, from: Seq, to: Seq },
    Reset { tab: TabId },
    Session { tab: Option<TabId> },
    SessionGone { session: SessionId },
    Workspace,
    History { more: bool },
    Refused { message: String, tab: Option<TabId>, turn: Option<String> },
    Rules { rules: Vec<Rule> },
    Containment { containment: Containment },
    Found { request: RequestNo },
    Used { request: RequestNo },
    Kept { request: RequestNo },
    Rebuilt { request: RequestNo },
    ChoreNews { request: RequestNo, done: u64, total: u64 },
    ChoreRefused { request: RequestNo, message: String },
    Settings { user: Box<Settings>, own: Box<Settings>, has_token: bool },
    Saved { request: RequestNo },
    Token { request: RequestNo, has_token: bool },
    Tested { request: RequestNo, success: bool, message: String, models: Vec<String> },
    Servers { request: RequestNo, servers: Vec<ModelServer>, message: String },
    InUse { request: RequestNo, agent: AgentName },
    Artifact { request: RequestNo, name: String, size: u64, url: String },
    Done { request: RequestNo },
    AnswerRefused { request: RequestNo, message: String },
    Pong { number: u64 },
}

#[derive(Deserialize)]
struct Written {
    turn: Option<TurnId>,
    body: Body,
}

fn told(from: &Value) -> Told {
    match Saying::deserialize(from).unwrap() {
        Saying::Overview => Told::Overview {
            home: Some(WorkspaceRoot::from("/w")),
            workspaces: vec![workspace()],
            sessions: vec![session(Some("t".into()))],
        },
        Saying::Events { tab, first, events } => {
            let mut page = PageBuilder::new(first);
            for (at, event) in events.iter().enumerate() {
                page.push(Time(1_000 + at as u64), event.turn, &event.body);
            }
            let page = Arc::new(page.take().unwrap());
            Told::Events { tab, page, names: TurnNames::new(Vec::new()), epoch: Epoch(0xab), home: Default::default() }
        }
        Saying::Gap { tab, from, to } => Told::Gap { tab, from, to },
        Saying::Reset { tab } => Told::Reset { tab },
        Saying::Session { tab } => Told::Session(session(tab)),
        Saying::SessionGone { session } => Told::SessionGone { session },
        Saying::Workspace => Told::Workspace(workspace()),
        Saying::History { more } => Told::History {
            sessions: vec![session(None)],
            next: more.then_some(HistoryPlace { updated: Time(2_000), session: SessionId(3) }),
        },
        Saying::Refused { message, tab, turn } => {
            let turn = turn.map(|turn| turn.as_str().into());
            Told::Refused(Reject { code: RejectCode::WorkspaceUntrusted, message, tab, turn, window: None })
        }
        Saying::Rules { rules } => Told::Rules { rules },
        Saying::Containment { containment } => Told::Containment(containment),
        Saying::Found { request } => library(request, LibraryAnswer::Found(found())),
        Saying::Used { request } => library(request, LibraryAnswer::Usage(vec![used()])),
        Saying::Kept { request } => {
            let kept = Kept { sessions: 1, messages: 2, bytes_before: 4096, bytes_after: 1024 };
            library(request, LibraryAnswer::Kept(kept))
        }
        Saying::Rebuilt { request } => {
            let rebuilt = Rebuilt { sessions: 3, messages: 40, backup: "/d/library.db.bak-1".to_owned() };
            library(request, LibraryAnswer::Rebuilt(rebuilt))
        }
        Saying::ChoreNews { request, done, total } => Told::ChoreNews { request, done, total },
        Saying::ChoreRefused { request, message } => {
            Told::ChoreDone { request, result: Err(Reject::new(RejectCode::BadMessage, message)) }
        }
        Saying::Settings { user, own, has_token } => Told::Settings(Arc::new(SettingsState {
            user: *user,
            workspaces: vec![(WorkspaceRoot::from("/w"), *own)],
            has_token,
            tokens_in: "the keyring".to_owned(),
            first_run: false,
        })),
        Saying::Saved { request } => settings(request, SettingsAnswer::Saved {}),
        Saying::Token { request, has_token } => settings(request, SettingsAnswer::Token { has_token }),
        Saying::Tested { request, success, message, models } => {
            settings(request, SettingsAnswer::Tested { success, message, models })
        }
        Saying::Servers { request, servers, message } => {
            settings(request, SettingsAnswer::Servers { servers, message })
        }
        Saying::InUse { request, agent } => settings(request, SettingsAnswer::InUse { agent }),
        Saying::Artifact { request, name, size, url } => {
            let files = FileAnswer::Artifact { name, mime: "text/markdown".to_owned(), size, url };
            Told::Answer { request, result: Ok(Box::new(SessionAnswer::Files(Box::new(files)))) }
        }
        Saying::Done { request } => Told::Answer { request, result: Ok(Box::new(SessionAnswer::Done {})) },
        Saying::AnswerRefused { request, message } => {
            Told::Answer { request, result: Err(Reject::new(RejectCode::NotFound, message)) }
        }
        Saying::Pong { number } => Told::Pong { number },
    }
}

fn library(request: RequestNo, answer: LibraryAnswer) -> Told {
    Told::ChoreDone { request, result: Ok(Box::new(ChoreAnswer::Library(answer))) }
}

fn settings(request: RequestNo, answer: SettingsAnswer) -> Told {
    Told::ChoreDone { request, result: Ok(Box::new(ChoreAnswer::Settings(answer))) }
}

fn found() -> Found {
    let piece = |text: &str, hit: bool| SnippetPiece { text: text.to_owned(), hit };
    let message = FoundMessage {
        epoch: Epoch(u64::MAX),
        seq: Seq(7),
        turn: Some(TurnId(2)),
        role: Role::Assistant,
        at: Time(1_500),
        snippet: vec![piece("a <b> ", false), piece("word", true), piece(" after", false)],
    };
    let session = FoundSession {
        session: SessionId(3),
        title: "A title".to_owned(),
        agent: AgentName::from("demo"),
        workspace: WorkspaceRoot::from("/w"),
        updated: Time(2_000),
        messages: vec![message],
    };
    Found { sessions: vec![session], more: true, behind: 1 }
}

fn used() -> UsageRow {
    UsageRow {
        session: Some(SessionId(3)),
        turn: None,
        day: None,
        turns: 2,
        tokens: Tokens { input: 10, output: 20, cached: 5, thought: 1 },
        costs: vec![CostSum { micros: 1_500, currency: "USD".to_owned() }],
    }
}

fn session(tab: Option<TabId>) -> SessionSummary {
    SessionSummary {
        session: SessionId(3),
        epoch: Epoch(u64::MAX),
        tab,
        title: "A title".to_owned(),
        agent: AgentName::from("demo"),
        workspace: WorkspaceRoot::from("/w"),
        status: Status::AwaitingApproval,
        agent_state: AgentState::Ready,
        connection: None,
        queued: 2,
        approvals: 1,
        ended: None,
        policy: Default::default(),
        created: Time(1_000),
        updated: Time(2_000),
    }
}

fn workspace() -> WorkspaceSummary {
    WorkspaceSummary {
        root: WorkspaceRoot::from("/w"),
        trust: Trust::Untrusted,
        agents: vec![AgentInfo {
            name: "small".into(),
            kind: "plain".to_owned(),
            process: ProcessPer::Shared,
            home: Default::default(),
        }],
        default_agent: AgentName::from("small"),
        offers: vec![AgentOffer {
            name: "gemini".into(),
            title: "Gemini CLI".to_owned(),
            command: "gemini --acp".to_owned(),
        }],
    }
}
