//! Settings that people change at a view: typed, for the user and for a workspace. What belongs to one session is its policy
//! and its agent's options. Plain data.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::{AgentName, WorkspaceRoot};
use crate::policy::Patterns;

/// Settings, each of them perhaps not set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Where models are served.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base_url: Option<String>,
    /// The model for work with tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent_model: Option<String>,
    /// The model for questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ask_model: Option<String>,
    /// The model for edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub edit_model: Option<String>,
    /// The model for completions in an editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub completion_model: Option<String>,
    /// Rounds of one turn, from a model's answer to the results of its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_iterations: Option<u32>,
    /// How long a call of a tool may take if nobody says, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tool_timeout: Option<u64>,
    /// Sessions whose turns run at once; the others wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_active_sessions: Option<u32>,
    /// How freely a model chooses its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub temperature: Option<Temperature>,
    /// Which files may be changed without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sensitive_file_patterns: Option<Patterns>,
}

/// A temperature in hundredths; on the wire a number such as 0.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, TS)]
#[schemars(with = "f64")]
#[ts(type = "number")]
pub struct Temperature(pub u16);

impl Serialize for Temperature {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 100.0)
    }
}

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Self::from_number(number).ok_or_else(|| serde::de::Error::custom("a temperature is from 0 to 2"))
    }
}

impl Temperature {
    /// From 0 to 2, to the nearest hundredth.
    #[must_use]
    pub fn from_number(number: f64) -> Option<Self> {
        let hundredths = (number * 100.0).round();
        // Within the range there is nothing to lose.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 200 fits")]
        (0.0..=200.0).contains(&hundredths).then_some(Self(hundredths as u16))
    }
}

/// Whose settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsScope {
    /// The user's, everywhere.
    User,
    /// Those of one workspace, which must be trusted.
    Workspace(WorkspaceRoot),
}

/// What is asked about settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsRequest {
    /// Change some; those that are not named stay as they are. An empty text, the number 0 and an empty list of patterns take
    /// one out. Answered by [`SettingsAnswer::Saved`].
    Save {
        /// Whose.
        scope: SettingsScope,
        /// The new ones.
        change: Box<Settings>,
        /// Those that are taken out although no value of theirs says so.
        unset: Vec<Unset>,
    },
    /// Keep the token for the model server, or forget it. Answered by [`SettingsAnswer::Token`].
    SaveToken {
        /// Empty forgets it.
        token: SecretText,
        /// Where it may be sent; the address of the settings if absent.
        base_url: Option<String>,
    },
    /// See whether a model server answers, and what it has. Answered by [`SettingsAnswer::Tested`]; an address that worked is
    /// saved.
    Test {
        /// Where; the address of the settings if absent.
        base_url: Option<String>,
    },
    /// Look for model servers on this very machine. Answered by [`SettingsAnswer::Servers`].
    FindServers {},
    /// Have an agent that works with this model, in the user's configuration. Asked again it changes nothing more. Answered by
    /// [`SettingsAnswer::InUse`].
    UseModel {
        /// Where the model is served.
        base_url: String,
        /// Which one.
        model: String,
    },
}

/// A setting of which every value means something, so that none of them can take it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Unset {
    /// How freely a model chooses its words: 0 is as good as any.
    Temperature,
}

/// What a model server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    /// Ollama's own API.
    Ollama,
    /// The API that OpenAI made common.
    OpenAi,
}

/// A model that a server has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServedModel {
    /// Its name there.
    pub name: String,
    /// Its bytes, where the server tells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub size: Option<u64>,
}

/// A model server that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelServer {
    /// Where it is.
    pub base_url: String,
    /// What it speaks.
    pub kind: ServerKind,
    /// What it has.
    pub models: Vec<ServedModel>,
}

/// What is answered about settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsAnswer {
    /// They are stored. Everybody who watches is told by [`crate::Told::Settings`].
    Saved {},
    /// Whether there is a token now.
    Token {
        /// There is one.
        has_token: bool,
    },
    /// How the test went.
    Tested {
        /// Whether it worked.
        success: bool,
        /// For a person: what there is, or what is wrong and what to do.
        message: String,
        /// The models that it has.
        models: Vec<String>,
    },
    /// What was found on this machine.
    Servers {
        /// The servers that answer, perhaps none.
        servers: Vec<ModelServer>,
        /// For a person: what there is, or where was looked and what to do.
        message: String,
    },
    /// An agent works with that model, as soon as the configuration is read again.
    InUse {
        /// Its name.
        agent: AgentName,
    },
}

/// All settings as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsState {
    /// The user's.
    pub user: Settings,
    /// Those of trusted workspaces that have some.
    pub workspaces: Vec<(WorkspaceRoot, Settings)>,
    /// Whether there is a token for the model server of the user's settings.
    pub has_token: bool,
    /// Where tokens are kept, for a person.
    pub tokens_in: String,
    /// Whether nothing was set up yet.
    pub first_run: bool,
}

impl Settings {
    /// These, and what they leave open from others.
    #[must_use]
    pub fn over(&self, others: &Self) -> Self {
        let first = |mine: &Option<String>, theirs: &Option<String>| mine.clone().or_else(|| theirs.clone());
        Self {
            base_url: first(&self.base_url, &others.base_url),
            agent_model: first(&self.agent_model, &others.agent_model),
            ask_model: first(&self.ask_model, &others.ask_model),
            edit_model: first(&self.edit_model, &others.edit_model),
            completion_model: first(&self.completion_model, &others.completion_model),
            max_iterations: self.max_iterations.or(others.max_iterations),
            tool_timeout: self.tool_timeout.or(others.tool_timeout),
            max_active_sessions: self.max_active_sessions.or(others.max_active_sessions),
            temperature: self.temperature.or(others.temperature),
            // The last match wins, and a workspace can only have more files asked about.
            sensitive_file_patterns: match (&others.sensitive_file_patterns, &self.sensitive_file_patterns) {
                (Some(theirs), Some(mine)) => Some(Patterns([theirs.0.clone(), mine.0.clone()].concat())),
                (Some(one), None) | (None, Some(one)) => Some(one.clone()),
                (None, None) => None,
            },
        }
    }
}

impl SettingsState {
    /// What holds in a workspace.
    #[must_use]
    pub fn of(&self, workspace: Option<&WorkspaceRoot>) -> Settings {
        let own = self.workspaces.iter().find(|(root, _)| Some(root) == workspace);
        own.map_or_else(|| self.user.clone(), |(_, own)| own.over(&self.user))
    }
}

/// A secret on its way from a view to where it is kept. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretText(…)")
    }
}
