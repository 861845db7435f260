//! What people set at a view, as a file has it: each value within its limits, and words for one that is not. Writes nothing.

use std::ops::Range;

use switchboard_types::limits::{
    MAX_ACTIVE_SESSIONS, MAX_BASE_URL_BYTES, MAX_CALL_MS, MAX_ITERATIONS, MAX_MODEL_BYTES,
};
use switchboard_types::{Settings, Temperature};
use toml::Spanned;

use super::file::SettingsTable;
use super::place::{ConfigError, Source};
use crate::agents::Address;

/// Makes the settings of a table. Patterns stand elsewhere in the file.
pub(super) fn read(source: Source<'_>, table: Option<Spanned<SettingsTable>>) -> Result<Settings, ConfigError> {
    let table = table.map(Spanned::into_inner).unwrap_or_default();
    let wrong = |span: Range<usize>, message: String| source.wrong(span, message);
    let model = |value: Option<Spanned<String>>| match value {
        Some(value) => match model_error(value.get_ref()) {
            Some(message) => Err(wrong(value.span(), message)),
            None => Ok(Some(value.into_inner())),
        },
        None => Ok(None),
    };
    let number = |value: Option<Spanned<u64>>, max: u64| match value {
        Some(value) if !(1..=max).contains(value.get_ref()) => Err(wrong(value.span(), number_error(max))),
        Some(value) => Ok(Some(value.into_inner())),
        None => Ok(None),
    };
    let small = |value, max: u32| {
        number(value, u64::from(max)).map(|found| found.map(|found| u32::try_from(found).unwrap_or(max)))
    };
    let base_url = match table.base_url {
        Some(url) => match base_url_error(url.get_ref()) {
            Some(message) => return Err(wrong(url.span(), message)),
            None => Some(url.into_inner()),
        },
        None => None,
    };
    let temperature = match table.temperature {
        Some(number) => match Temperature::from_number(*number.get_ref()) {
            Some(temperature) => Some(temperature),
            None => return Err(wrong(number.span(), "it is a number from 0 to 2, such as 0.7".to_owned())),
        },
        None => None,
    };
    Ok(Settings {
        base_url,
        agent_model: model(table.agent_model)?,
        ask_model: model(table.ask_model)?,
        edit_model: model(table.edit_model)?,
        completion_model: model(table.completion_model)?,
        max_iterations: small(table.max_iterations, MAX_ITERATIONS)?,
        tool_timeout: number(table.tool_timeout, MAX_CALL_MS)?,
        max_active_sessions: small(table.max_active_sessions, MAX_ACTIVE_SESSIONS)?,
        temperature,
        sensitive_file_patterns: None,
    })
}

/// What is wrong with settings that somebody wants, under the names that views know; the first of it.
#[must_use]
pub fn error_in(settings: &Settings) -> Option<String> {
    let models = [
        ("agentModel", &settings.agent_model),
        ("askModel", &settings.ask_model),
        ("editModel", &settings.edit_model),
        ("completionModel", &settings.completion_model),
    ];
    let numbers = [
        ("maxIterations", settings.max_iterations.map(u64::from), u64::from(MAX_ITERATIONS)),
        ("toolTimeout", settings.tool_timeout, MAX_CALL_MS),
        ("maxActiveSessions", settings.max_active_sessions.map(u64::from), u64::from(MAX_ACTIVE_SESSIONS)),
    ];
    let url = settings.base_url.as_ref().and_then(|url| base_url_error(url)).map(|why| ("baseUrl", why));
    let models = models.into_iter().filter_map(|(name, model)| Some((name, model_error(model.as_ref()?)?)));
    let is_wrong = |value: Option<u64>, max: u64| value.is_some_and(|value| !(1..=max).contains(&value));
    let numbers = numbers.into_iter().filter(|(_, value, max)| is_wrong(*value, *max));
    let numbers = numbers.map(|(name, _, max)| (name, number_error(max)));
    let (name, why) = url.into_iter().chain(models).chain(numbers).next()?;
    Some(format!("{name}: {why}"))
}

fn model_error(name: &str) -> Option<String> {
    let fits = !name.trim().is_empty() && name.len() <= MAX_MODEL_BYTES && !name.contains(char::is_control);
    (!fits).then(|| format!("the name of a model has 1 to {MAX_MODEL_BYTES} bytes and no control characters"))
}

fn number_error(max: u64) -> String {
    format!("it is a whole number from 1 to {max}")
}

fn base_url_error(url: &str) -> Option<String> {
    let fits = url.len() <= MAX_BASE_URL_BYTES && Address::read(url).is_ok();
    (!fits).then(|| {
        "it is an address such as http://127.0.0.1:11434 or https://host/path, without a user name and a query"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_under_the_name_that_the_view_knows() {
        assert_eq!(error_in(&Settings::default()), None);
        let wrong = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            error_in(&settings).unwrap()
        };
        let all = [
            (wrong(|all| all.base_url = Some("ftp://x".to_owned())), "baseUrl", "http://"),
            (wrong(|all| all.base_url = Some("http://me:canary@x".to_owned())), "baseUrl", "user name"),
            (wrong(|all| all.edit_model = Some("x".repeat(257))), "editModel", "256"),
            (wrong(|all| all.max_iterations = Some(1001)), "maxIterations", "1 to 1000"),
            (wrong(|all| all.tool_timeout = Some(600_001)), "toolTimeout", "1 to 600000"),
            (wrong(|all| all.max_active_sessions = Some(0)), "maxActiveSessions", "1 to 1000"),
        ];
        for (said, name, why) in all {
            assert!(said.starts_with(name) && said.contains(why) && !said.contains("canary"), "{said}");
        }
    }
}
