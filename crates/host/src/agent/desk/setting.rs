//! Modes, models and what people have set; and what is known of the server that has the models.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{SetSessionConfigOptionRequest, SetSessionModeRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_agent::server::Flavor;
use switchboard_agent::trouble::Trouble;
use switchboard_agent::worker::{Facts, Heard, Limits, Mode};
use switchboard_dialects::jsonrpc::{Debt, Failure};
use tokio::time::Instant;

use super::{Desk, Held, News, invalid, no_session, typed};
use crate::agent::far::Known;
use crate::agent::session::Session;
use crate::agent::show;
use crate::calling::Address;

/// After so long the server is looked at again when it is asked something: its models, or their windows, may be others by now.
const LOOKS_OLD: Duration = Duration::from_secs(30);
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
    /// The server that has the models below; without it they are meant for ours.
    base_url: Option<String>,
    agent_model: Option<String>,
    ask_model: Option<String>,
    edit_model: Option<String>,
    max_iterations: Option<u32>,
    /// In milliseconds.
    tool_timeout: Option<u64>,
    temperature: Option<f64>,
}

impl Settings {
    /// Whoever works with one server does not ask it for the models of another.
    fn meant_for(self, base_url: &str) -> Self {
        let origin = |url: &str| Address::read(url).ok().map(|address| address.origin());
        if self.base_url.as_deref().is_none_or(|theirs| origin(theirs) == origin(base_url)) {
            return self;
        }
        Self { agent_model: None, ask_model: None, edit_model: None, ..self }
    }

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

    /// What is known of a model. Of a server that was never seen nothing is, least of all a window: what is left out for the sake of
    /// one is left out for good.
    pub(super) fn facts(&self, model: String) -> Facts {
        let Ok(known) = &self.known else { return Facts { model, ..Facts::default() } };
        let found = known.model(&model);
        let told = found.and_then(|found| found.context);
        let context = match known.flavor {
            Flavor::Ollama => told.unwrap_or(OLLAMA_WINDOW).min(MAX_OLLAMA_WINDOW),
            Flavor::OpenAi => told.unwrap_or(OTHER_WINDOW),
        };
        Facts {
            context: Some(context),
            tools: found.and_then(|found| found.tools),
            images: found.and_then(|found| found.images),
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
            return if self.looking.is_some() {
                self.look_anew()
            };
        };
        let modes = show::MODES.iter().map(|(mode, ..)| self.model_for(None, *mode));
        let used = self.sessions.values().map(|session| self.model_of(session)).chain(modes);
        let is_unknown =
            |name: String| known.model(&name).is_some_and(|model| model.context.is_none() && model.tools.is_none());
        if known.flavor == Flavor::Ollama && used.into_iter().any(is_unknown) {
            self.look_anew();
        }
    }

    fn options_of(&self, id: &str) -> Value {
        let model = self.sessions.get(id).map(|session| self.model_of(session)).unwrap_or_default();
        show::options(&model, self.known.as_deref().ok())
    }

    /// Looks at the server, unless that is under way.
    pub(super) fn look(&mut self) {
        if self.looking.is_none() {
            self.begin_to_look();
        }
    }

    /// Looks at the server, and once more after a look that is under way: that one may not see what is wanted now.
    pub(super) fn look_anew(&mut self) {
        self.looks_again |= self.looking.is_some();
        self.look();
    }

    /// Looks at the server if a prompt should know more than is known. Says whether the prompt has to wait for that.
    pub(super) fn look_for_prompt(&mut self, id: &str) -> bool {
        if std::mem::take(&mut self.lacks_a_model) {
            // Somebody may have fetched it since.
            self.look_anew();
            return true;
        }
        // A server that was not there may be there now.
        if self.known.is_err() || self.looked_at.is_none_or(|at| at.elapsed() > LOOKS_OLD) {
            self.look();
        }
        // Prompts of a session stay in their order.
        self.known.is_err() || self.held.iter().any(|held| held.is_of(id))
    }

