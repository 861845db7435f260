//! Sessions that an agent elsewhere has and we have not: they are put into history, where a person can open them. Never
//! opens one by itself, and never takes one twice.

use switchboard_types::limits::{MAX_AGENT_TITLE_CHARS, MAX_HISTORY_ROWS};
use switchboard_types::{
    AgentName, AgentSession, AgentSessionInfo, Body, Epoch, LifeId, SessionId, TabId, Time, TitleBy, Upstream,
    WorkspaceRoot,
};

use super::Host;
use crate::input::Output;
use crate::session::Session;

/// Sessions that one run of the host takes over from agents elsewhere.
const MAX_IMPORTED: usize = 10_000;

impl Host {
    /// An agent elsewhere lists its sessions; the store knows which of them we have.
    pub(super) fn sessions_elsewhere(&mut self, life: LifeId, mut sessions: Vec<AgentSessionInfo>) {
        let Some(key) = self.lives.key(life) else { return };
        let (agent, workspace) = (key.agent.clone(), key.workspace.clone());
        sessions.retain(|info| !self.is_known(&agent, &info.agent_session));
        sessions.truncate(MAX_HISTORY_ROWS);
        if !sessions.is_empty() {
            self.outputs.push_back(Output::FindUnknown { agent, workspace, sessions });
        }
    }

    /// Whether one of the agent's sessions is one of ours, as far as memory tells.
    fn is_known(&self, agent: &AgentName, agent_session: &AgentSession) -> bool {
        let has = |session: &Session| session.agent == *agent && session.agent_session.as_ref() == Some(agent_session);
        self.imported.contains(&(agent.clone(), agent_session.clone())) || self.sessions.values().any(has)
    }

    /// These are not in the store.
    pub(super) fn unknown_found(
        &mut self,
        now: Time,
        (agent, workspace): (AgentName, WorkspaceRoot),
        sessions: Vec<AgentSessionInfo>,
    ) {
        if self.stopping {
            return;
        }
        for info in sessions {
            if !self.is_known(&agent, &info.agent_session) && self.imported.len() < MAX_IMPORTED {
                self.imported.insert((agent.clone(), info.agent_session.clone()));
                self.import(now, (&agent, &workspace), info);
            }
        }
    }

    fn import(&mut self, now: Time, (agent, workspace): (&AgentName, &WorkspaceRoot), info: AgentSessionInfo) {
        let id = self.next_session;
        self.next_session = SessionId(id.0 + 1);
        let epoch = Epoch(self.next_random());
        let used = info.updated.min(now);
        let mut session = Session::new(id, epoch, TabId::new(""), agent.clone(), workspace.clone(), used);
        session.keeps.upstream = Some(Upstream::default());
        session.set_agent_session(Some(info.agent_session));
        self.sessions.insert(id, session);
        let opened = Body::SessionOpened { agent: agent.clone(), workspace: workspace.clone() };
        self.append(now, id, None, &opened);
        let title: String = info.title.chars().take(MAX_AGENT_TITLE_CHARS).collect();
        if !title.is_empty() {
            self.append(now, id, None, &Body::TitleChanged { title, by: TitleBy::Host });
        }
        self.append(now, id, None, &Body::SessionClosed {});
    }
}
