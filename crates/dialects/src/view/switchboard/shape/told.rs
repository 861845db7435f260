//! What the host says to the page, as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_types::{
    AgentInfo, AgentName, AgentOffer, AgentState, Body, Connection, Containment, Event, Kept, ModelServer, Rebuilt,
    RejectCode, RequestNo, Rule, Seq, SessionId, SessionPolicy, SessionSummary, SettingsState, Status, TabId, Time,
    Trust, TurnId, TurnName, UsageRow, WorkspaceRoot, WorkspaceSummary,
};
use ts_rs::TS;

use super::library::WireFoundSession;
use super::said::WirePlace;

/// What the host says to the page. Events are written from the log's own bytes, in this shape.
#[expect(dead_code, reason = "`Events` is written by hand; the shape is for the schema and the types")]
#[derive(Debug, PartialEq, Serialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(optional_fields)]
pub(in super::super) enum ToView {
    /// Everything as it is, in answer to `hello`; changes come after it.
    Welcome {
        /// The host's version; a page of another one must be loaded again.
        version: String,
        /// The workspace of tabs that name none.
        home: String,
        /// All workspaces.
        workspaces: Vec<WireWorkspace>,
        /// The sessions that have a tab, in the order in which they were opened.
        sessions: Vec<WireSession>,
    },
    /// The log of a tab from `after + 1` to `to`, all of it. Pieces of one turn's text that follow each other come as one
    /// event, with the place of the last.
    Events {
        /// The tab.
        tab: TabId,
        /// The life of the log.
        epoch: String,
        /// The event before the first.
        after: Seq,
        /// The last event.
        to: Seq,
        /// The events.
        events: Vec<WireEvent>,
    },
    /// Events that the log no longer holds; what remains comes after it.
    Gap {
        /// The tab.
        tab: TabId,
        /// The first lost event.
        from: Seq,
        /// The last lost event.
        to: Seq,
    },
    /// What the page has of the tab is not this log's; everything comes from the start.
    Reset {
        /// The tab.
        tab: TabId,
    },
    /// A session was opened, closed or changed.
    Session {
        /// As it is now.
        session: WireSession,
    },
    /// A session was deleted.
    SessionGone {
        /// Which one.
        session: SessionId,
    },
    /// A workspace became known or changed.
    Workspace {
        /// As it is now.
        workspace: WireWorkspace,
    },
    /// Sessions, in answer to `history`.
    History {
        /// The last used first.
        sessions: Vec<WireSession>,
        /// Where the next ones are; absent at the end.
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<WirePlace>,
    },
    /// A message was refused, or something went wrong that the log cannot tell.
    Refused {
        /// For programs.
        code: RejectCode,
        /// For people.
        message: String,
        /// The tab, as far as it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        tab: Option<TabId>,
        /// The turn's name, as far as it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn: Option<TurnName>,
    },
    /// The stored rules as they are now, in answer to `watchRules` and after each change.
    Rules {
        /// The oldest first.
        rules: Vec<Rule>,
    },
    /// How the operating system holds commands in.
    Containment {
        /// As it is now.
        containment: Containment,
    },
    /// What was found, in answer to `search`.
    Found {
        /// The number that was sent.
        request: RequestNo,
        /// Sessions in the order of their first message.
        sessions: Vec<WireFoundSession>,
        /// Whether there is more than was asked for.
        more: bool,
        /// Sessions whose last words are not in the index yet.
        #[ts(type = "number")]
        behind: u64,
    },
    /// What was used, in answer to `usage`.
    Used {
        /// The number that was sent.
        request: RequestNo,
        /// The newest first.
        rows: Vec<UsageRow>,
    },
    /// What upkeep did, in answer to `upkeep`.
    Kept {
        /// The number that was sent.
        request: RequestNo,
        /// What it took out and gave back.
        kept: Kept,
    },
    /// What was derived anew, in answer to `rebuild`.
    Rebuilt {
        /// The number that was sent.
        request: RequestNo,
        /// How much, and where the old is.
        rebuilt: Rebuilt,
    },
    /// Something goes on; its answer comes later.
    Progress {
        /// The number that was sent.
        request: RequestNo,
        /// How much is done.
        #[ts(type = "number")]
        done: u64,
        /// Of how much.
        #[ts(type = "number")]
        total: u64,
    },
    /// The settings as they are now, in answer to `watchSettings` and after each change.
    Settings {
        /// All of them.
        settings: SettingsState,
    },
    /// Whether there is a token now, in answer to `saveToken`.
    Token {
        /// The number that was sent.
        request: RequestNo,
        /// There is one.
        has_token: bool,
    },
    /// How the test went, in answer to `testModels`.
    Tested {
        /// The number that was sent.
        request: RequestNo,
        /// Whether it worked.
        success: bool,
        /// For a person: what there is, or what is wrong and what to do.
        message: String,
        /// The models that it has.
        models: Vec<String>,
    },
    /// The model servers of this machine, in answer to `findServers`.
    Servers {
        /// The number that was sent.
        request: RequestNo,
        /// Those that answer, perhaps none.
        servers: Vec<ModelServer>,
        /// For a person: what there is, or where was looked and what to do.
        message: String,
    },
    /// An agent works with the model as soon as the configuration is read again, in answer to `useModel`.
    InUse {
        /// The number that was sent.
        request: RequestNo,
        /// Its name.
        agent: AgentName,
    },
    /// A link, in answer to `exportSession`.
    Artifact {
        /// The number that was sent.
        request: RequestNo,
        /// What to call the file.
        name: String,
        /// What sort of thing it is.
        mime: String,
        /// Its bytes; 0 where nobody has counted them.
        #[ts(type = "number")]
        size: u64,
        /// Where it can be fetched for a short while, relative to the host's address.
        url: String,
    },
    /// It is done, and there is no more to say.
    Done {
        /// The number that was sent.
        request: RequestNo,
    },
    /// Nothing came of what was asked under a number.
    Failed {
        /// The number that was sent.
        request: RequestNo,
        /// For programs.
        code: RejectCode,
        /// For people.
        message: String,
    },
    /// The answer to `ping`.
    Pong {
        /// The number that was sent.
        #[ts(type = "number")]
        n: u64,
    },
}

