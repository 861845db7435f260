//! What is found again: messages that are derived from the log, search among them, usage, and upkeep. Plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::{AgentName, Epoch, Seq, SessionId, Time, TurnId, WorkspaceRoot};

/// What is asked about all that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryRequest {
    /// Look for words. Answered by [`LibraryAnswer::Found`].
    Search(Box<SearchQuery>),
    /// What was used. Answered by [`LibraryAnswer::Usage`].
    Usage(UsageQuery),
    /// Take out what belongs to no session, and give space back to the disk. Answered by [`LibraryAnswer::Kept`].
    Upkeep {},
    /// Back up what is derived from the logs, and derive it anew. Answered by [`LibraryAnswer::Rebuilt`].
    Rebuild {},
}

/// What is looked for. An empty text finds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct SearchQuery {
    /// Words that must all be there; `"…"` is a phrase, `word*` a beginning. Every other sign means nothing. The last word
    /// counts as a beginning, so that one can search while typing.
    pub text: String,
    /// Which come first.
    pub order: SearchOrder,
    /// Only of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<AgentName>,
    /// Only of this workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub workspace: Option<WorkspaceRoot>,
    /// Only of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<SessionId>,
    /// Only what this side said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub role: Option<Role>,
    /// Only of turns that changed or read a file whose path contains this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Only from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<Time>,
    /// Only before then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub until: Option<Time>,
    /// At most so many messages; 0 is [`crate::limits::DEFAULT_FOUND`].
    pub limit: usize,
}

/// Which messages come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum SearchOrder {
    /// The newest.
    #[default]
    Newest,
    /// Those that fit best.
    Ranked,
}

/// Whose words a message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person's prompt.
    User,
    /// The agent's answer.
    Assistant,
    /// The agent's thinking.
    Thought,
    /// What a tool was given and what it gave.
    Tool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Sessions in the order of their first message.
    pub sessions: Vec<FoundSession>,
    /// Whether there is more than was asked for.
    pub more: bool,
    /// Sessions whose last words are not in the index yet.
    pub behind: u64,
}

/// A session in which something was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundSession {
    /// Which one.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// Who worked.
    pub agent: AgentName,
    /// Where.
    pub workspace: WorkspaceRoot,
    /// When a turn last began or ended.
    pub updated: Time,
    /// The messages in it, in the order that was asked for.
    pub messages: Vec<FoundMessage>,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundMessage {
    /// The life of the log that it stands in.
    pub epoch: Epoch,
    /// Its first event.
    pub seq: Seq,
    /// Its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub turn: Option<TurnId>,
    /// Who said it.
    pub role: Role,
    /// When.
    pub at: Time,
    /// What stands around the first match, as plain text in pieces.
    pub snippet: Vec<SnippetPiece>,
}

/// A piece of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnippetPiece {
    /// What it says.
    pub text: String,
    /// Whether it is what was looked for.
    pub hit: bool,
}

/// What usage is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageQuery {
    /// One row for each of these.
    pub by: UsageBy,
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only from then on.
    pub since: Option<Time>,
}

/// What one row of usage stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum UsageBy {
    /// A turn.
    Turn,
    /// A session.
    Session,
    /// A day, in UTC.
    Day,
}

/// What was used, as far as the agents say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// The session; none for a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<SessionId>,
    /// The turn; only for a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub turn: Option<TurnId>,
    /// The day as `2026-11-16`; only for a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub day: Option<String>,
    /// Turns that it is about.
    pub turns: u64,
    /// Tokens.
    pub tokens: Tokens,
    /// What it has cost: one row for each currency, in millionths.
    pub costs: Vec<CostSum>,
}

/// A sum of money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CostSum {
    /// Millionths of the currency.
    pub micros: i64,
    /// The currency, as the agent names it.
    pub currency: String,
}

/// Tokens of one or more turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Tokens {
    /// What the model was given.
    pub input: u64,
    /// What it gave.
    pub output: u64,
    /// How much of the input was read from its cache.
    pub cached: u64,
    /// How much of the output was thinking.
    pub thought: u64,
}

/// What is answered about all that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryAnswer {
    /// What was found.
    Found(Found),
    /// What was used, the newest first.
    Usage(Vec<UsageRow>),
    /// What upkeep did.
    Kept(Kept),
    /// What was derived anew.
    Rebuilt(Rebuilt),
}

/// What upkeep did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// Sessions whose leftovers were taken out.
    pub sessions: u64,
    /// Messages that belonged to no session.
    pub messages: u64,
    /// Bytes on the disk before.
    pub bytes_before: u64,
    /// Bytes on the disk now.
    pub bytes_after: u64,
}

/// What was derived anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    /// Sessions that were read.
    pub sessions: u64,
    /// Messages that were derived.
    pub messages: u64,
    /// Where the old ones are.
    pub backup: String,
}
