//! History: listing sessions that have no tab, giving them one again, and deleting sessions. Never deletes what could
//! still get an event.

use switchboard_types::limits::{MAX_HISTORY_ROWS, MAX_TABS, MAX_WAITING_COMMANDS};
use switchboard_types::{
    AgentState, Body, Change, History, HistoryPlace, LinkId, Reject, RejectCode, RequestNo, Seen, SessionAnswer,
    SessionId, SessionRequest, SessionRow, SessionSummary, Status, TabId, Time, Told,
};

use super::Host;
use crate::input::{Output, Recovered, RequestId};
use crate::session::{Session, Writes};

/// A view that waits for a session out of history.
#[derive(Debug)]
pub(super) struct Reopening {
    pub(super) link: LinkId,
    /// The tab that it gets if it has none.
    pub(super) tab: TabId,
    pub(super) why: Why,
}

/// What a session out of history is wanted for.
#[derive(Debug)]
pub(super) enum Why {
    /// A view shows it, after the last event that it has seen.
    View(Seen),
    /// Something was asked about it.
    Desk(RequestNo, Box<SessionRequest>),
}

/// Who wants a session deleted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asker {
    /// A view.
    Link(LinkId),
    /// Somebody at the desk.
    Desk(LinkId, RequestNo),
    /// Somebody at the edges.
    Request(RequestId),
}

impl Host {
    pub(super) fn list_history(&mut self, link: LinkId, before: Option<HistoryPlace>, limit: usize) {
        let limit = limit.clamp(1, MAX_HISTORY_ROWS);
        self.outputs.push_back(Output::ReadHistory { link, request: None, before, limit });
    }

    pub(super) fn history_read(&mut self, link: LinkId, history: Result<History, String>) {
        match history {
            Ok(History { rows, next }) => {
                let here = |row: &SessionRow| self.sessions.get(&row.session).and_then(Session::summary);
                let sessions = rows.into_iter().map(|row| here(&row).unwrap_or_else(|| at_rest(row))).collect();
                self.tell(link, Told::History { sessions, next });
            }
            Err(reason) => {
                let message = format!("the list of sessions cannot be read: {reason}");
                self.refuse(link, Reject::new(RejectCode::Internal, message));
            }
        }
    }

    /// Shows a session: under its own tab if it has one, else out of history under this one.
    pub(super) fn open_session(&mut self, now: Time, link: LinkId, tab: TabId, id: SessionId, seen: Seen) {
        self.want_open(now, id, Reopening { link, tab, why: Why::View(seen) });
    }

    /// Somebody wants a session open.
    pub(super) fn want_open(&mut self, now: Time, id: SessionId, wanted: Reopening) {
        if self.deleting.contains_key(&id) {
            return self.cannot_open(wanted, RejectCode::UnknownTab, "this session is being deleted");
        }
        match self.sessions.get(&id) {
            Some(session) if !session.state.closed => {
                let tab = session.tab.clone();
                return self.is_open_for(now, id, &tab, wanted);
            }
            Some(session) if !session.is_writable() => {
                let message = "this session is being read from the disk; try again in a moment";
                return self.cannot_open(wanted, RejectCode::Internal, message);
            }
            // Until its end is on the disk it may turn out to have none.
            Some(session) if session.durable < session.head => {
                let message = "this session is just being closed; try again in a moment";
                return self.cannot_open(wanted, RejectCode::Internal, message);
            }
            Some(_) | None => {}
        }
        if self.tabs.contains_key(&wanted.tab) {
            let message = "a tab of this name shows another session; choose another name";
            return self.cannot_open(wanted, RejectCode::BadMessage, message);
        }
        if self.tabs.len() + self.reopening.len() >= MAX_TABS {
            let message = format!("{MAX_TABS} tabs are open; close some first");
            return self.cannot_open(wanted, RejectCode::TooLarge, &message);
        }
        if self.sessions.contains_key(&id) {
            return self.give_tab(now, id, vec![wanted]);
        }
        let all = self.reopening.entry(id).or_default();
        all.push(wanted);
        match all.len() {
            1 => self.outputs.push_back(Output::Reload(id)),
            2..=MAX_WAITING_COMMANDS => {}
            _ => {
                let message = "this session is being read from the disk; try again in a moment";
                if let Some(last) = all.pop() {
                    self.cannot_open(last, RejectCode::TooLarge, message);
                }
            }
        }
    }

    /// A session has a tab: whoever wanted that goes on.
    fn is_open_for(&mut self, now: Time, id: SessionId, tab: &TabId, wanted: Reopening) {
        match wanted.why {
            Why::View(seen) => self.attach(now, wanted.link, tab, id, seen),
            Why::Desk(request, what) => self.at_desk(now, (wanted.link, request), id, *what),
        }
    }

    fn cannot_open(&mut self, wanted: Reopening, code: RejectCode, message: &str) {
        match wanted.why {
            Why::View(_) => self.refuse(wanted.link, Reject::new(code, message).in_tab(wanted.tab)),
            Why::Desk(request, _) => {
                let code = match code {
                    RejectCode::UnknownTab => RejectCode::NotFound,
                    RejectCode::Internal | RejectCode::BadMessage => RejectCode::Conflict,
                    other => other,
                };
                self.answer_desk((wanted.link, request), Err(Reject::new(code, message)));
            }
        }
    }

