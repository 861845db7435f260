//! Modes, models and what people have set; and what is known of the server that has the models.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{SetSessionConfigOptionRequest, SetSessionModeRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_agent::server::Flavor;
use switchboard_agent::trouble::Trouble;
use switchboard_agent::worker::{Facts, Heard, Limits, Mode};
use switchboard_dialects::jsonrpc::Debt;

use super::{Desk, Held, News, invalid, no_session, typed};
use crate::agent::far::Known;
use crate::agent::session::Session;
use crate::agent::show;

/// Tokens that Ollama is told to give a model of which it does not say how many it can read.
const OLLAMA_WINDOW: u32 = 8_192;
/// Tokens of a model of another server that does not say.
const OTHER_WINDOW: u32 = 32_768;
/// Tokens that Ollama is told to give a model at most: they cost memory, whether they are used or not.
const MAX_OLLAMA_WINDOW: u32 = 32_768;
/// Time of one call if nobody says how much: a build or its tests take longer than the tools of a person's bench.
const TOOL_MS: u64 = 120_000;
/// Bytes of a model's name.
const MAX_MODEL_BYTES: usize = 256;

/// What people have set at the host.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Settings {
    agent_model: Option<String>,
    ask_model: Option<String>,
    edit_model: Option<String>,
    max_iterations: Option<u32>,
    /// In milliseconds.
    tool_timeout: Option<u64>,
    temperature: Option<f64>,
}

impl Settings {
    pub(super) fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            rounds: self.max_iterations.unwrap_or(usual.rounds),
            tool_ms: self.tool_timeout.unwrap_or(TOOL_MS),
            ..usual
        }
    }

    pub(super) fn temperature(&self) -> Option<f64> {
        self.temperature
    }

    fn model(&self, mode: Mode) -> Option<&String> {
        match mode {
            Mode::Agent | Mode::Plan => self.agent_model.as_ref(),
            Mode::Ask => self.ask_model.as_ref().or(self.agent_model.as_ref()),
            Mode::Edit => self.edit_model.as_ref().or(self.agent_model.as_ref()),
        }
    }
}

impl Desk {
    /// The model that answers: the one that a person chose here, else what the mode's setting says, else the one that the agent
    /// was started with, else one of the server's.
    pub(super) fn model_for(&self, chosen: Option<&str>, mode: Mode) -> String {
        let set = || self.settings.model(mode).map(String::as_str);
        let first = || self.known.as_ref().ok().and_then(|known| known.first()).map(|model| model.name.as_str());
        chosen.or_else(set).or(self.options.model.as_deref()).or_else(first).unwrap_or_default().to_owned()
    }

    pub(super) fn model_of(&self, session: &Session) -> String {
        self.model_for(session.chosen.as_deref(), session.mode())
    }

    /// What is known of a model.
    pub(super) fn facts(&self, model: String) -> Facts {
        let flavor = self.known.as_ref().map(|known| known.flavor).unwrap_or(Flavor::Ollama);
        let known = self.known.as_ref().ok().and_then(|known| known.model(&model));
        let told = known.and_then(|known| known.context);
        let context = match flavor {
            Flavor::Ollama => told.unwrap_or(OLLAMA_WINDOW).min(MAX_OLLAMA_WINDOW),
            Flavor::OpenAi => told.unwrap_or(OTHER_WINDOW),
        };
        Facts {
            context: Some(context),
            tools: known.and_then(|known| known.tools),
            images: known.and_then(|known| known.images),
            model,
        }
    }

    /// Every session works with what is known now.
    fn refresh(&mut self) {
        let ids: Vec<String> = self.sessions.keys().cloned().collect();
        for id in ids {
            self.refresh_one(&id);
        }
    }

    fn refresh_one(&mut self, id: &str) {
        let Some(model) = self.sessions.get(id).map(|session| self.model_of(session)) else { return };
        let (facts, limits, temperature) = (self.facts(model), self.settings.limits(), self.settings.temperature());
        if let Some(session) = self.sessions.get_mut(id) {
            session.worker.set_facts(facts);
            session.worker.set_limits(limits, temperature);
        }
    }

    /// Learns what a model can do that is used now, where the server would say and has not been asked.
    fn learn(&mut self) {
        let Ok(known) = &self.known else {
            // The look that is under way, if any, may not know of it.
            return if self.looking.is_some() {
                self.look()
            };
        };
        let modes = show::MODES.iter().map(|(mode, ..)| self.model_for(None, *mode));
        let used = self.sessions.values().map(|session| self.model_of(session)).chain(modes);
        let is_unknown =
            |name: String| known.model(&name).is_some_and(|model| model.context.is_none() && model.tools.is_none());
        if known.flavor == Flavor::Ollama && used.into_iter().any(is_unknown) {
            self.look();
        }
    }

    fn options_of(&self, id: &str) -> Value {
        let model = self.sessions.get(id).map(|session| self.model_of(session)).unwrap_or_default();
        show::options(&model, self.known.as_deref().ok())
    }

