//! Workspaces, their trust and their configuration. A workspace's own file is not even read before a person trusts it.

use std::collections::HashMap;
use std::path::Path;

use switchboard_core::{Input, RequestId, Trust, Workspace};
use switchboard_types::limits::MAX_WORKSPACES;
use switchboard_types::{
    AgentName, Command, LinkId, Reject, RejectCode, SessionRequest, Settings, SettingsState, Told, WorkspaceRoot,
    WorkspaceRow,
};
use tokio::sync::oneshot;

use super::Driver;
use crate::agents::known::Found;
use crate::agents::{AgentKind, AgentSpec};
use crate::config::watch::{Seen, UserConfig};
use crate::config::{Config, Holding};
use crate::secrets::Tokens;
use crate::settings;

/// All workspaces that this host has met.
pub(super) struct Workspaces {
    source: UserConfig,
    user: Config,
    /// What the host was started with; what is about the host itself holds until its end.
    at_start: Config,
    met: HashMap<WorkspaceRoot, Met>,
    /// Well-known agents that are on this machine.
    installed: Vec<Found>,
}

#[derive(Clone)]
struct Met {
    trust: Trust,
    config: Config,
}

/// A workspace whose configuration is another one now.
pub(super) struct Reconfigured {
    /// The workspace as the host should know it.
    pub(super) workspace: Workspace,
    /// What agents should be told of their own configuration, if they run.
    pub(super) changed: Vec<(AgentName, serde_json::Value)>,
}

impl Met {
    fn workspace(&self, root: &WorkspaceRoot, installed: &[Found]) -> Workspace {
        let is_new = |found: &&Found| self.config.configured(&AgentName::from(found.known.name)).is_none();
        Workspace {
            root: root.clone(),
            trust: self.trust,
            agents: self.config.agents().map(|spec| spec.info()).collect(),
            default_agent: self.config.default_agent(),
            offers: installed.iter().filter(is_new).map(Found::offer).collect(),
            patterns: self.config.tools.patterns(),
        }
    }

