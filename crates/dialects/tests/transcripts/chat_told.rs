//! What the host tells in the transcripts of `chat`, from their own short form.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use switchboard_types::desk::FileAnswer;
use switchboard_types::{
    AgentHome, AgentInfo, AgentName, AgentState, AnsweredBy, Body, CallId, ChoreAnswer, Epoch, Found, FoundMessage,
    FoundSession, HistoryPlace, Kept, LibraryAnswer, Outcome, PageBuilder, ProcessPer, Rebuilt, Reject, RejectCode,
    RequestNo, Resolution, Role, Seq, SessionAnswer, SessionId, SessionSummary, Settings, SettingsAnswer,
    SettingsState, SnippetPiece, Status, TabId, Time, Told, ToolCode, ToolFailure, ToolOutcome, Trust, TurnId,
    TurnName, TurnNames, WorkspaceRoot, WorkspaceSummary,
};

const EPOCH: Epoch = Epoch(0xab);

/// Where a message stands, whose it is, and its snippet in pieces that are a match or not.
type Hit = (u64, Role, Vec<(String, bool)>);

#[derive(Deserialize)]
#[serde(tag = "told", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Saying {
    Tick,
    Overview { sessions: Vec<Summary> },
    Session { session: Summary },
    SessionGone { session: SessionId },
    Settings { settings: Settings, has_token: bool, first_run: bool },
    Events { tab: TabId, first: Seq, events: Vec<Written> },
    Gap { tab: TabId, from: Seq, to: Seq },
    Reset { tab: TabId },
    Refused { code: String, message: String, tab: Option<TabId> },
    Answer { request: RequestNo, answer: Option<Answer>, error: Option<Refused> },
    Answered { request: RequestNo, resolution: Option<Resolution>, yours: Option<bool>, error: Option<String> },
    Called { request: RequestNo, data: Option<Value>, missing: Option<bool>, error: Option<String> },
    Done { request: RequestNo, answer: Option<Chored>, error: Option<Refused> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Answer {
    Created(SessionId),
    Sessions {
        sessions: Vec<Summary>,
        next: Option<(u64, u64)>,
    },
    /// So many sessions, the first of them this one.
    Many {
        first: u64,
        count: u64,
        next: Option<(u64, u64)>,
    },
    Following {
        session: SessionId,
        tab: TabId,
        head: Seq,
    },
    Queued(u32),
    Stopped(bool),
    Diff {
        opened: bool,
    },
    Done,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Chored {
    Found { session: SessionId, title: String, messages: Vec<Hit> },
    Kept { sessions: u64, messages: u64, before: u64, after: u64 },
    Rebuilt { sessions: u64, messages: u64, backup: String },
    Saved,
    Token(bool),
    Tested { success: bool, message: String, models: Vec<String> },
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
    ended: Option<Outcome>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    turn: Option<TurnId>,
    body: Body,
}

/// What is told; none is only time that passes.
pub(crate) fn told(from: &Value) -> Option<Told> {
    Some(match Saying::deserialize(from).unwrap() {
        Saying::Tick => return None,
        Saying::Overview { sessions } => Told::Overview {
            home: Some(WorkspaceRoot::from("/w")),
            workspaces: vec![workspace()],
            sessions: sessions.into_iter().map(summary).collect(),
        },
        Saying::Session { session } => Told::Session(summary(session)),
        Saying::SessionGone { session } => Told::SessionGone { session },
        Saying::Settings { settings, has_token, first_run } => {
            Told::Settings(Arc::new(SettingsState { user: settings, has_token, first_run, ..Default::default() }))
        }
        Saying::Events { tab, first, events } => {
            let names = TurnNames::new(vec![(TurnId(1), TurnName::from("m1"))]);
            Told::Events { tab, page: page(first, events), names, epoch: EPOCH, home: AgentHome::Here }
        }
        Saying::Gap { tab, from, to } => Told::Gap { tab, from, to },
        Saying::Reset { tab } => Told::Reset { tab },
        Saying::Refused { code, message, tab } => Told::Refused(Reject { tab, ..reject(Refused { code, message }) }),
        Saying::Answer { request, answer, error } => {
            let result = answer.map(|answer| Box::new(answered(answer)));
            Told::Answer { request, result: result.ok_or_else(|| reject(error.unwrap())) }
        }
        Saying::Answered { request, resolution, yours, error } => {
            let by = if yours == Some(true) { AnsweredBy::You } else { AnsweredBy::Before };
            let failure = |message| ToolFailure::new(ToolCode::ValidationError, message);
            Told::Answered { request, result: resolution.map(|one| (one, by)).ok_or_else(|| failure(error.unwrap())) }
        }
        Saying::Called { request, data, missing, error } => {
            let code = if missing == Some(true) { ToolCode::ToolNotFound } else { ToolCode::ExecutionError };
            let result = data.ok_or_else(|| ToolFailure::new(code, error.unwrap_or_default()));
            let outcome = ToolOutcome { call: CallId::from("c"), result, duration_ms: 1, metadata: None };
            Told::ToolsCalled { request, outcomes: Ok(vec![outcome]) }
        }
        Saying::Done { request, answer, error } => {
            let result = answer.map(|answer| Box::new(chored(answer)));
            Told::ChoreDone { request, result: result.ok_or_else(|| reject(error.unwrap())) }
        }
    })
}

fn page(first: Seq, events: Vec<Written>) -> Arc<switchboard_types::Page> {
    let mut page = PageBuilder::new(first);
    for (at, event) in events.into_iter().enumerate() {
        page.push(Time(1_000 + at as u64), event.turn, &event.body);
    }
    Arc::new(page.take().unwrap())
}

fn place(next: Option<(u64, u64)>) -> Option<HistoryPlace> {
    next.map(|(updated, session)| HistoryPlace { updated: Time(updated), session: SessionId(session) })
}

fn answered(answer: Answer) -> SessionAnswer {
    match answer {
        Answer::Created(session) => SessionAnswer::Created { session },
        Answer::Sessions { sessions, next } => {
            SessionAnswer::Sessions { sessions: sessions.into_iter().map(summary).collect(), next: place(next) }
        }
        Answer::Many { first, count, next } => {
            let one = |at: u64| Summary {
                session: SessionId(first + at),
                tab: None,
                title: Some(format!("t{}", first + at)),
                agent: None,
                updated: 9_000 - at,
                status: None,
                ended: Some(Outcome::Completed),
            };
            SessionAnswer::Sessions { sessions: (0..count).map(one).map(summary).collect(), next: place(next) }
        }
        Answer::Following { session, tab, head } => SessionAnswer::Following { session, tab, epoch: EPOCH, head },
        Answer::Queued(position) => SessionAnswer::Queued { turn: TurnId(1), position },
        Answer::Stopped(stopped) => SessionAnswer::Stopped { stopped },
        Answer::Diff { opened } => SessionAnswer::Files(Box::new(FileAnswer::Diff {
            path: "a.rs".to_owned(),
            change: None,
            diff: "+a".to_owned(),
            opened,
        })),
        Answer::Done => SessionAnswer::Done {},
    }
}

fn chored(answer: Chored) -> ChoreAnswer {
    match answer {
        Chored::Found { session, title, messages } => {
            let piece = |(text, hit): (String, bool)| SnippetPiece { text, hit };
            let message = |(seq, role, snippet): (u64, Role, Vec<(String, bool)>)| FoundMessage {
                epoch: EPOCH,
                seq: Seq(seq),
                turn: Some(TurnId(1)),
                role,
                at: Time(5),
                snippet: snippet.into_iter().map(piece).collect(),
            };
            let session = FoundSession {
                session,
                title,
                agent: AgentName::from("demo"),
                workspace: WorkspaceRoot::from("/w"),
                updated: Time(2_000),
                messages: messages.into_iter().map(message).collect(),
            };
            ChoreAnswer::Library(LibraryAnswer::Found(Found { sessions: vec![session], more: false, behind: 0 }))
        }
        Chored::Kept { sessions, messages, before, after } => ChoreAnswer::Library(LibraryAnswer::Kept(Kept {
            sessions,
            messages,
            bytes_before: before,
            bytes_after: after,
        })),
        Chored::Rebuilt { sessions, messages, backup } => {
            ChoreAnswer::Library(LibraryAnswer::Rebuilt(Rebuilt { sessions, messages, backup }))
        }
        Chored::Saved => ChoreAnswer::Settings(SettingsAnswer::Saved {}),
        Chored::Token(has_token) => ChoreAnswer::Settings(SettingsAnswer::Token { has_token }),
        Chored::Tested { success, message, models } => {
            ChoreAnswer::Settings(SettingsAnswer::Tested { success, message, models })
        }
    }
}

fn reject(refused: Refused) -> Reject {
    let code = match refused.code.as_str() {
        "not_found" => RejectCode::NotFound,
        "unknown_tab" => RejectCode::UnknownTab,
        "conflict" => RejectCode::Conflict,
        "too_large" => RejectCode::TooLarge,
        "workspace_untrusted" => RejectCode::WorkspaceUntrusted,
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
        agent_state: AgentState::Ready,
        connection: None,
        queued: 0,
        approvals: 0,
        ended: said.ended,
        policy: Default::default(),
        created: Time(1),
        updated: Time(said.updated),
    }
}

fn workspace() -> WorkspaceSummary {
    let (name, home) = (AgentName::from("demo"), AgentHome::Here);
    WorkspaceSummary {
        root: WorkspaceRoot::from("/w"),
        trust: Trust::Untrusted,
        agents: vec![AgentInfo { name: name.clone(), kind: "plain".to_owned(), process: ProcessPer::Shared, home }],
        default_agent: name,
        offers: Vec::new(),
    }
}
