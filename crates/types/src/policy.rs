//! What the policy judges, by what it judges, and what it says. Plain data; the judging is the core's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::body::{Outcome, Severity, TitleBy};
use crate::ids::{RuleId, Time, ToolName, WorkspaceRoot};
use crate::source::{Setup, Upstream};
use crate::tool::Effect;

/// What is known of something that may do harm: gathered where files can be looked at, judged where they cannot.
#[derive(Clone, Debug, PartialEq)]
pub enum Facts {
    /// A command would run.
    Command(Box<CommandFacts>),
    /// A file would change.
    Edit(EditFacts),
    /// A tool would be called that a view lends.
    Tool {
        /// Which one.
        tool: ToolName,
        /// What a call of it can do, as its lender says.
        effect: Effect,
    },
}

/// What is known of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFacts {
    /// The text for a shell; none if a program runs with words that no shell reads.
    pub line: Option<String>,
    /// The program and its arguments, where there is no line.
    pub argv: Vec<String>,
    /// Variables that are set for it, besides those that every child gets.
    pub env: Vec<(String, String)>,
    /// The folder it runs in, absolute and without links.
    pub cwd: String,
    /// Where that is.
    pub cwd_place: Place,
    /// Every program that the reading of the command names, in its order.
    pub programs: Vec<ProgramFacts>,
    /// Every file that the reading of the command says is written, in its order.
    pub targets: Vec<TargetFacts>,
}

/// Where a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFacts {
    /// As it is written.
    pub name: String,
    /// Its file, absolute and without links; none if there is no such program.
    pub path: Option<String>,
    /// Where that lies: what lies in the workspace can be written by whoever works there.
    pub place: Place,
}

/// A file that a command writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFacts {
    /// As it is written.
    pub written: String,
    /// Where it leads.
    pub place: Place,
}

/// Where a path leads once every link is followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Beneath the workspace's folder; the path from there, `/` between its parts, empty for the folder itself.
    Inside(String),
    /// Elsewhere; absolute.
    Outside(String),
    /// Nobody can say: it is made by the command itself, or what is on the way cannot be read.
    #[default]
    Unknown,
}

/// What is known of a change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditFacts {
    /// Where the file really is.
    pub place: Place,
    /// How many names the file has; 0 if there is no such file yet.
    pub names: u64,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// An agent of the configuration.
    Agent,
    /// The demo agent, which is a part of the program.
    Demo,
    /// A person, at the bench.
    Person,
}

/// How a session's agent is meant to work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It may ask for anything.
    #[default]
    Agent,
    /// It plans: nothing is written or run.
    Plan,
    /// It answers: nothing is written or run.
    Ask,
    /// It edits: nothing is run.
    Edit,
}

/// Globs of files, in order; the last that matches decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(transparent)]
pub struct Patterns(pub Vec<(String, Unasked)>);

/// Whether a file may be changed without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Unasked {
    /// It may.
    May,
    /// Somebody is asked.
    MayNot,
}

/// What a person has set for one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionPolicy {
    /// How its agent is meant to work.
    pub mode: Mode,
    /// Commands that are neither high nor critical, and can be read, run without a question.
    pub auto_commands: bool,
    /// Files that the patterns would ask about are changed without a question; never those that are protected.
    pub auto_edits: bool,
    /// Instead of the patterns of the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub patterns: Option<Patterns>,
}

/// A change of it; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyChange {
    /// How its agent is meant to work.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<Mode>,
    /// See [`SessionPolicy::auto_commands`].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub auto_commands: Option<bool>,
    /// See [`SessionPolicy::auto_edits`].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub auto_edits: Option<bool>,
    /// See [`SessionPolicy::patterns`]; an empty list goes back to those of the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub patterns: Option<Patterns>,
}

/// What a session keeps across restarts besides its log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionKeeps {
    /// What a person has set.
    pub policy: SessionPolicy,
    /// What a person has allowed for the session, as [`crate::Prepared::scope`] names it.
    pub grants: Vec<String>,
    /// How it is to be set up at its agent.
    pub setup: Setup,
    /// Who gave it its title.
    pub titled: TitleBy,
    /// How its last turn ended, if one has.
    pub ended: Option<Outcome>,
    /// How far the log of its agent was taken, if that works elsewhere.
    pub upstream: Option<Upstream>,
}

/// A stored decision for what matches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// Where it holds; everywhere if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub workspace: Option<WorkspaceRoot>,
    /// What it says.
    pub effect: RuleEffect,
    /// What it is about.
    pub what: RuleWhat,
    /// Since when.
    pub created: Time,
    /// How it came about, for people.
    pub origin: String,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// It is done without a question.
    Allow,
    /// It is not done.
    Deny,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RuleWhat {
    /// A program with arguments, in a folder or below it.
    Command {
        /// The program's file, absolute and without links.
        program: String,
        /// Its arguments, one after the other.
        args: Vec<ArgPattern>,
        /// The folder, absolute.
        cwd: String,
    },
    /// Changes of files.
    Edit {
        /// A glob of paths from the workspace's folder.
        glob: String,
    },
    /// Calls of a lent tool.
    Tool {
        /// Which one.
        tool: ToolName,
    },
}

/// What an argument must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ArgPattern {
    /// Exactly this.
    Is {
        /// The argument.
        arg: String,
    },
    /// Anything, once, that is no flag.
    Any {},
    /// Anything, any number of times; only at the end.
    Rest {},
}

/// What the policy says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// How bad it could be.
    pub severity: Severity,
    /// What is to be done about it.
    pub decision: Verdict,
    /// Why, in plain words, the weightiest first; never empty.
    pub reasons: Vec<String>,
    /// The rule that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule: Option<RuleId>,
    /// The narrowest rule that would allow it from now on; none if no rule can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub suggestion: Option<RuleWhat>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Do it.
    Allow,
    /// Ask a person.
    Ask,
    /// Do not.
    Deny,
}

/// How commands are held in by the operating system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Containment {
    /// They are.
    Works {
        /// By what: `bubblewrap 0.8.0`.
        by: String,
    },
    /// They are not.
    None {
        /// Why, and what to do about it.
        reason: String,
    },
    /// They are not, and a person requires it: no command runs.
    Missing {
        /// Why, and what to do about it.
        reason: String,
    },
}

/// How an allowed command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunAs {
    /// Just as it was shown to a person, by a shell if it is a line.
    Shown,
    /// As the words that were read and judged, without a shell: nobody has looked at the text.
    Judged,
}
