//! The built-in agent over a model's server, for `agents add` and `agents list`: which server, which model. Writes nothing.

use serde_json::json;
use switchboard_types::{AgentName, ModelServer};

use crate::agent::base_url_of_ollama;
use crate::agents::{AgentKind, AgentSpec, SecretName};
use crate::cli::args::{AddArgs, KindArg};
use crate::cli::exit::Failure;
use crate::settings::{self, OLLAMA_HOST};

/// The name by which it is added without more words.
pub(super) const OLLAMA: &str = "ollama";
/// Models that are named in an error.
const MAX_NAMED: usize = 20;

/// Whether what is to be added is such an agent.
pub(super) fn is_meant(args: &AddArgs) -> bool {
    let named = args.model.is_some() || args.base_url.is_some() || args.secret.is_some();
    args.kind == Some(KindArg::Model) || args.command.is_empty() && (named || args.name == OLLAMA)
}

/// The agent. Where no model is named, the server is asked, without a token.
pub(super) async fn agent(args: &AddArgs) -> Result<AgentSpec, Failure> {
    if !args.command.is_empty() {
        return Err(Failure::usage("an agent of kind `model` is built in and has no command of its own"));
    }
    if args.kind.is_some_and(|kind| kind != KindArg::Model) {
        return Err(Failure::usage("`--model`, `--base-url` and `--secret` are for agents of kind `model`"));
    }
    let base_url = args.base_url.clone().unwrap_or_else(|| base_url_of_ollama(variable().as_deref()));
    let model = match &args.model {
        Some(model) => model.clone(),
        None => only_model(&base_url, args).await?,
    };
    let secret = args.secret.as_ref().map(SecretName::of_user);
    let kind = AgentKind::Model { base_url, model, secret, settings: json!({}) };
    Ok(AgentSpec { name: AgentName::new(args.name.as_str()), kind })
}

async fn only_model(base_url: &str, args: &AddArgs) -> Result<String, Failure> {
    let say = |found: &str| {
        Failure::usage(format!("{found}; say which: `switchboard agents add {} --model MODEL`", args.name))
    };
    let models = settings::served(base_url).await.map_err(|why| {
        let hint = "start the server, name another one with `--base-url`, or name a model with `--model`";
        Failure::unreachable(format!("{base_url} was asked for its models, and {why}; {hint}"))
    })?;
    match models.as_slice() {
        [] => Err(Failure::not_found(format!("{base_url} has no model yet; `ollama pull qwen3:8b` fetches one"))),
        [only] => Ok(only.name.clone()),
        many => {
            let names: Vec<_> = many.iter().take(MAX_NAMED).map(|model| model.name.as_str()).collect();
            let more = if many.len() > MAX_NAMED { ", …" } else { "" };
            Err(say(&format!("{base_url} has {} models: {}{more}", many.len(), names.join(", "))))
        }
    }
}

/// The server of this machine, if it answers.
pub(super) async fn here() -> Option<ModelServer> {
    settings::found(variable().as_deref()).await.into_iter().next()
}

fn variable() -> Option<String> {
    std::env::var(OLLAMA_HOST).ok()
}
