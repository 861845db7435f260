//! The link of a turn: our own dialect, spoken as the page does. What this version does not know is passed over.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_dialects::view::switchboard::VERSION;
use switchboard_types::{ApprovalId, Body, Decision, RejectCode, Seq, SessionId, TurnId};

use crate::cli::control::Control;
use crate::cli::exit::Failure;
use crate::cli::wire::{self, Socket};

/// What the host says, as far as a turn needs it.
pub(super) enum Heard {
    Welcome { sessions: Vec<Session> },
    Events { tab: String, events: Vec<Box<RawValue>> },
    Session(Session),
    Workspace(Workspace),
    Refused(Refused),
    Nothing,
}

/// A session, as far as a turn needs it.
#[derive(Debug, Deserialize)]
pub(super) struct Session {
    pub(super) session: SessionId,
    pub(super) tab: Option<String>,
}

/// A workspace, as far as a turn needs it.
#[derive(Debug, Deserialize)]
pub(super) struct Workspace {
    pub(super) root: String,
    pub(super) trusted: bool,
    pub(super) agents: Vec<Agent>,
}

/// An agent of a workspace.
#[derive(Debug, Deserialize)]
pub(super) struct Agent {
    pub(super) name: String,
}

/// Why something was refused.
#[derive(Debug, Deserialize)]
pub(super) struct Refused {
    pub(super) code: RefusedCode,
    pub(super) message: String,
    #[serde(default)]
    pub(super) tab: Option<String>,
}

/// For programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefusedCode {
    WorkspaceUntrusted,
    AgentUnavailable,
    UnknownTab,
    TooLarge,
    #[serde(other)]
    Other,
}

/// One event.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) seq: Seq,
    #[serde(default)]
    pub(super) turn: Option<TurnId>,
    pub(super) body: Body,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
}

#[derive(Deserialize)]
struct Welcome {
    version: String,
    workspaces: Vec<Workspace>,
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct Events {
    tab: String,
    events: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct OneSession {
    session: Session,
}

#[derive(Deserialize)]
struct OneWorkspace {
    workspace: Workspace,
}

/// The link.
pub(super) struct Talk {
    socket: Socket,
    /// The workspaces that the host has told of.
    pub(super) workspaces: Vec<Workspace>,
}

impl Talk {
    /// Opens the link and says hello.
    pub(super) async fn open(control: &Control) -> Result<Self, Failure> {
        let mut socket = wire::open(control, "switchboard").await?;
        wire::say(&mut socket, json!({ "type": "hello", "version": VERSION, "seats": [] }).to_string()).await?;
        Ok(Self { socket, workspaces: Vec::new() })
    }

    async fn say(&mut self, message: Value) -> Result<(), Failure> {
        wire::say(&mut self.socket, message.to_string()).await
    }

    pub(super) async fn open_tab(&mut self, tab: &str, workspace: &str, agent: Option<&str>) -> Result<(), Failure> {
        let mut message = json!({ "type": "openTab", "tab": tab, "workspace": workspace });
        if let Some(agent) = agent {
            message["agent"] = json!(agent);
        }
        self.say(message).await
    }

    pub(super) async fn open_session(&mut self, tab: &str, session: SessionId) -> Result<(), Failure> {
        self.say(json!({ "type": "openTab", "tab": tab, "session": session })).await
    }

    pub(super) async fn prompt(&mut self, tab: &str, name: &str, text: &str) -> Result<(), Failure> {
        self.say(json!({ "type": "prompt", "tab": tab, "name": name, "text": text })).await
    }

    pub(super) async fn cancel(&mut self, tab: &str, name: &str) -> Result<(), Failure> {
        self.say(json!({ "type": "cancel", "tab": tab, "name": name })).await
    }

    pub(super) async fn decide(&mut self, tab: &str, approval: &ApprovalId, decision: Decision) -> Result<(), Failure> {
        self.say(json!({ "type": "decide", "tab": tab, "approval": approval, "decision": decision })).await
    }

    pub(super) async fn close_tab(&mut self, tab: &str) -> Result<(), Failure> {
        self.say(json!({ "type": "closeTab", "tab": tab })).await
    }

    /// The next thing that the host says.
    pub(super) async fn hear(&mut self) -> Result<Heard, Failure> {
        let text = match wire::hear(&mut self.socket).await {
            wire::Heard::Text(text) => text,
            wire::Heard::Nothing => return Ok(Heard::Nothing),
            wire::Heard::Over(why) => return Err(Failure::unreachable(why)),
        };
        let strange =
            |_| Failure::unreachable("the host says what is not understood; is it another version? restart it");
        let Kind { kind } = serde_json::from_str(&text).map_err(strange)?;
        match &*kind {
            "welcome" => {
                let welcome: Welcome = serde_json::from_str(&text).map_err(strange)?;
                if welcome.version != VERSION {
                    return Err(Failure::unreachable(format!(
                        "the running host is version {}, and this is version {VERSION}; restart the host",
                        welcome.version
                    )));
                }
                self.workspaces = welcome.workspaces;
                Ok(Heard::Welcome { sessions: welcome.sessions })
            }
            "events" => {
                let Events { tab, events } = serde_json::from_str(&text).map_err(strange)?;
                Ok(Heard::Events { tab, events })
            }
            "session" => {
                let OneSession { session } = serde_json::from_str(&text).map_err(strange)?;
                Ok(Heard::Session(session))
            }
            "workspace" => {
                let OneWorkspace { workspace } = serde_json::from_str(&text).map_err(strange)?;
                Ok(Heard::Workspace(workspace))
            }
            "refused" => Ok(Heard::Refused(serde_json::from_str(&text).map_err(strange)?)),
            _ => Ok(Heard::Nothing),
        }
    }

    /// Notes a workspace as it is now.
    pub(super) fn know(&mut self, workspace: Workspace) {
        self.workspaces.retain(|known| known.root != workspace.root);
        self.workspaces.push(workspace);
    }

    /// Says goodbye. The host notices a link that is gone, too.
    pub(super) async fn close(mut self) {
        let _ = self.socket.close(None).await;
    }
}

/// The code's word, as the host would say it.
pub(super) fn code_of(code: RejectCode) -> &'static str {
    match code {
        RejectCode::WorkspaceUntrusted => "workspace_untrusted",
        RejectCode::AgentUnavailable => "agent_unavailable",
        RejectCode::BadJson
        | RejectCode::BadMessage
        | RejectCode::UnknownType
        | RejectCode::UnknownTab
        | RejectCode::NotFound
        | RejectCode::Conflict
        | RejectCode::TooLarge
        | RejectCode::Internal => "",
    }
}
