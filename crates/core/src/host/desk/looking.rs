//! Lists, looks, files and deletions by a session's id, closed sessions included. Never gives a tab to a session that
//! somebody only looks at.

use switchboard_types::desk::artifact;
use switchboard_types::limits::MAX_HISTORY_ROWS;
use switchboard_types::{
    FileRequest, History, HistoryPlace, Reject, RejectCode, SessionAnswer, SessionId, SessionRequest, SessionRow, Time,
    Trust, Wish, WorkspaceRoot,
};

use super::super::Host;
use super::super::history::{Asker, at_rest};
use super::{DeskAsker, no_such};
use crate::input::Output;
use crate::session::Session;

impl Host {
    pub(super) fn list_asked(&mut self, (link, request): DeskAsker, before: Option<HistoryPlace>, limit: usize) {
        let limit = limit.clamp(1, MAX_HISTORY_ROWS);
        self.outputs.push_back(Output::ReadHistory { link, request: Some(request), before, limit });
    }

    /// Sessions were listed for the desk.
    pub(in super::super) fn list_read(&mut self, asker: DeskAsker, history: Result<History, String>) {
        let result = match history {
            Ok(History { rows, next }) => {
                let shown = rows.into_iter().filter(|row| !row.agent.is_bench());
                let here = |row: &SessionRow| self.sessions.get(&row.session).and_then(Session::summary);
                let sessions = shown.map(|row| here(&row).unwrap_or_else(|| at_rest(row))).collect();
                Ok(SessionAnswer::Sessions { sessions, next })
            }
            Err(reason) => {
                let message = format!("the list of sessions cannot be read: {reason}");
                Err(Reject::new(RejectCode::Internal, message))
            }
        };
        self.answer_desk(asker, result);
    }

    /// What needs to know a session, open or not.
    pub(super) fn look_first(&mut self, now: Time, asker: DeskAsker, what: SessionRequest) {
        let Some(id) = what.session() else { return };
        if id >= self.next_session || self.is_bench(id) {
            return self.answer_desk(asker, Err(no_such(id)));
        }
        if self.sessions.contains_key(&id) {
            return self.look_here(now, asker, id, what);
        }
        let (link, request) = asker;
        self.desk.lookups.insert(asker, what);
        self.outputs.push_back(Output::LookUp { link, request, session: id });
    }

    /// The session is in memory.
    fn look_here(&mut self, now: Time, asker: DeskAsker, id: SessionId, what: SessionRequest) {
        let Some(session) = self.sessions.get(&id) else { return };
        match what {
            SessionRequest::Look { .. } => {
                let summary = session.summary().map(|summary| SessionAnswer::Session(Box::new(summary)));
                self.answer_desk(asker, summary.ok_or_else(|| no_such(id)));
            }
            SessionRequest::Delete { .. } => {
                let (link, request) = asker;
                self.delete_session(now, Asker::Desk(link, request), id);
            }
            SessionRequest::Files { what, .. } if session.is_elsewhere() && !is_of_log(&what) => {
                if let Err(reject) = self.wish(id, Some(asker), Wish::Files(what)) {
                    self.answer_desk(asker, Err(reject));
                }
            }
            SessionRequest::Files { what, .. } => {
                let root = session.workspace.clone();
                self.look_at_files(asker, (id, root), what);
            }
            SessionRequest::Stop { .. } if session.state.closed || !session.is_writable() => {
                self.answer_desk(asker, Ok(SessionAnswer::Stopped { stopped: false }));
            }
            other => self.at_desk(now, asker, id, other),
        }
    }

    /// The store has looked for a session that is not in memory.
    pub(in super::super) fn looked_up(
        &mut self,
        now: Time,
        asker: DeskAsker,
        found: Result<Option<SessionRow>, String>,
    ) {
        let Some(what) = self.desk.lookups.remove(&asker) else { return };
        let Some(id) = what.session() else { return };
        // It may have been opened meanwhile.
        if self.sessions.contains_key(&id) {
            return self.look_here(now, asker, id, what);
        }
        let row = match found {
            Ok(Some(row)) if !row.agent.is_bench() => row,
            Ok(_) => return self.answer_desk(asker, Err(no_such(id))),
            Err(reason) => {
                let message = format!("session {id} cannot be read: {reason}");
                return self.answer_desk(asker, Err(Reject::new(RejectCode::Internal, message)));
            }
        };
        match what {
            SessionRequest::Look { .. } => {
                self.answer_desk(asker, Ok(SessionAnswer::Session(Box::new(at_rest(row)))));
            }
            SessionRequest::Stop { .. } => self.answer_desk(asker, Ok(SessionAnswer::Stopped { stopped: false })),
            SessionRequest::Delete { .. } => {
                let (link, request) = asker;
                self.delete_session(now, Asker::Desk(link, request), id);
            }
            SessionRequest::Files { what, .. } if row.keeps.upstream.is_some() && !is_of_log(&what) => {
                let message = "the session is closed, and its files are elsewhere; follow it first";
                self.answer_desk(asker, Err(Reject::new(RejectCode::AgentUnavailable, message)));
            }
            SessionRequest::Files { what, .. } => self.look_at_files(asker, (id, row.workspace), what),
            SessionRequest::Create { .. }
            | SessionRequest::List { .. }
            | SessionRequest::Follow { .. }
            | SessionRequest::Leave { .. }
            | SessionRequest::Send { .. }
            | SessionRequest::Set { .. }
            | SessionRequest::Rename { .. }
            | SessionRequest::SetPolicy { .. }
            | SessionRequest::Order { .. } => self.answer_desk(asker, Err(no_such(id))),
        }
    }

    fn look_at_files(
        &mut self,
        (link, request): DeskAsker,
        (session, root): (SessionId, WorkspaceRoot),
        what: FileRequest,
    ) {
        let trust = self.workspaces.get(&root).map_or(Trust::Untrusted, |known| known.trust);
        if let FileRequest::Diff { .. } = what {
            self.desk.diffs.insert((link, request), root.clone());
        }
        self.outputs.push_back(Output::Files { link, request, session, root, trust, what });
    }
}

/// Whether what is asked stands in the log here, wherever the session's files are.
fn is_of_log(what: &FileRequest) -> bool {
    match what {
        FileRequest::Diff { before, after, .. } => before.is_none() && after.is_none(),
        FileRequest::Artifact { path } => artifact::is_of_log(path),
        FileRequest::List { .. } | FileRequest::Read { .. } => false,
    }
}
