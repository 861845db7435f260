//! The shapes of the dialect's messages, for their JSON, their schema and their TypeScript. Holds no behaviour but the way
//! from our types to these.

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use switchboard_types::{
    AgentInfo, AgentName, AgentOffer, AgentState, ApprovalId, Body, Connection, Containment, ContextItem, Decision,
    Event, HistoryPlace, OptionId, PolicyChange, RejectCode, Rule, RuleId, Seq, SessionId, SessionPolicy,
    SessionSummary, Status, TabId, Time, Trust, TurnId, TurnName, WorkspaceRoot, WorkspaceSummary,
};
use ts_rs::TS;

/// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
#[must_use]
pub fn schema() -> serde_json::Value {
    serde_json::json!({ "viewToHost": schema_for!(FromView), "hostToView": schema_for!(ToView) })
}

/// What the page says to the host.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(super) enum FromView {
    /// The first message of a link; answered by `welcome`, then by the events of the seats.
    Hello {
        /// The page's version.
        version: String,
        /// The tabs that it shows.
        seats: Vec<WireSeat>,
    },
    /// Opens a tab, or attaches again to one that exists. With `session`, shows that one: under its own tab if it has one,
    /// else out of history under this one.
    OpenTab {
        /// The page's name for it.
        tab: TabId,
        /// Which agent; the workspace's default if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<AgentName>,
        /// An absolute path; the host's own workspace if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// A session that exists.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The last event that was applied.
        #[serde(skip_serializing_if = "Option::is_none")]
        seen: Option<WireSeen>,
    },
    /// Follows a tab no longer; the tab stays as it is.
    LeaveTab {
        /// Which one.
        tab: TabId,
    },
    /// Queues a prompt.
    Prompt {
        /// Where.
        tab: TabId,
        /// The page's name for the turn; one that was seen before is not run again, so sending it twice is safe.
        name: TurnName,
        /// The words.
        text: String,
        /// Files and excerpts that go with them.
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<Vec<ContextItem>>,
    },
    /// Stops a turn, or takes a waiting prompt out of the queue.
    Cancel {
        /// Where.
        tab: TabId,
        /// Which turn.
        name: TurnName,
    },
    /// Closes a tab; its log stays in history.
    CloseTab {
        /// Which one.
        tab: TabId,
    },
    /// The page was hidden or shown.
    Visibility {
        /// Whether it can be seen.
        visible: bool,
    },
    /// Answers an approval.
    Decide {
        /// Where.
        tab: TabId,
        /// Which question.
        approval: ApprovalId,
        /// The answer.
        decision: Decision,
        /// The command as the person edited it.
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Which of the agent's own answers, where it offers several of one sort.
        #[serde(skip_serializing_if = "Option::is_none")]
        option: Option<String>,
    },
    /// Changes what the tab's agent may do without a question.
    SetPolicy {
        /// Whose agent.
        tab: TabId,
        /// What changes; the rest stays.
        change: PolicyChange,
    },
    /// Asks for the stored rules; answered by `rules`, and again whenever one is added or removed.
    WatchRules {},
    /// Removes a stored rule.
    RemoveRule {
        /// Which one.
        rule: RuleId,
    },
    /// Sets an option of the tab's agent.
    SetOption {
        /// Whose agent.
        tab: TabId,
        /// Which option.
        option: OptionId,
        /// The choice.
        value: String,
    },
    /// Signs in at the tab's agent, by a method that the agent carries out itself.
    SignIn {
        /// Whose agent.
        tab: TabId,
        /// Which method.
        method: String,
    },
    /// Configures a well-known agent; every page that watches is told of the workspaces that have it then.
    AddAgent {
        /// Its name among a workspace's `offers`.
        name: AgentName,
    },
    /// Starts the tab's agent again.
    RestartAgent {
        /// Whose agent.
        tab: TabId,
    },
    /// Trusts a workspace, or no longer.
    Trust {
        /// Its folder, an absolute path.
        workspace: String,
        /// Which of the two.
        trusted: bool,
    },
    /// Lists sessions, closed ones included, the last used first; answered by `history`.
    History {
        /// After this one; from the start if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<WirePlace>,
        /// At most so many.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Stops whatever runs in a session and deletes it; every page that watches is told `sessionGone`.
    DeleteSession {
        /// Which one.
        session: SessionId,
    },
    /// Asks for a sign of life.
    Ping {
        /// Comes back in the answer.
        #[ts(type = "number")]
        n: u64,
    },
}

/// A tab that the page shows.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(rename = "Seat")]
pub(super) struct WireSeat {
    /// Its name.
    pub(super) tab: TabId,
    /// The last event that was applied.
    pub(super) seen: WireSeen,
}

/// The last event that was applied of a log.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(rename = "Seen")]
pub(super) struct WireSeen {
    /// The life of the log.
    pub(super) epoch: String,
    /// Its place in it; 0 is none.
    pub(super) seq: Seq,
}

/// A place in the list of all sessions.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(rename = "HistoryPlace")]
pub(super) struct WirePlace {
    /// When the session there was last used.
    pub(super) updated_ms: Time,
    /// The session there.
    pub(super) session: SessionId,
}

impl From<HistoryPlace> for WirePlace {
    fn from(place: HistoryPlace) -> Self {
        Self { updated_ms: place.updated, session: place.session }
    }
}

/// What the host says to the page. Events are written from the log's own bytes, in this shape.
#[expect(dead_code, reason = "`Events` is written by hand; the shape is for the schema and the types")]
#[derive(Debug, PartialEq, Serialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(optional_fields)]
pub(super) enum ToView {
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
pub(super) struct WireSession {
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
pub(super) struct WireWorkspace {
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
pub(super) fn epoch(epoch: switchboard_types::Epoch) -> String {
    format!("{:016x}", epoch.0)
}
