//! Which dialect a kind of agent speaks. Starts nothing.

use switchboard_dialects::agent::AgentDialect;
use switchboard_dialects::agent::acp::{Acp, AcpSettings};
use switchboard_dialects::agent::apex::{Apex, Setting};
use switchboard_dialects::agent::plain::Plain;

use super::spec::{AgentKind, AgentSpec};

/// The dialect for a new process of this agent; none if it is no process or this version cannot run its kind.
pub(super) fn dialect(spec: &AgentSpec) -> Option<Box<dyn AgentDialect>> {
    match &spec.kind {
        AgentKind::Plain(_) => Some(Box::new(Plain::new())),
        AgentKind::Acp(process) => {
            let settings = AcpSettings::new(spec.name.as_str(), &process.command, env!("CARGO_PKG_VERSION"));
            Some(Box::new(Acp::new(settings)))
        }
        AgentKind::Apex { config, .. } => Some(Box::new(Apex::new(setting(config)))),
        AgentKind::Engine { .. } | AgentKind::Model { .. } => None,
    }
}

/// What a backend is told of where it runs: never a variable.
fn setting(config: &serde_json::Value) -> Setting {
    let (platform, host_version) = (std::env::consts::OS.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Setting { config: config.clone(), platform, host_version }
}

/// Why an agent of this kind cannot run at all, for a person; none if it can.
#[must_use]
pub fn unsupported(spec: &AgentSpec) -> Option<String> {
    match spec.kind {
        AgentKind::Plain(_) | AgentKind::Acp(_) | AgentKind::Apex { .. } | AgentKind::Engine { .. } => None,
        AgentKind::Model { .. } => Some(format!(
            "agent `{}` cannot start: kind `{}` is not supported by this version; choose another agent",
            spec.name,
            spec.kind.word()
        )),
    }
}
