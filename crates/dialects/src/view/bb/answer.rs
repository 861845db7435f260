//! What the host tells into results and errors, each with its request's id. Never answers a request twice.

use serde::Serialize;
use serde_json::json;
use switchboard_types::desk::{FileAnswer, FileEntryKind};
use switchboard_types::{
    AnsweredBy, Command, FollowFrom, Reject, RejectCode, RequestNo, Resolution, SessionAnswer, SessionRequest, Time,
    Told, ToolCode, ToolFailure,
};

use super::Bb;
use super::asked::Method;
use super::known::session_shape;
use super::open::{From, Kind, Open, Selecting};
use super::read::VERSION;
use super::said::{
    ApprovedResult, ApprovedStatus, ArtifactResult, CommandResult, DeletedResult, DiffResult, EntryKind, EntryShape,
    ErrorCode, ErrorShape, FilesResult, InitResult, SentResult, SessionShape, SessionsResult, SnippetResult,
    StoppedResult,
};
use super::seat;

impl Bb {
    /// Takes what the host tells.
    pub(super) fn hear(&mut self, now: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        match told {
            Told::Answer { request, result } => self.answered(*request, result.as_deref(), message),
            Told::Answered { request, result } => self.decided(*request, result.as_ref(), message),
            Told::Events { tab, page, names, epoch, home } => {
                let told = seat::Told { tab, names, epoch: *epoch, home: *home };
                self.events(now, &told, page, message);
            }
            Told::Gap { tab, .. } | Told::Reset { tab } => self.gap(tab, message),
            Told::Overview { home, workspaces, sessions } => {
                self.known.overview(home.as_ref(), workspaces, sessions);
                self.state.is_stale = true;
                for (request, sessions) in std::mem::take(&mut self.waiting) {
                    self.init(request, sessions, message);
                }
            }
            Told::Session(summary) => self.session_changed(summary, message),
            Told::SessionGone { session } => self.session_gone(*session),
            Told::Workspace(workspace) => self.known.workspace(workspace),
            // The host speaks of no request, so there is nobody to answer.
            Told::Refused(_)
            // Only asked for in other dialects.
            | Told::Tabs { .. }
            | Told::History { .. }
            | Told::Pong { .. }
            | Told::Tools { .. }
            | Told::ToolsCalled { .. }
            | Told::CallCancelled { .. }
            | Told::Calls { .. }
            | Told::Lent { .. }
            | Told::LentCall { .. }
            | Told::ApprovalsWatched { .. }
            | Told::ApprovalOpen { .. }
            | Told::Rules { .. }
            | Told::ChoreNews { .. }
            | Told::ChoreDone { .. }
            | Told::Settings(_)
            | Told::Containment(_) => {}
        }
    }

    /// The good answer to a request. From the first one on, the view is told of changes.
    pub(super) fn result(&mut self, id: &str, method: Method, result: &impl Serialize, message: &mut dyn FnMut(&[u8])) {
        self.out(message).result(id, method, result);
        self.state.is_wanted = true;
    }

    /// A request that the host, or the link, refuses.
    pub(super) fn fail(&mut self, request: RequestNo, reject: &Reject, message: &mut dyn FnMut(&[u8])) {
        let Some(Open { id, kind }) = self.requests.close(request) else { return };
        match &kind {
            Kind::Select(selecting) => self.not_seated(selecting.session),
            Kind::Again { session } => self.again(*session, Err(reject)),
            _ => {}
        }
        let Some(id) = id else { return };
        let error = ErrorShape { code: code_of(reject.code), message: reject.message.clone(), details: None };
        self.out(message).error(&id, &error);
    }

