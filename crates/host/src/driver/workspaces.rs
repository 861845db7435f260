//! Workspaces, their trust and their configuration. A workspace's own file is not even read before a person trusts it.

use std::collections::HashMap;
use std::path::Path;

use switchboard_core::{Input, RequestId, Trust, Workspace};
use switchboard_types::limits::MAX_WORKSPACES;
use switchboard_types::{AgentName, Command, LinkId, Reject, RejectCode, Told, WorkspaceRoot, WorkspaceRow};
use tokio::sync::oneshot;

use super::Driver;
use crate::agents::AgentSpec;
use crate::config::Config;

/// All workspaces that this host has met.
pub(super) struct Workspaces {
    user: Config,
    met: HashMap<WorkspaceRoot, Met>,
}

#[derive(Clone)]
struct Met {
    trust: Trust,
    config: Config,
}

impl Met {
    fn workspace(&self, root: &WorkspaceRoot) -> Workspace {
        Workspace {
            root: root.clone(),
            trust: self.trust,
            agents: self.config.agents().map(|spec| spec.info()).collect(),
            default_agent: self.config.default_agent(),
            offers: Vec::new(),
        }
    }
}

/// Trust that is on its way to the disk.
pub(super) struct Trusting {
    root: WorkspaceRoot,
    /// What holds once the disk has it.
    after: Met,
    asker: Asker,
}

/// Who wants a workspace's trust changed.
pub(super) enum Asker {
    /// Somebody who waits for the answer.
    Edge(oneshot::Sender<Result<(), String>>),
    /// A view, which sees the change as all views do.
    Link(LinkId),
}

impl Workspaces {
    pub(super) fn new(user: Config, rows: Vec<WorkspaceRow>) -> Self {
        let mut workspaces = Self { user, met: HashMap::new() };
        for row in rows {
            let trust = if row.trusted.is_some() { Trust::Trusted } else { Trust::Untrusted };
            let config = workspaces.config(&row.root, trust).unwrap_or_else(|message| {
                tracing::error!("{message}; only the user's own configuration counts in {}", row.root);
                workspaces.user.clone()
            });
            workspaces.met.insert(row.root, Met { trust, config });
        }
        workspaces
    }

    /// The workspace as the host should know it; one that was never met is untrusted.
    pub(super) fn know(&mut self, root: &WorkspaceRoot) -> Workspace {
        let user = &self.user;
        let met = self.met.entry(root.clone()).or_insert_with(|| Met { trust: Trust::Untrusted, config: user.clone() });
        met.workspace(root)
    }

    fn config(&self, root: &WorkspaceRoot, trust: Trust) -> Result<Config, String> {
        match trust {
            Trust::Untrusted => Ok(self.user.clone()),
            Trust::Trusted => {
                self.user.in_trusted_workspace(Path::new(root.as_str())).map_err(|error| error.to_string())
            }
        }
    }

    /// What an agent is in a workspace; the error is for a person.
    pub(super) fn agent(&self, root: &WorkspaceRoot, agent: &AgentName) -> Result<AgentSpec, String> {
        let config = self.met.get(root).map_or(&self.user, |met| &met.config);
        config.agent(agent).map_err(|error| error.to_string())
    }
}

impl Driver {
    /// A new tab may name a folder that the host has not met.
    pub(super) fn know_workspace_of(&mut self, command: &Command) {
        if let Command::OpenTab { workspace: Some(root), .. } = command
            && (self.workspaces.met.len() < MAX_WORKSPACES || self.workspaces.met.contains_key(root))
        {
            let workspace = self.workspaces.know(root);
            self.host.handle(self.clock.now(), Input::Workspace(workspace));
        }
    }

    pub(super) fn trust(&mut self, root: &WorkspaceRoot, trust: Trust, asker: Asker) {
        let config = match self.workspaces.config(root, trust) {
            Ok(config) => config,
            Err(message) => return self.answer_trust(asker, Err(message)),
        };
        let after = Met { trust, config };
        let workspace = after.workspace(root);
        // Distrust holds at once; trust holds when it is on the disk.
        if trust == Trust::Untrusted {
            self.workspaces.met.insert(root.clone(), after.clone());
        }
        let request = self.next_request();
        self.trusting.insert(request, Trusting { root: root.clone(), after, asker });
        self.host.handle(self.clock.now(), Input::Trust { workspace, request });
    }

    pub(super) fn trust_settled(&mut self, request: RequestId, result: Result<(), String>) {
        let Some(Trusting { root, after, asker }) = self.trusting.remove(&request) else { return };
        let overtaken = self.trusting.values().any(|later| later.root == root);
        if result.is_ok() && !overtaken {
            self.workspaces.met.insert(root, after);
        }
        self.answer_trust(asker, result);
    }

    fn answer_trust(&mut self, asker: Asker, result: Result<(), String>) {
        match (asker, result) {
            (Asker::Edge(answer), result) => {
                // Whoever asked may be gone; what was settled stands.
                let _ = answer.send(result);
            }
            (Asker::Link(_), Ok(())) => {}
            (Asker::Link(link), Err(message)) => {
                self.tell(link, Told::Refused(Reject::new(RejectCode::Internal, message)));
            }
        }
    }
}
