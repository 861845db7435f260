//! What one link knows of sessions and workspaces, as the host told it, bounded. Never keeps a word of a conversation.

use std::collections::BTreeMap;

use switchboard_types::{
    AgentHome, AgentState, ConnectionStatus, Epoch, SessionId, SessionSummary, Status, Trust, WorkspaceRoot,
    WorkspaceSummary,
};

use super::said::{AgentShape, ConnectionShape, ConnectionWord, SessionShape, StateShape, WorkspaceShape};

/// Sessions in one answer and in `bb/state`.
const MAX_SHOWN: usize = 200;
/// Sessions that are remembered.
const MAX_KNOWN: usize = 1_000;

/// What is said where the log knows more.
const EXITED: &str = "the agent has ended; its last error event says why, and the next message starts it again";

/// Where a session's agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Here,
    Elsewhere,
    Unknown,
}

/// Everything that was told.
#[derive(Debug, Default)]
pub(super) struct Known {
    sessions: BTreeMap<SessionId, SessionSummary>,
    workspaces: BTreeMap<WorkspaceRoot, WorkspaceSummary>,
    home: Option<WorkspaceRoot>,
    /// Whether the host has told everything once.
    pub(super) is_told: bool,
}

impl Known {
    /// Everything as it is.
    pub(super) fn overview(
        &mut self,
        home: Option<&WorkspaceRoot>,
        workspaces: &[WorkspaceSummary],
        sessions: &[SessionSummary],
    ) {
        self.is_told = true;
        self.home = home.cloned();
        self.workspaces = workspaces.iter().map(|workspace| (workspace.root.clone(), workspace.clone())).collect();
        sessions.iter().for_each(|session| self.session(session));
    }

    pub(super) fn workspace(&mut self, workspace: &WorkspaceSummary) {
        self.workspaces.insert(workspace.root.clone(), workspace.clone());
    }

    /// A session as it is now. The bench is none.
    pub(super) fn session(&mut self, session: &SessionSummary) {
        if session.agent.is_bench() {
            return;
        }
        self.sessions.insert(session.session, session.clone());
        if self.sessions.len() > MAX_KNOWN {
            let oldest = self.sessions.values().min_by_key(|session| (session.updated, session.session));
            if let Some(oldest) = oldest.map(|session| session.session) {
                self.sessions.remove(&oldest);
            }
        }
    }

    pub(super) fn forget(&mut self, session: SessionId) {
        self.sessions.remove(&session);
    }

    pub(super) fn get(&self, session: SessionId) -> Option<&SessionSummary> {
        self.sessions.get(&session)
    }

    pub(super) fn epoch(&self, session: SessionId) -> Option<Epoch> {
        self.get(session).map(|session| session.epoch)
    }

    pub(super) fn home(&self, session: SessionId) -> Home {
        let Some(session) = self.get(session) else { return Home::Unknown };
        if session.connection.is_some() {
            return Home::Elsewhere;
        }
        let agents = self.workspaces.get(&session.workspace).map(|workspace| workspace.agents.as_slice());
        let agent = agents.unwrap_or_default().iter().find(|agent| agent.name == session.agent);
        match agent.map(|agent| agent.home) {
            Some(AgentHome::Here) => Home::Here,
            Some(AgentHome::Elsewhere) => Home::Elsewhere,
            // It is configured no longer.
            None => Home::Unknown,
        }
    }

    fn own_workspace(&self) -> Option<&WorkspaceSummary> {
        self.home.as_ref().and_then(|home| self.workspaces.get(home)).or_else(|| self.workspaces.values().next())
    }

    /// Where sessions are opened.
    pub(super) fn workspace_shape(&self) -> WorkspaceShape {
        let shape = |workspace: &WorkspaceSummary| WorkspaceShape {
            root: workspace.root.as_str().to_owned(),
            trusted: workspace.trust == Trust::Trusted,
        };
        self.own_workspace().map(shape).unwrap_or_default()
    }

    /// The agents that are configured there.
    pub(super) fn agents(&self) -> Vec<AgentShape> {
        let agents = self.own_workspace().map(|workspace| workspace.agents.as_slice()).unwrap_or_default();
        let shape = |agent: &switchboard_types::AgentInfo| AgentShape {
            name: agent.name.as_str().to_owned(),
            kind: agent.kind.clone(),
        };
        agents.iter().map(shape).collect()
    }

    /// `bb/state` as it is now.
    pub(super) fn state(&self, selected: Option<SessionId>) -> StateShape {
        let mut sessions: Vec<&SessionSummary> = self.sessions.values().collect();
        sessions.sort_unstable_by_key(|session| std::cmp::Reverse((session.updated, session.session)));
        let active = selected.and_then(|session| self.get(session));
        let running = |session: &SessionSummary| matches!(session.status, Status::Running | Status::AwaitingApproval);
        StateShape {
            sessions: sessions.into_iter().take(MAX_SHOWN).map(session_shape).collect(),
            active_session_id: selected.map(|session| session.to_string()),
            running: active.map(running),
            pending_permission_count: active.map(|session| session.approvals as u64),
        }
    }

    /// `bb/connection` about a session as it is now.
    pub(super) fn connection(&self, session: SessionId) -> ConnectionShape {
        let shape = ConnectionShape {
            status: ConnectionWord::Connecting,
            session_id: Some(session.to_string()),
            retry_count: None,
            last_error: None,
            gap_detected: Some(false),
        };
        let Some(summary) = self.get(session) else { return shape };
        if let Some(way) = &summary.connection {
            let status = match way.status {
                ConnectionStatus::Connecting => ConnectionWord::Connecting,
                ConnectionStatus::Connected => ConnectionWord::Connected,
                ConnectionStatus::Error => ConnectionWord::Error,
            };
            let (retry_count, last_error) = (Some(way.retries), way.last_error.clone());
            return ConnectionShape { status, retry_count, last_error, gap_detected: Some(way.gap), ..shape };
        }
        match summary.agent_state {
            AgentState::Starting | AgentState::Slow => shape,
            AgentState::None | AgentState::Ready | AgentState::Stalled | AgentState::Asleep => {
                ConnectionShape { status: ConnectionWord::Connected, ..shape }
            }
            AgentState::Exited => {
                ConnectionShape { status: ConnectionWord::Error, last_error: Some(EXITED.to_owned()), ..shape }
            }
        }
    }
}

/// A session in a list.
pub(super) fn session_shape(session: &SessionSummary) -> SessionShape {
    SessionShape {
        session_id: session.session.to_string(),
        title: Some(session.title.clone()).filter(|title| !title.is_empty()),
        status: Some(session.status),
        updated_at: Some(session.updated.0),
        agent: Some(session.agent.as_str().to_owned()),
    }
}
