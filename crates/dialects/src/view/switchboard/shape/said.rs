//! What the page says to the host, as JSON.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_types::{
    AgentName, ApprovalId, ContextItem, Decision, HistoryPlace, OptionId, PolicyChange, RequestNo, RuleId, SearchQuery,
    Seq, SessionId, Settings, TabId, Time, TurnName, Unset, UsageBy,
};
use ts_rs::TS;

/// What the page says to the host.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(in super::super) enum FromView {
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
    /// Stops whatever runs in a session and deletes it; every page that watches is told `sessionGone`. With a number it is
    /// also answered by `done`.
    DeleteSession {
        /// Comes back in the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        request: Option<RequestNo>,
        /// Which one.
        session: SessionId,
    },
    /// Looks for words in all that was said; answered by `found`.
    Search {
        /// Comes back in the answer.
        request: RequestNo,
        /// What is looked for.
        query: SearchQuery,
    },
    /// Asks what was used; answered by `used`.
    Usage {
        /// Comes back in the answer.
        request: RequestNo,
        /// One row for each of these.
        by: UsageBy,
        /// Only of this session.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Only from then on.
        #[serde(skip_serializing_if = "Option::is_none")]
        since: Option<Time>,
    },
    /// Takes out what belongs to no session and gives space back to the disk; answered by `kept`.
    Upkeep {
        /// Comes back in the answer.
        request: RequestNo,
    },
    /// Backs up what is derived from the logs and derives it anew; answered by `rebuilt`, after `progress` on the way.
    Rebuild {
        /// Comes back in the answer.
        request: RequestNo,
    },
    /// Asks for the settings; answered by `settings`, and again whenever they change.
    WatchSettings {},
    /// Changes settings; those that are not named stay. Answered by `done`.
    SaveSettings {
        /// Comes back in the answer.
        request: RequestNo,
        /// Those of this folder, an absolute path; the user's if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The new ones.
        change: Settings,
        /// Those that are taken out although no value of theirs says so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<Unset>>")]
        unset: Vec<Unset>,
    },
    /// Keeps the token for the model server, or forgets it; answered by `token`. It never comes back.
    SaveToken {
        /// Comes back in the answer.
        request: RequestNo,
        /// Empty forgets it.
        token: WireSecret,
        /// Where it may be sent; the address of the settings if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        base_url: Option<String>,
    },
    /// Sees whether a model server answers; answered by `tested`.
    TestModels {
        /// Comes back in the answer.
        request: RequestNo,
        /// Where; the address of the settings if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        base_url: Option<String>,
    },
    /// Looks for model servers on this machine; answered by `servers`.
    FindServers {
        /// Comes back in the answer.
        request: RequestNo,
    },
    /// Has an agent that works with this model, in the user's configuration; answered by `inUse`.
    UseModel {
        /// Comes back in the answer.
        request: RequestNo,
        /// Where it is served.
        base_url: String,
        /// Which one.
        model: String,
    },
    /// Gives a session, open or closed, a title that stays; answered by `done`.
    RenameSession {
        /// Comes back in the answer.
        request: RequestNo,
        /// Which one.
        session: SessionId,
        /// The title, one line.
        title: String,
    },
    /// Changes what a session's agent may do unasked, whether it has a tab or none; answered by `done`.
    SetSessionPolicy {
        /// Comes back in the answer.
        request: RequestNo,
        /// Which one.
        session: SessionId,
        /// What changes; the rest stays.
        change: PolicyChange,
    },
    /// Asks for a link to a session as one file; answered by `artifact`.
    ExportSession {
        /// Comes back in the answer.
        request: RequestNo,
        /// Which one.
        session: SessionId,
        /// In which form.
        form: WireForm,
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
pub(in super::super) struct WireSeat {
    /// Its name.
    pub(in super::super) tab: TabId,
    /// The last event that was applied.
    pub(in super::super) seen: WireSeen,
}

/// The last event that was applied of a log.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(rename = "Seen")]
pub(in super::super) struct WireSeen {
    /// The life of the log.
    pub(in super::super) epoch: String,
    /// Its place in it; 0 is none.
    pub(in super::super) seq: Seq,
}

/// A place in the list of all sessions.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(rename = "HistoryPlace")]
pub(in super::super) struct WirePlace {
    /// When the session there was last used.
    pub(in super::super) updated_ms: Time,
    /// The session there.
    pub(in super::super) session: SessionId,
}

impl From<HistoryPlace> for WirePlace {
    fn from(place: HistoryPlace) -> Self {
        Self { updated_ms: place.updated, session: place.session }
    }
}

/// In which form a session is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "ExportForm")]
pub(in super::super) enum WireForm {
    /// The whole log, as lines of JSON.
    Log,
    /// The conversation for people, as Markdown.
    Conversation,
}

/// A secret on its way in. Never shown, and never written again.
#[derive(PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(transparent)]
#[ts(type = "string")]
pub(in super::super) struct WireSecret(pub(in super::super) String);

impl fmt::Debug for WireSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WireSecret(…)")
    }
}
