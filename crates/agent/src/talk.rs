//! A conversation with a model, in our own words. How a server wants it written is `crate::server`'s business.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the model is told to be. Only ever the first.
    System {
        /// What it says.
        text: String,
    },
    /// A person's words.
    User {
        /// Text and pictures, in order.
        parts: Vec<Part>,
    },
    /// The model's.
    Assistant {
        /// What it said aloud.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// What it thought before. Not sent again, unless a server wants it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        thought: String,
        /// What it wants done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// What came of a call.
    Tool {
        /// Of which call.
        call: String,
        /// The tool.
        name: String,
        /// What it gave, or why it failed.
        text: String,
        /// Whether it failed, was refused or was not done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

/// A piece of a person's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// They.
        text: String,
    },
    /// A picture.
    Image {
        /// Such as `image/png`.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
}

/// A call of a tool that a model wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its name within the conversation; made up where the server gave none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// With what.
    pub arguments: Arguments,
}

/// What a tool is called with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// As it should be.
    Object(Map<String, Value>),
    /// What the model wrote instead; it is told so.
    Broken(String),
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Which model.
    pub model: String,
    /// All that was said, the system's message first.
    pub messages: Vec<Message>,
    /// The tools; none for a plain answer.
    pub tools: Vec<ToolSpec>,
    /// How the tools are offered and called.
    pub calling: Calling,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// How many tokens of context the server should give it, where a server has to be told.
    pub context: Option<u32>,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calling {
    /// By the server's own way.
    #[default]
    Native,
    /// In its text, for models that know no other; the system's message says how.
    Text,
}

/// What one answer has used, as far as the server says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Tokens that the model was given.
    pub input: u64,
    /// Tokens that it gave.
    pub output: u64,
    /// How many of the input came from a cache.
    pub cached: u64,
    /// How many of the output were thinking.
    pub thought: u64,
}
