//! Settings as a view knows them, and the token of which it only learns that there is one.

use std::sync::Arc;

use switchboard_types::limits::MAX_ID_BYTES;
use switchboard_types::{
    Chore, Command, Reject, RejectCode, SecretText, Settings, SettingsRequest, SettingsScope, SettingsState,
    Temperature,
};

use super::open::Kind;
use super::said::ToView;
use super::shape::SettingsShape;
use super::{Chat, patterns};

/// A text of the settings, in bytes.
const MAX_TEXT_BYTES: usize = 16 * MAX_ID_BYTES;

impl Chat {
    /// The user's settings as they go out.
    pub(super) fn settings_shape(&self) -> (SettingsShape, bool) {
        let Some(state) = &self.settings else { return (SettingsShape::default(), false) };
        (shape(&state.user), state.has_token)
    }

    /// The host has told all settings.
    pub(super) fn settings_told(&mut self, state: &Arc<SettingsState>) {
        self.settings = Some(Arc::clone(state));
        self.go_on_greeting();
        self.tell_settings();
    }

    /// Tells the settings if they are others than were told.
    fn tell_settings(&mut self) {
        let told = self.settings_shape();
        if self.is_greeted && self.told_settings.as_ref() != Some(&told) {
            self.say_settings();
        }
    }

    fn say_settings(&mut self) {
        let (settings, has_token) = self.settings_shape();
        self.told_settings = Some((settings.clone(), has_token));
        self.say(&ToView::SettingsUpdate { settings: Box::new(settings), has_token });
    }

    pub(super) fn save_settings(&mut self, shape: SettingsShape) -> Result<Command, Reject> {
        let change = Box::new(settings(shape).map_err(|why| Reject::new(RejectCode::BadMessage, why))?);
        let what = SettingsRequest::Save { scope: SettingsScope::User, change: change.clone(), unset: Vec::new() };
        Ok(self.chore(Kind::Save { change }, Chore::Settings(what)))
    }

    /// They are stored: what was changed is told at once, whether the host has told it yet or not.
    pub(super) fn saved(&mut self, change: &Settings) {
        let state = self.settings.as_deref().cloned().unwrap_or_default();
        let user = without_empty(change.over(&state.user));
        self.settings = Some(Arc::new(SettingsState { user, first_run: false, ..state }));
        self.say_settings();
    }

    /// They are not: the view shows what holds.
    pub(super) fn not_saved(&mut self, message: &str) {
        self.say_wrong(format!("the settings were not saved: {message}"));
        self.say_settings();
    }

    pub(super) fn test_server(&mut self, base_url: Option<String>) -> Command {
        let base_url = base_url.filter(|base_url| !base_url.trim().is_empty());
        self.chore(Kind::Test, Chore::Settings(SettingsRequest::Test { base_url }))
    }

    pub(super) fn save_token(&mut self, token: String, base_url: Option<String>, test_after: bool) -> Command {
        let base_url = base_url.filter(|base_url| !base_url.trim().is_empty());
        let then_test = test_after.then(|| base_url.clone());
        let what = SettingsRequest::SaveToken { token: SecretText(token), base_url };
        self.chore(Kind::Token { then_test }, Chore::Settings(what))
    }

    pub(super) fn token_saved(&mut self, has_token: bool, then_test: Option<Option<String>>) {
        let state = self.settings.as_deref().cloned().unwrap_or_default();
        self.settings = Some(Arc::new(SettingsState { has_token, ..state }));
        self.say(&ToView::BearerTokenSaved { has_token });
        if let Some(base_url) = then_test {
            let command = self.test_server(base_url);
            self.asks.push_back(command);
        }
    }
}

/// An empty text, 0 and an empty list take a setting back.
fn without_empty(settings: Settings) -> Settings {
    let text = |text: Option<String>| text.filter(|text| !text.is_empty());
    Settings {
        base_url: text(settings.base_url),
        agent_model: text(settings.agent_model),
        ask_model: text(settings.ask_model),
        edit_model: text(settings.edit_model),
        completion_model: text(settings.completion_model),
        max_iterations: settings.max_iterations.filter(|number| *number > 0),
        tool_timeout: settings.tool_timeout.filter(|number| *number > 0),
        max_active_sessions: settings.max_active_sessions.filter(|number| *number > 0),
        temperature: settings.temperature,
        sensitive_file_patterns: settings.sensitive_file_patterns.filter(|patterns| !patterns.0.is_empty()),
    }
}

fn shape(settings: &Settings) -> SettingsShape {
    SettingsShape {
        base_url: settings.base_url.clone(),
        agent_model: settings.agent_model.clone(),
        ask_model: settings.ask_model.clone(),
        edit_model: settings.edit_model.clone(),
        completion_model: settings.completion_model.clone(),
        max_iterations: settings.max_iterations,
        tool_timeout: settings.tool_timeout,
        max_active_sessions: settings.max_active_sessions,
        temperature: settings.temperature.map(|temperature| f64::from(temperature.0) / 100.0),
        sensitive_file_patterns: settings.sensitive_file_patterns.as_ref().map(patterns::written),
    }
}

fn settings(shape: SettingsShape) -> Result<Settings, String> {
    let texts = [&shape.base_url, &shape.agent_model, &shape.ask_model, &shape.edit_model, &shape.completion_model];
    if texts.into_iter().flatten().any(|text| text.len() > MAX_TEXT_BYTES) {
        return Err(format!("a text of the settings has at most {MAX_TEXT_BYTES} bytes"));
    }
    let temperature =
        shape.temperature.map(|number| Temperature::from_number(number).ok_or("`temperature` is from 0 to 2"));
    let files = shape.sensitive_file_patterns.as_deref().map(patterns::read).transpose();
    Ok(Settings {
        base_url: shape.base_url,
        agent_model: shape.agent_model,
        ask_model: shape.ask_model,
        edit_model: shape.edit_model,
        completion_model: shape.completion_model,
        max_iterations: shape.max_iterations,
        tool_timeout: shape.tool_timeout,
        max_active_sessions: shape.max_active_sessions,
        temperature: temperature.transpose()?,
        sensitive_file_patterns: files.map_err(|why| format!("`sensitiveFilePatterns`: {why}"))?,
    })
}
