//! What people set at a view: saved, tested, and put into what agents are configured with. Knows nothing of links and turns.
//!
//! | module | owns |
//! | --- | --- |
//! | `clerk` | carries out what a view wants of settings |
//! | `find` | model servers on this very machine |
//! | `probe` | sees whether a model server answers, and what it has |

mod clerk;
mod find;
mod probe;

use serde_json::Value;
use switchboard_types::{ModelServer, ServedModel, Settings};

pub use clerk::Clerk;
pub(crate) use find::OLLAMA_HOST;

use crate::agents::Address;
use crate::secrets::Tokens;

/// Whether there is a token for the model server at this address.
#[must_use]
pub fn fits(tokens: &Tokens, base_url: Option<&str>) -> bool {
    let origin = base_url.and_then(|url| Address::read(url).ok()).map(|address| address.origin());
    match (&tokens.model_server, origin) {
        (Some(token), Some(origin)) => token.bound.as_ref().is_none_or(|bound| *bound == origin),
        (_, None) | (None, _) => false,
    }
}

/// What the server at this address has, asked without a token; the error is for a person.
pub(crate) async fn served(base_url: &str) -> Result<Vec<ServedModel>, String> {
    let found = probe::look(base_url, probe::Token::None, probe::PATIENCE).await;
    found.served.map(|(_, models)| models).ok_or(found.message)
}

/// The model servers of this machine; `named` is what [`OLLAMA_HOST`] says.
pub(crate) async fn found(named: Option<&str>) -> Vec<ModelServer> {
    find::look(named).await.0
}

/// What an agent is configured with: its own configuration, and what people have set where that says nothing. Which files are
/// asked about is the host's own business.
#[must_use]
pub fn for_agent(settings: &Settings, own: Value) -> Value {
    let settings = Settings { sensitive_file_patterns: None, ..settings.clone() };
    match (serde_json::to_value(settings), own) {
        (Ok(Value::Object(mut all)), Value::Object(own)) => {
            all.extend(own);
            Value::Object(all)
        }
        (_, own) => own,
    }
}

/// What the built-in agent is told: limits always, models only where they are those of its own server, and which that is: one that
/// runs may still work with another.
#[must_use]
pub fn for_model(settings: &Settings, base_url: &str, own: Value) -> Value {
    let origin = |url: &str| Address::read(url).ok().map(|address| address.origin());
    let is_its_own = settings.base_url.as_deref().and_then(origin).is_some_and(|set| origin(base_url) == Some(set));
    let settings = Settings { completion_model: None, max_active_sessions: None, ..settings.clone() };
    let settings = if is_its_own {
        settings
    } else {
        Settings { base_url: None, agent_model: None, ask_model: None, edit_model: None, ..settings }
    };
    for_agent(&settings, own)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_types::{Patterns, Temperature, Unasked};

    use super::*;

    #[test]
    fn an_agents_own_configuration_goes_before_what_people_have_set() {
        let settings = Settings {
            agent_model: Some("big".to_owned()),
            max_iterations: Some(5),
            temperature: Some(Temperature(70)),
            sensitive_file_patterns: Some(Patterns(vec![("x".to_owned(), Unasked::May)])),
            ..Settings::default()
        };
        let made = for_agent(&settings, json!({ "depth": 1, "maxIterations": 9 }));
        assert_eq!(made, json!({ "depth": 1, "maxIterations": 9, "agentModel": "big", "temperature": 0.7 }));
        assert_eq!(for_agent(&Settings::default(), json!({ "depth": 1 })), json!({ "depth": 1 }));
    }

    #[test]
    fn the_models_of_another_server_are_not_told_to_the_built_in_agent() {
        let settings = Settings {
            base_url: Some("http://127.0.0.1:11434".to_owned()),
            ask_model: Some("small".to_owned()),
            max_iterations: Some(5),
            ..Settings::default()
        };
        let here = for_model(&settings, "http://127.0.0.1:11434/v1", json!({}));
        let own = json!({ "baseUrl": "http://127.0.0.1:11434", "askModel": "small", "maxIterations": 5 });
        assert_eq!(here, own);
        assert_eq!(for_model(&settings, "http://127.0.0.1:1234", json!({})), json!({ "maxIterations": 5 }));
    }
}