    /// Takes another configuration; gives what agents should be told of theirs.
    fn reconfigure(&mut self, config: Config) -> Vec<(AgentName, serde_json::Value)> {
        let before = std::mem::replace(&mut self.config, config);
        say_left_out(self.config.left_out.iter().filter(|note| !before.left_out.contains(note)));
        let changed = self.config.agents().filter_map(|spec| {
            let now = told(with_settings(spec.clone(), &self.config).kind)?;
            let then = told(with_settings(before.configured(&spec.name)?.clone(), &before).kind)?;
            (then != now).then_some((spec.name, now))
        });
        changed.collect()
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
    pub(super) fn new(source: UserConfig, user: Config, rows: Vec<WorkspaceRow>) -> Self {
        let at_start = user.clone();
        let mut workspaces = Self { source, user, at_start, met: HashMap::new(), installed: Vec::new() };
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
        met.workspace(root, &self.installed)
    }

    /// Where the user's configuration comes from.
    pub(super) fn source(&self) -> &UserConfig {
        &self.source
    }

    /// Workspaces whose own file counts, in a fixed order.
    pub(super) fn trusted(&self) -> Vec<WorkspaceRoot> {
        let trusted = self.met.iter().filter(|(_, met)| met.trust == Trust::Trusted);
        let mut roots: Vec<_> = trusted.map(|(root, _)| root.clone()).collect();
        roots.sort();
        roots
    }

    /// Whether another configuration says something of the host itself that it did not say at the start.
    pub(super) fn waits_for_restart(&self, user: &Config) -> bool {
        let about_host = |config: &Config| {
            let tools = (config.tools.holding.clone(), config.tools.approval_ms);
            (config.server.clone(), config.durability, config.startup, config.stillness, tools)
        };
        about_host(user) != about_host(&self.at_start) && about_host(user) != about_host(&self.user)
    }

    /// Takes what was read anew. A workspace whose own file is wrong keeps what it had.
    pub(super) fn reconfigure(&mut self, mut seen: Seen) -> Vec<Reconfigured> {
        seen.found.retain(|found| found.nearness.is_installed());
        (self.user, self.installed) = (seen.user, seen.found);
        let mut all = Vec::new();
        for (root, met) in &mut self.met {
            let config = match met.trust {
                Trust::Untrusted => Some(self.user.clone()),
                Trust::Trusted => seen.workspaces.remove(root),
            };
            let changed = config.map(|config| met.reconfigure(config)).unwrap_or_default();
            all.push(Reconfigured { workspace: met.workspace(root, &self.installed), changed });
        }
        all
    }

    fn config(&self, root: &WorkspaceRoot, trust: Trust) -> Result<Config, String> {
        match trust {
            Trust::Untrusted => Ok(self.user.clone()),
            Trust::Trusted => {
                let config = self.user.in_trusted_workspace(Path::new(root.as_str()));
                config.inspect(|config| say_left_out(&config.left_out)).map_err(|error| error.to_string())
            }
        }
    }

    /// How commands are held in there.
    pub(super) fn holding(&self, root: &WorkspaceRoot) -> &Holding {
        &self.met.get(root).map_or(&self.user, |met| &met.config).tools.holding
    }

    /// Whether any agent's wire is recorded by its configuration.
    pub(super) fn any_recorded(&self) -> bool {
        let configs = self.met.values().map(|met| &met.config).chain([&self.user]);
        configs.flat_map(Config::agents).any(|spec| is_recorded(&spec))
    }

    /// Whether an agent's wire is recorded by its configuration there.
    pub(super) fn is_recorded(&self, root: &WorkspaceRoot, agent: &AgentName) -> bool {
        self.agent(root, agent).is_ok_and(|spec| is_recorded(&spec))
    }

    /// What an agent is in a workspace; the error is for a person.
    pub(super) fn agent(&self, root: &WorkspaceRoot, agent: &AgentName) -> Result<AgentSpec, String> {
        let config = self.met.get(root).map_or(&self.user, |met| &met.config);
        config.agent(agent).map(|spec| with_settings(spec, config)).map_err(|error| error.to_string())
    }

    /// The user's configuration as it holds now.
    pub(super) fn user(&self) -> &Config {
        &self.user
    }

    /// All settings as they are.
    pub(super) fn settings(&self, tokens: &Tokens) -> SettingsState {
        let own = |(root, met): (&WorkspaceRoot, &Met)| {
            let settings = &met.config.workspace_settings;
            let counts = met.trust == Trust::Trusted && *settings != Settings::default();
            counts.then(|| (root.clone(), settings.clone()))
        };
        let mut workspaces: Vec<_> = self.met.iter().filter_map(own).collect();
        workspaces.sort_by(|(one, _), (other, _)| one.cmp(other));
        let set_up = self.user.is_set_up() || self.met.values().any(|met| met.config.is_set_up());
        SettingsState {
            user: self.user.settings.clone(),
            workspaces,
            has_token: settings::fits(tokens, self.user.settings.base_url.as_deref()),
            tokens_in: tokens.kept_in.clone(),
            first_run: !set_up && tokens.model_server.is_none(),
        }
    }
}

/// An agent with what people have set in its own configuration, which goes before that.
fn with_settings(spec: AgentSpec, config: &Config) -> AgentSpec {
    let kind = match spec.kind {
        AgentKind::Apex { process, config: own } => {
            AgentKind::Apex { process, config: settings::for_agent(&config.effective_settings(), own) }
        }
        AgentKind::Model { base_url, model, secret, settings: own } => {
            let settings = settings::for_model(&config.effective_settings(), &base_url, own);
            AgentKind::Model { base_url, model, secret, settings }
        }
        other @ (AgentKind::Plain(_) | AgentKind::Acp(_) | AgentKind::Engine { .. }) => other,
    };
    AgentSpec { kind, ..spec }
}

/// What an agent is told of its configuration while it runs; none for kinds that are told nothing.
fn told(kind: AgentKind) -> Option<serde_json::Value> {
    match kind {
        AgentKind::Apex { config, .. } => Some(config),
        AgentKind::Model { settings, .. } => Some(settings),
        AgentKind::Plain(_) | AgentKind::Acp(_) | AgentKind::Engine { .. } => None,
    }
}

/// A workspace wants what it may not have.
fn say_left_out<'a>(notes: impl IntoIterator<Item = &'a String>) {
    notes.into_iter().for_each(|note| tracing::warn!("{note}"));
}