    fn answered(
        &mut self,
        request: RequestNo,
        result: Result<&SessionAnswer, &Reject>,
        message: &mut dyn FnMut(&[u8]),
    ) {
        let answer = match result {
            Ok(answer) => answer,
            Err(reject) => return self.refused(request, reject, message),
        };
        let Some(Open { id, kind }) = self.requests.close(request) else { return };
        match (kind, answer) {
            (Kind::Init, SessionAnswer::Sessions { sessions, .. }) => {
                sessions.iter().for_each(|session| self.known.session(session));
                let sessions = sessions.iter().map(session_shape).collect();
                let request = self.requests.open(id, Kind::Init);
                if self.known.is_told {
                    self.init(request, sessions, message);
                } else {
                    self.waiting.push((request, sessions));
                }
            }
            (Kind::Create { choice }, SessionAnswer::Created { session }) => {
                let (session, ways) = (*session, std::collections::VecDeque::new());
                let selecting = Selecting { session, method: Method::CreateSession, choice, from: From::Wanted, ways };
                let request = self.requests.open(id, Kind::Select(selecting));
                let what = SessionRequest::Follow { session, from: FollowFrom::Start };
                self.asks.push_back(Command::Session { request, what });
            }
            (Kind::Select(selecting), SessionAnswer::Following { tab, epoch, .. }) => {
                self.seated(id, &selecting, (tab, *epoch), message);
            }
            (Kind::Again { session }, SessionAnswer::Following { tab, epoch, .. }) => {
                self.again(session, Ok((tab, *epoch)));
            }
            (Kind::Leave | Kind::Again { .. }, _) => {}
            (kind, answer) => {
                let Some(id) = id else { return };
                self.plain(&id, &kind, answer, message);
            }
        }
    }

    /// Answers that change nothing here.
    fn plain(&mut self, id: &str, kind: &Kind, answer: &SessionAnswer, message: &mut dyn FnMut(&[u8])) {
        match (kind, answer) {
            (Kind::List, SessionAnswer::Sessions { sessions, .. }) => {
                sessions.iter().for_each(|session| self.known.session(session));
                self.state.is_stale = true;
                let sessions = sessions.iter().map(session_shape).collect();
                self.result(id, Method::ListSessions, &SessionsResult { sessions }, message);
            }
            (Kind::Delete, SessionAnswer::Done {}) => {
                self.result(id, Method::DeleteSession, &DeletedResult { deleted: true }, message);
            }
            (Kind::Send { name }, SessionAnswer::Queued { position, .. }) => {
                let result = SentResult { turn_id: name.as_str().to_owned(), queued: *position > 0 };
                self.result(id, Method::SendMessage, &result, message);
            }
            (Kind::Stop, SessionAnswer::Stopped { stopped }) => {
                self.result(id, Method::Stop, &StoppedResult { stopped: *stopped }, message);
            }
            (Kind::Command, answer) => {
                let (status, detail) = match answer {
                    SessionAnswer::Ordered { status, detail } => (status.clone(), detail.clone()),
                    SessionAnswer::Stopped { stopped } => ("accepted".to_owned(), Some(json!({ "stopped": stopped }))),
                    _ => ("accepted".to_owned(), None),
                };
                self.result(id, Method::Command, &CommandResult { status, detail }, message);
            }
            (Kind::Files(method), SessionAnswer::Files(answer)) => self.files(id, *method, answer, message),
            (kind, _) => self.mismatch(id, kind, message),
        }
    }

    fn files(&mut self, id: &str, method: Method, answer: &FileAnswer, message: &mut dyn FnMut(&[u8])) {
        match (method, answer.clone()) {
            (Method::ListFiles, FileAnswer::Entries { entries, truncated }) => {
                let entry = |entry: switchboard_types::desk::FileEntry| EntryShape {
                    name: entry.name,
                    path: entry.path,
                    kind: match entry.kind {
                        FileEntryKind::File => EntryKind::File,
                        FileEntryKind::Directory => EntryKind::Directory,
                        FileEntryKind::Symlink => EntryKind::Symlink,
                        FileEntryKind::Other => EntryKind::Other,
                    },
                    size: entry.size,
                };
                let entries = entries.into_iter().map(entry).collect();
                self.result(id, method, &FilesResult { entries, truncated }, message);
            }
            (
                Method::ReadFileSnippet,
                FileAnswer::Snippet { path, content, truncated, total_bytes, total_lines, binary },
            ) => {
                let result = SnippetResult { path, content, truncated, total_bytes, total_lines, binary };
                self.result(id, method, &result, message);
            }
            (Method::OpenDiff, FileAnswer::Diff { diff, opened, .. }) => {
                self.result(id, method, &DiffResult { diff, opened }, message);
            }
            (Method::DownloadArtifact, FileAnswer::Artifact { name, mime, size, url }) => {
                self.result(id, method, &ArtifactResult { name, mime, size, url }, message);
            }
            (method, _) => self.mismatch(id, &Kind::Files(method), message),
        }
    }