/// A numbered fact in a session's log, as JSON.
#[derive(Debug, PartialEq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "Event", optional_fields)]
pub struct WireEvent {
    /// Its place in the log.
    pub seq: Seq,
    /// When the host took note of it, in milliseconds since 1970.
    pub time: Time,
    /// The turn that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// What it says.
    pub body: Body,
}

impl From<Event> for WireEvent {
    fn from(event: Event) -> Self {
        Self { seq: event.seq, time: event.at, turn: event.turn, body: event.body }
    }
}

/// A session in a list.
#[derive(Debug, PartialEq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "Session")]
pub(in super::super) struct WireSession {
    session: SessionId,
    epoch: String,
    /// Its tab; null when it is closed.
    tab: Option<TabId>,
    /// Empty until there is one.
    title: String,
    agent: AgentName,
    workspace: WorkspaceRoot,
    status: Status,
    agent_state: AgentState,
    /// How the way to its agent is, if that works elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    connection: Option<Connection>,
    /// Prompts that wait.
    queued: u32,
    /// Questions that wait for a person.
    approvals: u32,
    /// What its agent may do without a question.
    policy: SessionPolicy,
    created_ms: Time,
    /// When a turn last began or ended.
    updated_ms: Time,
}

impl From<&SessionSummary> for WireSession {
    fn from(session: &SessionSummary) -> Self {
        Self {
            session: session.session,
            epoch: epoch(session.epoch),
            tab: session.tab.clone(),
            title: session.title.clone(),
            agent: session.agent.clone(),
            workspace: session.workspace.clone(),
            status: session.status,
            agent_state: session.agent_state,
            connection: session.connection.clone(),
            queued: u32::try_from(session.queued).unwrap_or(u32::MAX),
            approvals: u32::try_from(session.approvals).unwrap_or(u32::MAX),
            policy: session.policy.clone(),
            created_ms: session.created,
            updated_ms: session.updated,
        }
    }
}

/// A workspace in a list.
#[derive(Debug, PartialEq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "Workspace")]
pub(in super::super) struct WireWorkspace {
    root: WorkspaceRoot,
    trusted: bool,
    /// Those that are configured; `demo` is always there.
    agents: Vec<AgentInfo>,
    default_agent: AgentName,
    /// Well-known agents that are installed and not configured yet.
    offers: Vec<AgentOffer>,
}

impl From<&WorkspaceSummary> for WireWorkspace {
    fn from(workspace: &WorkspaceSummary) -> Self {
        Self {
            root: workspace.root.clone(),
            trusted: workspace.trust == Trust::Trusted,
            agents: workspace.agents.clone(),
            default_agent: workspace.default_agent.clone(),
            offers: workspace.offers.clone(),
        }
    }
}

/// An epoch is larger than a number of JSON can hold exactly in a browser.
pub(in super::super) fn epoch(epoch: switchboard_types::Epoch) -> String {
    format!("{:016x}", epoch.0)
}