    /// Off this task; what waits for it goes on then.
    fn begin_to_look(&mut self) {
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
        self.looked_at = Some(Instant::now());
        let before = self.known.as_ref().ok().map(|known| names(known));
        let trouble = self.take_in(known).err();
        self.refresh();
        if self.known.as_ref().ok().map(|known| names(known)) != before {
            let ids: Vec<String> = self.sessions.keys().cloned().collect();
            for id in ids {
                let options = self.options_of(&id);
                self.update(&id, show::options_changed(options));
            }
        }
        // What waits for the models of the settings waits until they are known too.
        if std::mem::take(&mut self.looks_again) && trouble.is_none() {
            return self.look();
        }
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Opening(debt, opening) => self.open(debt, *opening),
                Held::Prompt { session, parts, .. } => self.hear(&session, Heard::Prompt(parts)),
                Held::Choice { debt, session, model } => {
                    let changed = match &trouble {
                        Some(trouble) if self.lacks(&model) => Err(invalid(trouble.message.clone())),
                        Some(_) | None => self.change_model(&session, &model),
                    };
                    self.answer_change(debt, &session, changed);
                }
            }
        }
    }

    /// What a look has seen counts from now on. One that saw nothing takes nothing away: whether the server is gone is for the next
    /// question to find out.
    fn take_in(&mut self, seen: Result<Known, Trouble>) -> Result<(), Trouble> {
        let mut seen = match seen {
            Ok(seen) => seen,
            Err(trouble) => {
                if self.known.is_err() {
                    self.known = Err(trouble.clone());
                }
                return Err(trouble);
            }
        };
        if let Ok(before) = &self.known {
            seen.remember(before);
        }
        self.known = Ok(Arc::new(seen));
        Ok(())
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

    fn change_mode(&mut self, id: &str, mode: &str) -> Result<(), Failure> {
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
            "model" if self.sessions.contains_key(&id) && is_name(&value) && self.lacks(&value) => {
                // Somebody may have fetched it since.
                self.look_anew();
                return self.held.push(Held::Choice { debt, session: id, model: value });
            }
            "model" => self.change_model(&id, &value),
            "mode" => self.change_mode(&id, &value),
            _ => Err(invalid("there is no such option; there is `model`, and modes")),
        };
        self.answer_change(debt, &id, changed);
    }

    fn answer_change(&mut self, debt: Debt, id: &str, changed: Result<(), Failure>) {
        match changed {
            Ok(()) => {
                let options = self.options_of(id);
                self.answer(debt, &json!({"configOptions": options}));
            }
            Err(failure) => self.refuse(debt, &failure),
        }
    }

    /// Whether the server lists models, and this is none of them.
    fn lacks(&self, name: &str) -> bool {
        self.known.as_ref().is_ok_and(|known| !known.models.is_empty() && known.model(name).is_none())
    }

    fn change_model(&mut self, id: &str, name: &str) -> Result<(), Failure> {
        if !is_name(name) {
            return Err(invalid(format!("the name of a model has 1 to {MAX_MODEL_BYTES} bytes")));
        }
        if let Ok(known) = &self.known
            && self.lacks(name)
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
                self.settings = Settings::meant_for(settings, &self.options.base_url);
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

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_MODEL_BYTES && !name.contains(char::is_control)
}

fn names(known: &Known) -> Vec<String> {
    known.models.iter().map(|model| model.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use switchboard_agent::server::models::Model;
    use switchboard_agent::trouble::TroubleKind;
    use tokio::sync::mpsc;

    use super::*;
    use crate::agent::start::Wanted;

    fn desk(folder: &std::path::Path) -> Desk {
        let base_url = Some("http://127.0.0.1:1".to_owned());
        let wanted =
            Wanted { base_url, model: Some("small".to_owned()), sessions: folder.to_owned(), ..Wanted::default() };
        Desk::new(wanted.settle(None, None).unwrap(), mpsc::channel(1).0)
    }

    #[test]
    fn the_models_of_another_server_are_not_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = desk(folder.path());
        desk.set_settings(r#"{"baseUrl": "http://127.0.0.1:1/v1", "agentModel": "ours", "maxIterations": 3}"#);
        assert_eq!(desk.model_for(None, Mode::Agent), "ours");
        desk.set_settings(r#"{"baseUrl": "http://127.0.0.1:2", "agentModel": "theirs", "maxIterations": 4}"#);
        assert_eq!((desk.model_for(None, Mode::Agent).as_str(), desk.settings.limits().rounds), ("small", 4));
    }

    fn trouble(kind: TroubleKind) -> Trouble {
        Trouble { kind, message: "no".to_owned(), retry_after_ms: None }
    }

    fn known(flavor: Flavor, context: Option<u32>) -> Known {
        Known { flavor, models: vec![Model { name: "small".to_owned(), context, ..Model::default() }] }
    }

    #[test]
    fn a_server_that_was_never_seen_has_no_window_and_one_that_was_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = desk(folder.path());
        let window = |desk: &Desk| desk.facts("small".to_owned()).context;
        assert_eq!(window(&desk), None, "not looked at yet");
        for kind in [TroubleKind::NoServer, TroubleKind::NotYet, TroubleKind::Garbage] {
            desk.looked(Err(trouble(kind)));
            assert_eq!(window(&desk), None, "{kind:?}");
            assert_eq!(desk.known.as_ref().err().map(|trouble| trouble.kind), Some(kind), "the newest trouble counts");
        }
        desk.looked(Ok(known(Flavor::OpenAi, Some(4_096))));
        assert_eq!(window(&desk), Some(4_096));
        desk.looked(Err(trouble(TroubleKind::NotYet)));
        assert_eq!(window(&desk), Some(4_096), "a look that fails takes nothing away");
        desk.looked(Ok(known(Flavor::OpenAi, Some(16_384))));
        assert_eq!(window(&desk), Some(16_384), "it was started anew with another window");
        desk.looked(Ok(known(Flavor::Ollama, None)));
        assert_eq!(window(&desk), Some(OLLAMA_WINDOW));
    }

    #[tokio::test]
    async fn a_prompt_looks_again_after_a_while_and_does_not_wait_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = desk(folder.path());
        desk.looked(Ok(known(Flavor::OpenAi, None)));
        assert!(!desk.look_for_prompt("s") && desk.looking.is_none(), "it was looked at just now");
        desk.looked_at = Instant::now().checked_sub(LOOKS_OLD + Duration::from_secs(1));
        assert!(!desk.look_for_prompt("s") && desk.looking.is_some(), "that was long ago");
        desk.looked(Ok(known(Flavor::OpenAi, None)));
        desk.lacks_a_model = true;
        assert!(desk.look_for_prompt("s") && desk.looking.is_some(), "it may have been fetched");
        desk.looked(Ok(known(Flavor::OpenAi, None)));
        assert!(!desk.look_for_prompt("s") && desk.looking.is_none(), "once is enough");
    }
}