fn is_recorded(spec: &AgentSpec) -> bool {
    spec.kind.process().is_some_and(|process| process.record)
}

impl Driver {
    /// A new tab, or the call of a tool, may name a folder that the host has not met.
    pub(super) fn know_workspace_of(&mut self, command: &Command) {
        match command {
            Command::OpenTab { workspace: Some(root), .. }
            | Command::Session { what: SessionRequest::Create { workspace: Some(root), .. }, .. } => {
                self.know_workspace(root);
            }
            Command::CallTools { calls, .. } => {
                calls.iter().filter_map(|call| call.workspace.as_ref()).for_each(|root| self.know_workspace(root));
            }
            _ => {}
        }
    }

    fn know_workspace(&mut self, root: &WorkspaceRoot) {
        if self.workspaces.met.len() < MAX_WORKSPACES || self.workspaces.met.contains_key(root) {
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
        let workspace = after.workspace(root, &self.workspaces.installed);
        // Distrust holds at once; trust holds when it is on the disk.
        if trust == Trust::Untrusted {
            self.workspaces.met.insert(root.clone(), after.clone());
            self.tell_settings();
            self.watch_trusted();
            self.settle_wire();
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
            self.tell_settings();
            // The file may have changed since it was read for this.
            self.watching.send_modify(|wanted| wanted.asked += 1);
            self.watch_trusted();
            self.settle_wire();
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Asked;

    const ROOT: &str = "/nowhere";

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        Config::read(Some((file, Asked::ByName))).unwrap()
    }

    fn apex(depth: u32, command: &str) -> String {
        format!("[agents.backend]\nkind = \"apex\"\ncommand = [\"{command}\"]\nconfig = {{ depth = {depth} }}\n")
    }

    fn changed(before: &str, after: &str) -> Vec<(AgentName, serde_json::Value)> {
        let mut workspaces = Workspaces::new(UserConfig::default(), config(before), Vec::new());
        workspaces.know(&ROOT.into());
        let seen = Seen {
            user: config(after),
            workspaces: HashMap::new(),
            found: Vec::new(),
            errors: Vec::new(),
            tokens: Tokens::default(),
        };
        let mut all = workspaces.reconfigure(seen);
        assert_eq!(all.len(), 1);
        all.remove(0).changed
    }

    #[test]
    fn an_agent_is_told_only_of_another_configuration_of_its_own() {
        let backend = AgentName::from("backend");
        assert_eq!(changed(&apex(1, "x"), &apex(2, "x")), [(backend.clone(), json!({ "depth": 2 }))]);
        assert_eq!(changed(&apex(1, "x"), &apex(1, "y")), []);
        assert_eq!(changed("", &apex(1, "x")), []);
        assert_eq!(changed(&apex(1, "x"), ""), []);
    }

    #[test]
    fn what_is_about_the_host_itself_waits_for_its_next_start() {
        let workspaces = Workspaces::new(UserConfig::default(), config(""), Vec::new());
        assert!(workspaces.waits_for_restart(&config("stall_seconds = 5\n")));
        assert!(!workspaces.waits_for_restart(&config(&apex(1, "x"))));
    }
}