    /// A session out of history was read, or could not be.
    pub(super) fn found_in_history(&mut self, now: Time, id: SessionId, recovered: Result<Box<Recovered>, String>) {
        let Some(waiting) = self.reopening.remove(&id) else { return };
        let problem = match recovered {
            Ok(_) if self.deleting.contains_key(&id) => "it is being deleted".to_owned(),
            Ok(mut recovered) => {
                let Some(tab) = waiting.first().map(|first| first.tab.clone()) else { return };
                let calls = std::mem::take(&mut recovered.calls);
                self.sessions.insert(id, Session::found(*recovered, tab));
                self.settle_executions(now, id);
                self.settle_calls(now, id, calls);
                self.know_unasked(id);
                return self.give_tab(now, id, waiting);
            }
            Err(reason) => reason,
        };
        for wanted in waiting {
            self.cannot_open(wanted, RejectCode::UnknownTab, &format!("session {id} cannot be opened: {problem}"));
        }
    }

    /// Gives a closed session in memory the first free tab of those who want it, and lets them all go on there.
    fn give_tab(&mut self, now: Time, id: SessionId, waiting: Vec<Reopening>) {
        let free = waiting.iter().map(|one| &one.tab).find(|tab| !self.tabs.contains_key(*tab)).cloned();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(tab) = free else {
            for wanted in waiting {
                let message = "a tab of this name shows another session by now; choose another name";
                self.cannot_open(wanted, RejectCode::BadMessage, message);
            }
            return self.forget_if_over(id);
        };
        session.tab = tab.clone();
        self.tabs.insert(tab.clone(), id);
        self.append(now, id, None, &Body::SessionReopened {});
        for wanted in waiting {
            self.is_open_for(now, id, &tab, wanted);
        }
        self.pump(now, id);
    }

    /// Stops what runs, closes the session, and deletes it once that is on the disk.
    pub(super) fn delete_session(&mut self, now: Time, asker: Asker, id: SessionId) {
        let known = self.deleting.entry(id).or_default();
        known.push(asker);
        if known.len() > 1 {
            return;
        }
        // Its id may soon be somebody's.
        if id >= self.next_session {
            return self.delete_settled(id, Some("there is no such session"));
        }
        // What is read for them now may be gone before it arrives.
        for wanted in self.reopening.remove(&id).unwrap_or_default() {
            self.cannot_open(wanted, RejectCode::UnknownTab, "this session is being deleted");
        }
        self.go_on_deleting(now, id);
    }

    /// Closes a session that is to be deleted, and deletes it if its end is on the disk already.
    pub(super) fn go_on_deleting(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else {
            self.changes.push(Change::DeleteSession(id));
            return;
        };
        match session.writes {
            Writes::Open if session.state.closed => self.delete_if_over(id),
            Writes::Open => self.close_tab(now, id),
            // Only what the disk says can be closed.
            Writes::Sealed => {
                session.writes = Writes::Reloading(Vec::new());
                self.outputs.push_back(Output::Reload(id));
            }
            Writes::Reloading(_) => {}
        }
    }

    /// Deletes a closed session whose end is on the disk.
    pub(super) fn delete_if_over(&mut self, id: SessionId) {
        let over = |session: &Session| {
            session.state.closed && session.durable == session.head && session.is_writable() && !session.is_at_work()
        };
        if self.deleting.contains_key(&id) && self.sessions.get(&id).is_some_and(over) {
            self.delete_now(id);
        }
    }

    fn delete_now(&mut self, id: SessionId) {
        self.refuse_seats(id, RejectCode::UnknownTab, "this session was deleted");
        self.drop_seats(id);
        if let Some(session) = self.sessions.remove(&id) {
            if self.tabs.get(&session.tab) == Some(&id) {
                self.tabs.remove(&session.tab);
            }
            // It is closed in any case, and gone only when the disk says so.
            if let Some(closed) = session.summary() {
                self.tell_watching(&Told::Session(closed));
            }
        }
        self.changes.push(Change::DeleteSession(id));
    }

    /// Whoever asked for a deletion is told how it went; everybody who watches is told that the session is gone.
    pub(super) fn delete_settled(&mut self, id: SessionId, failed: Option<&str>) {
        let Some(askers) = self.deleting.remove(&id) else { return };
        for asker in askers {
            match (asker, failed) {
                (Asker::Request(request), None) => self.outputs.push_back(Output::Deleted { request, result: Ok(()) }),
                (Asker::Request(request), Some(reason)) => {
                    self.outputs.push_back(Output::Deleted { request, result: Err(reason.to_owned()) });
                }
                (Asker::Desk(link, request), None) => self.answer_desk((link, request), Ok(SessionAnswer::Done {})),
                (Asker::Desk(link, request), Some(reason)) => {
                    let message = format!("session {id} was not deleted: {reason}");
                    self.answer_desk((link, request), Err(Reject::new(RejectCode::Internal, message)));
                }
                (Asker::Link(_), None) => {}
                (Asker::Link(link), Some(reason)) => {
                    let message = format!("session {id} was not deleted: {reason}");
                    self.refuse(link, Reject::new(RejectCode::Internal, message));
                }
            }
        }
        if failed.is_none() {
            self.tell_watching(&Told::SessionGone { session: id });
        }
    }
}

/// A session that is in the store only.
pub(super) fn at_rest(row: SessionRow) -> SessionSummary {
    SessionSummary {
        session: row.session,
        epoch: row.epoch,
        tab: row.tab,
        title: row.title,
        agent: row.agent,
        workspace: row.workspace,
        status: Status::Idle,
        agent_state: AgentState::None,
        connection: None,
        queued: 0,
        approvals: 0,
        ended: row.keeps.ended,
        policy: row.keeps.policy,
        created: row.created,
        updated: row.updated,
    }
}
