//! What an agent says of itself: its log, its commands, its options, how to sign in. Plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::OptionId;

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For whoever looks.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
    /// The agent's process wrote it to its error output.
    Stderr,
}

/// What a person may type after a slash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
}

/// Something that a person may set of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentOption {
    /// Its name for programs.
    pub id: OptionId,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// What it is about: `mode`, `model`, `thought_level`, or what else the agent calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub category: Option<String>,
    /// The choice that holds now.
    pub value: String,
    /// The choices; a switch has `true` and `false`.
    pub choices: Vec<OptionChoice>,
}

/// One choice of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct OptionChoice {
    /// For programs.
    pub value: String,
    /// For people.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// The choices that it belongs with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub group: Option<String>,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// Of what: `USD`, …
    pub currency: String,
}

/// A way to sign in at an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInMethod {
    /// Its name for programs.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// Who does it.
    pub by: SignInBy,
    /// For people: exactly what to do.
    pub todo: String,
}

/// Who carries out a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum SignInBy {
    /// The agent itself, when it is told to.
    Agent,
    /// A person, in a terminal.
    Terminal,
    /// A person, with a variable in the configuration.
    Variable,
}

/// What an agent still knows of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Everything: it went on where it was.
    Resumed,
    /// Everything: it read the conversation again.
    Loaded,
    /// Nothing but a summary that the host gives it with the next prompt.
    Summarized,
}
