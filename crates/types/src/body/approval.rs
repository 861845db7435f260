//! Questions to a person, their answers, and what is done once it is allowed. Plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::diff::FileDiff;
use crate::ids::{ApprovalId, CallId, ExecutionId, Time};
use crate::policy::{Containment, RuleWhat};

/// Something that was allowed, exactly as it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// Its name.
    pub id: ExecutionId,
    /// Who allowed it; absent if it was allowed for the whole session before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub approval: Option<ApprovalId>,
    /// What sort of thing it is.
    pub kind: ApprovalKind,
    /// For people: what happens.
    pub title: String,
    /// The command that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub command: Option<String>,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cwd: Option<String>,
    /// The file that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// How it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diff: Option<String>,
    /// SHA-256 over the exact bytes: what runs and where, or the file before and after.
    pub digest: String,
    /// Why nobody was asked, in plain words; absent if somebody was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unasked: Option<String>,
    /// How it is held in; absent where there is nothing to hold in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub containment: Option<Containment>,
    /// The call of a tool that it is done for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ExecutionEnd {
    /// The command ended by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// The command was ended by a signal.
    Signalled {
        /// The signal's name.
        signal: String,
    },
    /// A lent tool has given a result.
    Returned {},
    /// The file is written.
    Written {
        /// Its bytes now.
        bytes: u64,
    },
    /// It could not be done; nothing has changed.
    Failed {
        /// Why.
        message: String,
    },
    /// The host died while it ran: nobody knows, and it is not done again.
    Unknown {},
}

/// A question that a person (or a rule) must answer before something runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Its name within the session.
    pub id: ApprovalId,
    /// What sort of thing would happen.
    pub kind: ApprovalKind,
    /// For people: what would happen.
    pub title: String,
    /// The command that would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub command: Option<String>,
    /// Where it would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cwd: Option<String>,
    /// The file that would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// How it would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diff: Option<String>,
    /// How bad it could be.
    pub severity: Severity,
    /// Why a person is asked, in plain words.
    pub reason: String,
    /// The tool call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
    /// The answers that the agent itself offers; empty if ours are all there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ApprovalOption>>")]
    pub options: Vec<ApprovalOption>,
    /// SHA-256 over the exact bytes that are asked about, where the host itself would act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub digest: Option<String>,
    /// How the file would change, line by line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub change: Option<FileDiff>,
    /// The rule that an answer by rule would store; absent if none can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule: Option<RuleWhat>,
    /// Whether the command may be edited before it is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub editable: bool,
    /// How the command would be held in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub containment: Option<Containment>,
    /// When it is over if nobody has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expires: Option<Time>,
}

impl Approval {
    /// A question of which no more is known than this.
    #[must_use]
    pub fn new(id: ApprovalId, kind: ApprovalKind, title: impl Into<String>, severity: Severity) -> Self {
        Self {
            id,
            kind,
            title: title.into(),
            command: None,
            cwd: None,
            path: None,
            diff: None,
            severity,
            reason: String::new(),
            call: None,
            options: Vec::new(),
            digest: None,
            change: None,
            rule: None,
            editable: false,
            containment: None,
            expires: None,
        }
    }
}

/// An answer that an agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalOption {
    /// The agent's name for it.
    pub id: String,
    /// For people.
    pub name: String,
    /// What it comes to.
    pub kind: OptionKind,
}

/// What an answer that an agent offers comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// Yes, this time.
    AllowOnce,
    /// Yes, from now on.
    AllowAlways,
    /// No, this time.
    RejectOnce,
    /// No, from now on.
    RejectAlways,
    /// Something that we do not know; never chosen but by name.
    Other,
}

/// What sort of thing an approval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// A command runs.
    Command,
    /// A file changes.
    Edit,
    /// A tool is called.
    Tool,
}

/// How bad something could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Harmless as far as can be seen.
    Low,
    /// Worth a look.
    Medium,
    /// Could destroy work.
    High,
    /// Always asks.
    Critical,
}

/// What a person can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Yes, this time.
    AllowOnce,
    /// Yes, as long as the session lives.
    AllowSession,
    /// Yes, and by a stored rule from now on.
    AllowRule,
    /// No.
    Deny,
    /// No, and stop the turn.
    DenyStop,
}

/// How an approval came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Yes, this time.
    AllowOnce,
    /// Yes, as long as the session lives.
    AllowSession,
    /// Yes, and by a stored rule from now on.
    AllowRule,
    /// No; also what cancelling the turn answers.
    Deny,
    /// No, and stop the turn.
    DenyStop,
    /// Nobody answered in time, or before the turn died with its agent or its host.
    Expired,
}

impl From<Decision> for Resolution {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::AllowOnce => Self::AllowOnce,
            Decision::AllowSession => Self::AllowSession,
            Decision::AllowRule => Self::AllowRule,
            Decision::Deny => Self::Deny,
            Decision::DenyStop => Self::DenyStop,
        }
    }
}