    fn init(&mut self, request: RequestNo, sessions: Vec<SessionShape>, message: &mut dyn FnMut(&[u8])) {
        let Some(Open { id: Some(id), .. }) = self.requests.close(request) else { return };
        self.state.is_stale = true;
        let result = InitResult {
            protocol_version: VERSION,
            host_version: env!("CARGO_PKG_VERSION"),
            agents: self.known.agents(),
            workspace: self.known.workspace_shape(),
            sessions,
            active_session_id: self.seat.as_ref().map(|seat| seat.session.to_string()),
        };
        self.result(&id, Method::Init, &result, message);
    }

    /// The host refuses what was asked; a place that it cannot honour is no end yet.
    fn refused(&mut self, request: RequestNo, reject: &Reject, message: &mut dyn FnMut(&[u8])) {
        let can_try =
            matches!(self.requests.kind(request), Some(Kind::Select(selecting)) if selecting.from == From::Wanted);
        if reject.code == RejectCode::Conflict && can_try {
            if let Some(Open { id, kind: Kind::Select(selecting) }) = self.requests.close(request) {
                self.elsewhere(id, selecting);
            }
            return;
        }
        self.fail(request, reject, message);
    }

    /// The host has answered something else than was asked.
    fn mismatch(&mut self, id: &str, kind: &Kind, message: &mut dyn FnMut(&[u8])) {
        let asked = kind.method().map_or("it", Method::name);
        let message_text = format!("the host gave no answer to {asked}");
        let error = ErrorShape { code: ErrorCode::InternalError, message: message_text, details: None };
        self.out(message).error(id, &error);
    }

    fn decided(
        &mut self,
        request: RequestNo,
        result: Result<&(Resolution, AnsweredBy), &ToolFailure>,
        message: &mut dyn FnMut(&[u8]),
    ) {
        let Some(Open { id: Some(id), kind }) = self.requests.close(request) else { return };
        match (result, &kind) {
            (Ok((_, by)), Kind::Command) => {
                let status = match by {
                    AnsweredBy::You => "accepted",
                    AnsweredBy::Before => "already_resolved",
                };
                let result = CommandResult { status: status.to_owned(), detail: None };
                self.result(&id, Method::Command, &result, message);
            }
            (Ok((_, by)), _) => {
                let status = match by {
                    AnsweredBy::You => ApprovedStatus::Applied,
                    AnsweredBy::Before => ApprovedStatus::AlreadyResolved,
                };
                self.result(&id, Method::ApprovePermission, &ApprovedResult { status }, message);
            }
            (Err(failure), _) => {
                let error =
                    ErrorShape { code: tool_code(failure.code), message: failure.message.clone(), details: None };
                self.out(message).error(&id, &error);
            }
        }
    }
}

fn code_of(code: RejectCode) -> ErrorCode {
    match code {
        RejectCode::BadJson | RejectCode::BadMessage => ErrorCode::BadRequest,
        RejectCode::UnknownType => ErrorCode::MethodNotFound,
        RejectCode::UnknownTab | RejectCode::NotFound => ErrorCode::NotFound,
        RejectCode::Conflict => ErrorCode::Conflict,
        RejectCode::TooLarge => ErrorCode::TooLarge,
        RejectCode::WorkspaceUntrusted => ErrorCode::WorkspaceUntrusted,
        RejectCode::AgentUnavailable => ErrorCode::AgentUnavailable,
        RejectCode::Internal => ErrorCode::InternalError,
    }
}

/// Why an answer to a question was not taken.
fn tool_code(code: ToolCode) -> ErrorCode {
    match code {
        ToolCode::ToolNotFound => ErrorCode::NotFound,
        ToolCode::ValidationError | ToolCode::UnknownMessageType => ErrorCode::BadRequest,
        ToolCode::WorkspaceUntrusted => ErrorCode::WorkspaceUntrusted,
        ToolCode::Timeout | ToolCode::Cancelled | ToolCode::Denied => ErrorCode::Conflict,
        ToolCode::ExecutionError | ToolCode::RegistryNotReady => ErrorCode::InternalError,
    }
}
