//! A piece of a streamed answer and the wait before it. Knows no provider.

use std::time::Duration;

use serde_json::Value;

/// Some bytes of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) wait: Duration,
    pub(crate) text: String,
}

impl Frame {
    pub(crate) fn raw(text: &str) -> Self {
        Self { wait: Duration::ZERO, text: text.to_owned() }
    }

    /// A server-sent event without a name.
    pub(crate) fn data(value: &Value) -> Self {
        Self { wait: Duration::ZERO, text: format!("data: {value}\n\n") }
    }

    /// A server-sent event that is named after its own `type`.
    pub(crate) fn named(value: &Value) -> Self {
        let name = value["type"].as_str().unwrap_or_default();
        Self { wait: Duration::ZERO, text: format!("event: {name}\ndata: {value}\n\n") }
    }

    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}