    /// Looks at the server, off this task; what waits for it goes on then.
    pub(super) fn look(&mut self) {
        if self.looking.is_some() {
            self.looks_again = true;
            return;
        }
        let mut wanted: Vec<String> = self.sessions.values().map(|session| self.model_of(session)).collect();
        wanted.extend(show::MODES.iter().map(|(mode, ..)| self.model_for(None, *mode)));
        wanted.retain(|name| !name.is_empty());
        wanted.sort();
        wanted.dedup();
        let (far, news) = (Arc::clone(&self.far), self.news.clone());
        let looking = tokio::spawn(async move {
            let known = far.look(wanted).await;
            let _ = news.send(News::Looked(known)).await;
        });
        self.looking = Some(looking.abort_handle());
    }

    pub(super) fn looked(&mut self, known: Result<Known, Trouble>) {
        self.looking = None;
        let before = self.known.as_ref().ok().map(|known| names(known));
        self.known = known.map(Arc::new);
        self.refresh();
        if self.known.as_ref().ok().map(|known| names(known)) != before {
            let ids: Vec<String> = self.sessions.keys().cloned().collect();
            for id in ids {
                let options = self.options_of(&id);
                self.update(&id, show::options_changed(options));
            }
        }
        // What waits for the models of the settings waits until they are known too.
        if std::mem::take(&mut self.looks_again) && self.known.is_ok() {
            return self.look();
        }
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Opening(debt, opening) => self.open(debt, *opening),
                Held::Prompt { session, parts, .. } => self.hear(&session, Heard::Prompt(parts)),
            }
        }
    }

    pub(super) fn set_mode(&mut self, debt: Debt, params: &str) {
        let request: SetSessionModeRequest = match typed(params) {
            Ok(request) => request,
            Err(failure) => return self.refuse(debt, &failure),
        };
        let id = request.session_id.to_string();
        match self.change_mode(&id, &request.mode_id.to_string()) {
            Ok(()) => self.answer(debt, &json!({})),
            Err(failure) => self.refuse(debt, &failure),
        }
    }

    fn change_mode(&mut self, id: &str, mode: &str) -> Result<(), switchboard_dialects::jsonrpc::Failure> {
        let Some(session) = self.sessions.get_mut(id) else { return Err(no_session(id)) };
        let Some(mode) = show::mode_of(mode) else {
            let all: Vec<_> = show::MODES.iter().map(|(_, id, ..)| *id).collect();
            return Err(invalid(format!("there is no such mode; there are {}", all.join(", "))));
        };
        session.worker.set_mode(mode);
        let kept = session.book.change(|header| show::id_of(mode).clone_into(&mut header.mode));
        self.say_if_unkept(id, kept);
        self.update(id, show::mode_changed(mode));
        // Each mode may have a model of its own.
        self.refresh_one(id);
        self.learn();
        let options = self.options_of(id);
        self.update(id, show::options_changed(options));
        Ok(())
    }

    pub(super) fn set_option(&mut self, debt: Debt, params: &str) {
        let request: SetSessionConfigOptionRequest = match typed(params) {
            Ok(request) => request,
            Err(failure) => return self.refuse(debt, &failure),
        };
        let (id, option) = (request.session_id.to_string(), request.config_id.to_string());
        let value = serde_json::to_value(&request.value).unwrap_or_default();
        let value = value.as_str().or_else(|| value["value"].as_str()).unwrap_or_default().to_owned();
        let changed = match option.as_str() {
            "model" => self.change_model(&id, &value),
            "mode" => self.change_mode(&id, &value),
            _ => Err(invalid("there is no such option; there is `model`, and modes")),
        };
        match changed {
            Ok(()) => {
                let options = self.options_of(&id);
                self.answer(debt, &json!({"configOptions": options}));
            }
            Err(failure) => self.refuse(debt, &failure),
        }
    }

    fn change_model(&mut self, id: &str, name: &str) -> Result<(), switchboard_dialects::jsonrpc::Failure> {
        if name.trim().is_empty() || name.len() > MAX_MODEL_BYTES || name.contains(char::is_control) {
            return Err(invalid(format!("the name of a model has 1 to {MAX_MODEL_BYTES} bytes")));
        }
        if let Ok(known) = &self.known
            && !known.models.is_empty()
            && known.model(name).is_none()
        {
            return Err(invalid(format!("the server has no model `{name}`; it has: {}", names(known).join(", "))));
        }
        let Some(session) = self.sessions.get_mut(id) else { return Err(no_session(id)) };
        session.chosen = Some(name.to_owned());
        let kept = session.book.change(|header| header.model = Some(name.to_owned()));
        self.say_if_unkept(id, kept);
        self.refresh_one(id);
        self.learn();
        Ok(())
    }

    pub(super) fn set_settings(&mut self, params: &str) {
        match serde_json::from_str(params) {
            Ok(settings) => {
                self.settings = settings;
                self.refresh();
                self.learn();
                let ids: Vec<String> = self.sessions.keys().cloned().collect();
                for id in ids {
                    let options = self.options_of(&id);
                    self.update(&id, show::options_changed(options));
                }
            }
            Err(error) => tracing::warn!("the settings cannot be read: {error}"),
        }
    }
}

fn names(known: &Known) -> Vec<String> {
    known.models.iter().map(|model| model.name.clone()).collect()
}
