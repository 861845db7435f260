//! An agent that works with a model of a server, written into the user's file: found again and changed, or added; comments and
//! order stay as they were. Never takes the name of an agent that is something else.

use std::iter;
use std::path::Path;

use serde_json::json;
use switchboard_types::{AgentName, Settings};
use toml_edit::{DocumentMut, Item, Value};

use super::edit::{AGENTS, DEFAULT, EditError, Held, Read, same_but, with_entry};
use super::save::{applied, put, write_into};
use super::settings::Config;
use super::values;
use crate::agents::{AgentKind, AgentSpec, SecretName};
use crate::calling::Address;
use crate::secrets::MODEL_SERVER;

/// What such an agent is called; the next ones have a number.
const NAME: &str = "local";
/// Names that are tried.
const MAX_NAMES: u32 = 100;

/// What is to work.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// Where the model is served.
    pub base_url: &'a str,
    /// Which one.
    pub model: &'a str,
    /// The stored token that belongs to that very place.
    pub secret: Option<&'a str>,
}

/// Has an agent work with the model, and says which. It becomes the default where nobody or the demo is; the settings name its
/// place and model too.
pub fn put_to_work(file: &Path, work: Work<'_>) -> Result<AgentName, EditError> {
    let held = Held::of(file)?;
    let before = held.read()?;
    let by_hand = || EditError::ByHand { file: file.to_owned() };
    let agent = wanted(&before.config, work)?;
    let change = Settings {
        base_url: Some(work.base_url.to_owned()),
        agent_model: Some(work.model.to_owned()),
        ..Settings::default()
    };
    let settings = applied(&before.config.settings, &change, &[]);
    if let Some(message) = values::error_in(&settings) {
        return Err(EditError::Refused(message));
    }
    let text = written(&held, &before, &agent, &settings).ok_or_else(by_hand)?;
    if text == before.text {
        return Ok(agent.name);
    }
    let after = held.would_be(&text)?;
    let default = if before.config.default_agent().is_demo() { &agent.name } else { &before.config.default_agent() };
    let about_host = |config: &Config| (config.durability, config.stillness, config.tools.clone());
    let as_meant = after.configured(&agent.name) == Some(&agent)
        && after.settings == settings
        && after.default_agent() == *default
        && same_but(&before.config, &after, &agent.name)
        && about_host(&before.config) == about_host(&after);
    if !as_meant {
        return Err(by_hand());
    }
    held.write(&text)?;
    Ok(agent.name)
}

/// The agent as it shall be: the first of its name that is one, or the first name that is free.
fn wanted(config: &Config, work: Work<'_>) -> Result<AgentSpec, EditError> {
    let mut names = iter::once(NAME.to_owned()).chain((2..=MAX_NAMES).map(|number| format!("{NAME}-{number}")));
    let mut found = names.find_map(|name| match config.configured(&AgentName::new(name.as_str())) {
        None => Some((AgentName::new(name), None)),
        Some(AgentSpec { name, kind: AgentKind::Model { base_url, secret, .. } }) => {
            Some((name.clone(), Some((base_url, secret))))
        }
        Some(_) => None,
    });
    let Some((name, had)) = found.take() else {
        let message = format!("all names from `{NAME}` to `{NAME}-{MAX_NAMES}` are taken; take an agent out first");
        return Err(EditError::Refused(message));
    };
    let place = |url: &str| Address::read(url).ok().map(|address| address.origin());
    // A secret that a person has named stays with its place; the token of the settings goes by what is stored now.
    let own = had.filter(|(base_url, _)| place(base_url) == place(work.base_url));
    let own = own.and_then(|(_, secret)| secret.clone()).filter(|secret| secret.name != MODEL_SERVER);
    let secret = own.or_else(|| work.secret.map(SecretName::of_user));
    let (base_url, model) = (work.base_url.to_owned(), work.model.to_owned());
    // What people have set is put in where it is started.
    Ok(AgentSpec { name, kind: AgentKind::Model { base_url, model, secret, settings: json!({}) } })
}

/// The text with all of it; none if it is written in a way that cannot be carried on.
fn written(held: &Held<'_>, before: &Read, agent: &AgentSpec, settings: &Settings) -> Option<String> {
    let mut document = before.document.clone();
    write_into(&mut document, &before.config.settings, settings)?;
    if before.config.configured(&agent.name).is_some() {
        change(&mut document, agent)?;
    }
    let is_default = before.config.default_agent().is_demo();
    let has_keys = document.iter().any(|(_, item)| item.is_value());
    if is_default && has_keys {
        put(document.as_table_mut(), DEFAULT, Some(Value::from(agent.name.as_str())));
    }
    let mut text = document.to_string();
    if is_default && !has_keys {
        let between = if text.is_empty() { "" } else { "\n" };
        text = format!("{DEFAULT} = \"{}\"\n{between}{text}", agent.name);
    }
    if before.config.configured(&agent.name).is_some() {
        return Some(text);
    }
    let document = text.parse().ok()?;
    with_entry(held, (&text, &document), agent)
}

/// Changes the entry that is there.
fn change(document: &mut DocumentMut, agent: &AgentSpec) -> Option<()> {
    let AgentKind::Model { base_url, model, secret, .. } = &agent.kind else { return None };
    let agents = document.get_mut(AGENTS)?.as_table_like_mut()?;
    let entry = agents.get_mut(agent.name.as_str()).and_then(Item::as_table_like_mut)?;
    let secret = secret.as_ref().map(|secret| secret.name.as_str());
    for (key, wanted) in [("base_url", Some(base_url.as_str())), ("model", Some(model.as_str())), ("secret", secret)] {
        if entry.get(key).and_then(Item::as_str) != wanted {
            put(entry, key, wanted.map(Value::from));
        }
    }
    Some(())
}
