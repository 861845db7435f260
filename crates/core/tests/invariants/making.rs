//! What the tests say and know, made: commands, a workspace.

use switchboard_core::{Trust, Workspace};
use switchboard_types::{AgentHome, AgentInfo, AgentName, Command, ProcessPer, RequestNo, Seq, WorkspaceRoot};

use super::world::ROOT;

fn info(name: &str, process: ProcessPer) -> AgentInfo {
    AgentInfo { name: name.into(), kind: "test".to_owned(), process, home: AgentHome::Here }
}

/// An agent that works elsewhere.
fn far() -> AgentInfo {
    AgentInfo { home: AgentHome::Elsewhere, ..info("far", ProcessPer::Shared) }
}

pub(crate) fn workspace(trust: Trust) -> Workspace {
    Workspace {
        root: WorkspaceRoot::from(ROOT),
        trust,
        agents: vec![info("small", ProcessPer::Shared), info("own", ProcessPer::Session), far()],
        default_agent: AgentName::from(AgentName::DEMO),
        offers: Vec::new(),
        patterns: None,
    }
}

pub(crate) fn open_tab(tab: &str, seen: u64) -> Command {
    Command::OpenTab { tab: tab.into(), agent: None, workspace: None, seen: Seq(seen).into() }
}

/// A tab of the agent that has a process for each session.
pub(crate) fn open_own(tab: &str) -> Command {
    Command::OpenTab { tab: tab.into(), agent: Some("own".into()), workspace: None, seen: Seq(0).into() }
}

/// A tab of the agent that works elsewhere.
pub(crate) fn open_far(tab: &str) -> Command {
    Command::OpenTab { tab: tab.into(), agent: Some("far".into()), workspace: None, seen: Seq(0).into() }
}

/// The number of a command that wants one answer.
pub(crate) fn request_of(command: &Command) -> Option<RequestNo> {
    match command {
        Command::ListTools { request }
        | Command::CallTools { request, .. }
        | Command::CancelCall { request, .. }
        | Command::ListCalls { request, .. }
        | Command::LendTools { request, .. }
        | Command::WatchApprovals { request }
        | Command::Session { request, .. }
        | Command::Chore { request, .. }
        | Command::Answer { request, .. } => Some(*request),
        _ => None,
    }
}
