//! What one link knows of all sessions: enough to say what goes on in them, and no word of a conversation. Bounded.

use std::collections::BTreeMap;

use switchboard_types::{AgentName, Outcome, SessionId, SessionSummary, Status, WorkspaceRoot, WorkspaceSummary};

use super::shape::{SessionShape, SessionStatus};

/// Sessions that are remembered.
const MAX_KNOWN: usize = 2_000;
/// The title of a session in which nothing was said.
const NEW: &str = "New Chat";
/// What the host calls the tabs of sessions that no view has named.
const HOSTS_TAB: &str = "s-";

/// What was told.
#[derive(Debug, Default)]
pub(super) struct Known {
    sessions: BTreeMap<SessionId, (SessionStatus, String)>,
    defaults: BTreeMap<WorkspaceRoot, AgentName>,
    home: Option<WorkspaceRoot>,
    /// Whether the host has told everything once.
    pub(super) is_told: bool,
}

/// What is new of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// What goes on in it, if that has changed.
    pub(super) status: Option<SessionStatus>,
    /// Whether a list shows something else.
    pub(super) in_list: bool,
}

impl Known {
    pub(super) fn overview(&mut self, home: Option<&WorkspaceRoot>, workspaces: &[WorkspaceSummary]) {
        self.is_told = true;
        self.home = home.cloned();
        workspaces.iter().for_each(|workspace| self.workspace(workspace));
    }

    pub(super) fn workspace(&mut self, workspace: &WorkspaceSummary) {
        self.defaults.insert(workspace.root.clone(), workspace.default_agent.clone());
    }

    /// Takes note of a session.
    pub(super) fn note(&mut self, session: &SessionSummary) {
        self.news(session);
    }

    /// What is new of a session. The bench is none.
    pub(super) fn news(&mut self, session: &SessionSummary) -> News {
        if session.agent.is_bench() {
            return News::default();
        }
        let (status, title) = (status(session), session.title.clone());
        let before = self.sessions.insert(session.session, (status, title.clone()));
        if self.sessions.len() > MAX_KNOWN {
            self.sessions.pop_first();
        }
        match before {
            None => News { status: (status == SessionStatus::Generating).then_some(status), in_list: true },
            Some((was, named)) => News { status: (was != status).then_some(status), in_list: named != title },
        }
    }

    pub(super) fn forget(&mut self, session: SessionId) {
        self.sessions.remove(&session);
    }

    /// Whether a session can be taken for a new one: nothing was ever said in it, and no other sort of view has named it.
    pub(super) fn is_fresh(&self, session: &SessionSummary) -> bool {
        let unnamed = session.tab.as_ref().is_none_or(|tab| tab.as_str().starts_with(HOSTS_TAB));
        let empty = session.title.is_empty() && session.ended.is_none() && session.queued == 0;
        let home = self.home.as_ref() == Some(&session.workspace);
        let agent = self.defaults.get(&session.workspace) == Some(&session.agent);
        unnamed && empty && home && agent && session.status == Status::Idle
    }
}

fn status(session: &SessionSummary) -> SessionStatus {
    match (session.status, session.ended) {
        (Status::Queued | Status::Running | Status::AwaitingApproval, _) => SessionStatus::Generating,
        (Status::Idle, None) => SessionStatus::Idle,
        (Status::Idle, Some(Outcome::Completed | Outcome::Cancelled)) => SessionStatus::Completed,
        (Status::Idle, Some(Outcome::Failed)) => SessionStatus::Error,
    }
}

/// A title for people.
pub(super) fn title_of(title: &str) -> String {
    if title.is_empty() { NEW.to_owned() } else { title.to_owned() }
}

/// A session in a list.
pub(super) fn session_shape(session: &SessionSummary) -> SessionShape {
    SessionShape {
        id: session.session.to_string(),
        title: title_of(&session.title),
        timestamp: session.updated.0,
        status: status(session),
    }
}
