//! Sees whether a model server answers, and what models it has. Bounded in time and size; follows nothing elsewhere, and says
//! nothing of a token.

use std::time::Duration;

use switchboard_agent::server::{self, Flavor, models};
use switchboard_dialects::agent::engine::{AnswerTo, EngineRequest, Method, Payload, Request, Response};
use switchboard_types::limits::{MAX_MODEL_BYTES, MAX_MODELS};
use switchboard_types::{ServedModel, ServerKind};
use tokio::time::timeout;

use crate::agents::{Address, Caller};
use crate::server::Secret;

/// How long all of it may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Ways in which a server may tell its models, in the order in which they are tried.
const WAYS: [(Flavor, ServerKind); 2] = [(Flavor::Ollama, ServerKind::Ollama), (Flavor::OpenAi, ServerKind::OpenAi)];

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
    // Paths are put together below the origin, since each way has its own below the same address.
    let origin = Address::read(base_url).and_then(|address| Address::read(&address.origin()));
    let late = |_| format!("there was no answer within {} s; is it the right address?", patience.as_secs());
    let said = match origin.and_then(|address| Caller::new(address, sent.as_ref())) {
        Ok(caller) => timeout(patience, ask(&caller, base_url)).await.map_err(late).flatten(),
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
async fn ask(caller: &Caller, base_url: &str) -> Result<Said, String> {
    let mut best = Said::NotThere;
    for (flavor, kind) in WAYS {
        let request = Request {
            no: EngineRequest(0),
            session: None,
            method: Method::Get,
            path: server::path_below(base_url, models::list_path(flavor)),
            payload: Payload::None,
            answer: AnswerTo::Dialect,
        };
        let response = caller.call(request).await.map_err(|failure| failure.message)?;
        best = best.max(read(flavor, kind, &response));
        if matches!(best, Said::Models(..)) {
            break;
        }
    }
    Ok(best)
}

fn read(flavor: Flavor, kind: ServerKind, response: &Response) -> Said {
    match response.status {
        200 => {}
        401 | 403 => return Said::Unwelcome,
        300..=399 => return Said::Elsewhere,
        404 | 405 => return Said::NotThere,
        other => return Said::Failing(other),
    }
    let Some(list) = models::read_list(flavor, &response.body) else { return Said::Garbage };
    let served = list.into_iter().map(|model| ServedModel { name: model.name, size: model.size });
    Said::Models(kind, served.take(MAX_MODELS).collect())
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
