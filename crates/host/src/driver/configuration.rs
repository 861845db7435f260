//! Configuration that changes while the host runs: what was read anew is told to the host, and a well-known agent is
//! written down when a view wants it. Reads no file itself.

use switchboard_core::Input;
use switchboard_types::{AgentName, LinkId, Reject, RejectCode, Told};

use super::Driver;
use super::workspaces::Reconfigured;
use crate::agents::known;
use crate::config::edit::{self, EditError};
use crate::config::watch::{Seen, UserConfig};

/// Agents that are being written down at once; a view that wants more is told to try again.
pub(super) const MAX_ADDING: usize = 4;

/// A view wanted an agent configured; this came of it.
#[derive(Debug)]
pub(super) struct Added {
    link: LinkId,
    name: AgentName,
    result: Result<(), String>,
}

impl Driver {
    /// The files say something else, or other agents are installed.
    pub(super) fn configuration(&mut self, seen: Seen) {
        self.say_what_is_wrong(&seen.errors);
        if self.workspaces.waits_for_restart(&seen.user) {
            tracing::info!("what the configuration says of the host itself holds from its next start");
        }
        let now = self.clock.now();
        self.tokens = seen.tokens.clone();
        for Reconfigured { workspace, changed } in self.workspaces.reconfigure(seen) {
            let root = workspace.root.clone();
            self.host.handle(now, Input::Workspace(workspace));
            for (agent, config) in changed {
                tracing::info!(%agent, %root, "a running agent is told of its new configuration");
                self.host.handle(now, Input::Configure { agent, workspace: root.clone(), config });
            }
        }
        self.tell_settings();
        self.settle_wire();
    }

    fn say_what_is_wrong(&mut self, errors: &[String]) {
        for error in errors.iter().filter(|error| !self.config_errors.contains(error)) {
            tracing::error!("{error}; the configuration from before still holds there");
        }
        if errors.is_empty() && !self.config_errors.is_empty() {
            tracing::info!("the configuration is understood again");
        }
        self.config_errors = errors.to_vec();
    }

    /// The files of trusted workspaces are looked at, and no others.
    pub(super) fn watch_trusted(&self) {
        let trusted = self.workspaces.trusted();
        self.watching.send_if_modified(|wanted| {
            let differs = wanted.trusted != trusted;
            wanted.trusted = trusted;
            differs
        });
    }

    /// A view wants a well-known agent. Nothing of what it says reaches the file but a name of our own table.
    pub(super) fn add_agent(&mut self, link: LinkId, name: &AgentName) {
        let Some(known) = known::named(name.as_str()) else {
            let message = format!("`{name}` is no well-known agent; see `switchboard agents`");
            return self.refuse_agent(link, message);
        };
        if self.adding >= MAX_ADDING {
            return self.refuse_agent(link, "too many agents are being added at once; try again".to_owned());
        }
        self.adding += 1;
        let (source, answer_to, name) = (self.workspaces.source().clone(), self.added_to.clone(), name.clone());
        tokio::task::spawn_blocking(move || {
            let result = known.addable().and_then(|found| write_down(&source, &found));
            // The driver is gone only when the host has stopped.
            let _ = answer_to.blocking_send(Added { link, name, result });
        });
    }

    pub(super) fn added(&mut self, added: Added) {
        self.adding -= 1;
        let Added { link, name, result } = added;
        match result {
            Ok(()) => {
                tracing::info!(agent = %name, "a view has added an agent to the configuration");
                self.watching.send_modify(|wanted| wanted.asked += 1);
            }
            Err(message) => self.refuse_agent(link, message),
        }
    }

    fn refuse_agent(&mut self, link: LinkId, message: String) {
        self.tell(link, Told::Refused(Reject::new(RejectCode::AgentUnavailable, message)));
    }
}

fn write_down(source: &UserConfig, found: &known::Found) -> Result<(), String> {
    let (file, _) = source.file.as_ref().ok_or_else(|| EditError::NoFile.to_string())?;
    edit::add(file, &found.spec()).map_err(|error| error.to_string())
}
