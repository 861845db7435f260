//! The bench: where a person calls tools in a workspace without any agent. One session a workspace, made on first use. No
//! process ever works for it.

use switchboard_types::{
    AgentName, Body, Epoch, SessionId, TabId, Time, TitleBy, ToolCode, ToolFailure, WorkspaceRoot,
};

use super::Host;
use crate::session::Session;

const TITLE: &str = "Tool bench";

impl Host {
    /// The bench of a workspace; the host's own if none is named.
    pub(super) fn bench(&mut self, now: Time, workspace: Option<WorkspaceRoot>) -> Result<SessionId, ToolFailure> {
        let root = workspace.or_else(|| self.home.clone());
        let Some(root) = root.filter(|root| self.workspaces.contains_key(root)) else {
            return Err(ToolFailure::new(ToolCode::ValidationError, "this host does not know the workspace"));
        };
        Ok(self.bench_of(&root).unwrap_or_else(|| self.make_bench(now, root)))
    }

    /// The bench of a workspace, if there is one.
    pub(super) fn bench_of(&self, root: &WorkspaceRoot) -> Option<SessionId> {
        let is_bench = |session: &&Session| {
            session.agent.is_bench()
                && session.workspace == *root
                && !session.state.closed
                && !self.deleting.contains_key(&session.id)
        };
        self.sessions.values().find(is_bench).map(|session| session.id)
    }

    fn make_bench(&mut self, now: Time, root: WorkspaceRoot) -> SessionId {
        let id = self.next_session;
        self.next_session = SessionId(id.0 + 1);
        let epoch = Epoch(self.next_random());
        // A name that no bench had before: a view that knew a deleted one would take this for it.
        let tab = TabId::new(format!("bench:{:016x}", epoch.0));
        let agent = AgentName::from(AgentName::BENCH);
        let session = Session::new(id, epoch, tab.clone(), agent.clone(), root.clone(), now);
        self.sessions.insert(id, session);
        self.tabs.insert(tab, id);
        self.append(now, id, None, &Body::SessionOpened { agent, workspace: root.clone() });
        self.append(now, id, None, &Body::TitleChanged { title: TITLE.to_owned(), by: TitleBy::Host });
        id
    }
}
