//! The shapes of the dialect's messages, as the official schema has them, and what the host asks for. Holds no behaviour.

use agent_client_protocol_schema::v1::{
    AgentNotification, AgentRequest, AgentResponse, ClientNotification, ClientRequest, ClientResponse,
};
use schemars::schema_for;
use serde_json::{Value, json};

/// What the host asks of an agent, and when.
pub const HOST_ASKS: [(&str, &str); 11] = [
    ("initialize", "first, with what the host offers: files, terminals, switches, notices"),
    ("authenticate", "when you have chosen a sign-in that the agent carries out itself"),
    ("session/new", "when a tab needs the agent and nothing can be taken up again"),
    ("session/resume", "after a restart, if the agent can: it goes on where it was"),
    ("session/load", "after a restart, if the agent can do that only: it reads the conversation again"),
    ("session/prompt", "for each prompt, never two at once in a session"),
    ("session/cancel", "when a turn is cancelled; its open questions are withdrawn after it"),
    ("session/set_config_option", "when you choose an option"),
    ("session/set_mode", "the same, for agents that have modes only"),
    ("session/set_model", "the same, for agents of the time before options"),
    ("session/close", "when a tab is closed, if the agent can"),
];

/// The JSON Schemas of both directions, the params and results of each method: `x-method` in them names it.
#[must_use]
pub fn schema() -> Value {
    json!({
        "hostToAgent": {
            "requests": schema_for!(ClientRequest),
            "notifications": schema_for!(ClientNotification),
            "results": schema_for!(ClientResponse),
        },
        "agentToHost": {
            "requests": schema_for!(AgentRequest),
            "notifications": schema_for!(AgentNotification),
            "results": schema_for!(AgentResponse),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::AGENT_ASKS;
    use super::*;

    #[test]
    fn every_method_is_one_of_the_schema_but_the_one_that_is_older() {
        let schema = schema().to_string();
        let methods = HOST_ASKS.iter().chain(&AGENT_ASKS).map(|(method, _)| *method);
        for method in methods.filter(|method| *method != "session/set_model") {
            assert!(schema.contains(&format!("\"x-method\":\"{method}\"")), "{method}");
        }
    }
}
