//! Sees whether a model server answers, and what models it has. Bounded in time and size; follows nothing elsewhere, and says
//! nothing of a token.

use std::time::Duration;

use serde_json::Value;
use switchboard_dialects::agent::engine::{AnswerTo, EngineRequest, Method, Payload, Request, Response};
use switchboard_types::limits::{MAX_MODEL_BYTES, MAX_MODELS};
use switchboard_types::{ServedModel, ServerKind};
use tokio::time::timeout;

use crate::agents::{Address, Caller};
use crate::server::Secret;

/// How long all of it may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The end of an address that names the second way already.
const VERSIONED: &str = "/v1";
/// Where a list of models is, and what they are called in it.
const WAYS: [Way; 2] = [
    Way { kind: ServerKind::Ollama, path: "/api/tags", list: "models", name: "name" },
    Way { kind: ServerKind::OpenAi, path: "/v1/models", list: "data", name: "id" },
];

/// What goes with a test.
#[derive(Debug)]
pub(super) enum Token {
    /// There is none.
    None,
    /// This one, which is bound to that very origin.
    Sent(Secret),
    /// There is one that is not sent; the words say why.
    Withheld(String),
}

/// How a test went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// What it speaks and has; none if it did not work.
    pub(super) served: Option<(ServerKind, Vec<ServedModel>)>,
    /// For a person: what there is, or what is wrong and what to do.
    pub(super) message: String,
}

struct Way {
    kind: ServerKind,
    path: &'static str,
    list: &'static str,
    name: &'static str,
}

/// What a server said to one way, the most telling last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    NotThere,
    Garbage,
    Failing(u16),
    Elsewhere,
    /// It wants a token, or another one.
    Unwelcome,
    Models(ServerKind, Vec<ServedModel>),
}

/// Asks the server at this address, for so long.
pub(super) async fn look(base_url: &str, token: Token, patience: Duration) -> Found {
    let (sent, withheld) = match token {
        Token::None => (None, None),
        Token::Sent(secret) => (Some(secret), None),
        Token::Withheld(why) => (None, Some(why)),
    };
    let base = base_url.trim_end_matches('/');
    let base = base.strip_suffix(VERSIONED).unwrap_or(base);
    let late = |_| format!("there was no answer within {} s; is it the right address?", patience.as_secs());
    let said = match Address::read(base).and_then(|address| Caller::new(address, sent.as_ref())) {
        Ok(caller) => timeout(patience, ask(&caller)).await.map_err(late).flatten(),
        Err(message) => Err(message),
    };
    let message = match said {
        Ok(Said::Models(kind, models)) => {
            return Found { message: counted(models.len()), served: Some((kind, models)) };
        }
        Ok(said) => in_words(&said, sent.is_some()),
        Err(message) => message,
    };
    let message = withheld.map(|why| format!("{message} ({why})")).unwrap_or(message);
    Found { served: None, message }
}

/// The first way that leads somewhere; else what is most worth saying.
async fn ask(caller: &Caller) -> Result<Said, String> {
    let mut best = Said::NotThere;
    for way in &WAYS {
        let request = Request {
            no: EngineRequest(0),
            session: None,
            method: Method::Get,
            path: way.path.to_owned(),
            payload: Payload::None,
            answer: AnswerTo::Dialect,
        };
        let response = caller.call(request).await.map_err(|failure| failure.message)?;
        best = best.max(read(way, &response));
        if matches!(best, Said::Models(..)) {
            break;
        }
    }
    Ok(best)
}

fn read(way: &Way, response: &Response) -> Said {
    match response.status {
        200 => {}
        401 | 403 => return Said::Unwelcome,
        300..=399 => return Said::Elsewhere,
        404 | 405 => return Said::NotThere,
        other => return Said::Failing(other),
    }
    let Ok(Value::Object(answer)) = serde_json::from_slice(&response.body) else { return Said::Garbage };
    let Some(Value::Array(list)) = answer.get(way.list) else { return Said::Garbage };
    let model = |model: &Value| {
        let name = model.get(way.name).and_then(Value::as_str)?.to_owned();
        Some(ServedModel { name, size: model.get("size").and_then(Value::as_u64) })
    };
    let fits = |model: &ServedModel| is_name(&model.name);
    Said::Models(way.kind, list.iter().filter_map(model).filter(fits).take(MAX_MODELS).collect())
}

/// Whether it can be a model's name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_MODEL_BYTES && !name.contains(char::is_control)
}

fn in_words(said: &Said, sent: bool) -> String {
    match said {
        Said::Unwelcome if sent => "it does not take the stored token; save another one".to_owned(),
        Said::Unwelcome => "it wants a token; save one for this address".to_owned(),
        Said::Elsewhere => "it sends elsewhere, which is not followed; set the address that it leads to".to_owned(),
        Said::Failing(status) => format!("it answers with status {status}; look at its own log"),
        Said::Garbage => {
            "something answers there, and it is no model server; check the address and the port".to_owned()
        }
        Said::NotThere | Said::Models(..) => {
            "it answers, and has neither /api/tags nor /v1/models; check the path of the address".to_owned()
        }
    }
}

pub(super) fn counted(models: usize) -> String {
    match models {
        0 => "it works, and has no model yet; let it fetch one".to_owned(),
        1 => "it works, and has one model".to_owned(),
        many => format!("it works, and has {many} models"),
    }
}
