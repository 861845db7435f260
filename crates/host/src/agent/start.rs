//! What the agent is started with: address, model, token, folders. Reads the environment and the store of secrets; asks nobody.

use std::path::PathBuf;

use thiserror::Error;

use crate::agents::{SecretName, WantedBy};
use crate::calling::Address;
use crate::secrets::{MODEL_SERVER, SecretError, Secrets};
use crate::server::Secret;

/// The variable that holds the token of the model's server, for whoever starts the agent.
pub const TOKEN: &str = "SWITCHBOARD_MODEL_TOKEN";
/// Where Ollama listens if nobody says otherwise.
const OLLAMA: &str = "127.0.0.1:11434";

/// What somebody wants of the agent.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Where the model's server is.
    pub base_url: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// The stored secret to be sent there.
    pub secret: Option<String>,
    /// The data folder; none if there is none.
    pub data: Option<PathBuf>,
    /// Where sessions are kept.
    pub sessions: PathBuf,
    /// Whether the workspace's instructions are read.
    pub instructions: WithInstructions,
}

/// Whether AGENTS.md is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithInstructions {
    /// It is.
    #[default]
    Yes,
    /// It is not.
    No,
}

/// What the agent works with.
#[derive(Debug)]
pub struct Options {
    /// Where the model's server is.
    pub base_url: String,
    /// Which model, unless a person chooses another.
    pub model: Option<String>,
    /// Sent there and nowhere else.
    pub token: Option<Secret>,
    /// Our own state, which is for no model.
    pub own: PathBuf,
    /// Where sessions are kept.
    pub sessions: PathBuf,
    /// Whether the workspace's instructions are read.
    pub instructions: WithInstructions,
}

/// Why it cannot start.
#[derive(Debug, Error)]
pub enum OptionsError {
    /// The address is none.
    #[error("`{0}` is no address of a model's server; give one such as http://127.0.0.1:11434 or https://host/path")]
    Address(String),
    /// A secret is named, and there is nowhere to look for it.
    #[error(
        "the secret `{0}` is not stored: there is no data folder yet; store it with `switchboard secrets set {0}`, or name the folder \
         with --data"
    )]
    NoStore(String),
    /// The secret cannot be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl Wanted {
    /// Puts it together. `variable` is what [`TOKEN`] holds, and `ollama` what OLLAMA_HOST does.
    pub fn settle(self, variable: Option<String>, ollama: Option<&str>) -> Result<Options, OptionsError> {
        let base_url = self.base_url.unwrap_or_else(|| base_url_of_ollama(ollama));
        let address = Address::read(&base_url).map_err(|_| OptionsError::Address(base_url.clone()))?;
        let given = variable.filter(|token| !token.is_empty()).map(Secret::new);
        let token = match (given, &self.data, self.secret) {
            (Some(token), ..) => Some(token),
            (None, Some(data), secret) => stored(&Secrets::of(data), secret.as_deref(), &address.origin())?,
            (None, None, Some(secret)) => return Err(OptionsError::NoStore(secret)),
            (None, None, None) => None,
        };
        let own = self.data.unwrap_or_else(|| self.sessions.clone());
        let (model, sessions, instructions) = (self.model, self.sessions, self.instructions);
        Ok(Options { base_url, model, token, own, sessions, instructions })
    }
}

/// The named secret, or that of the settings where it is bound to this origin already.
fn stored(secrets: &Secrets, named: Option<&str>, origin: &str) -> Result<Option<Secret>, SecretError> {
    match named {
        Some(name) => secrets.for_origin(&SecretName::of_user(name), origin).map(Some),
        None => {
            let of_settings = SecretName { name: MODEL_SERVER.to_owned(), by: WantedBy::Workspace };
            Ok(secrets.for_origin(&of_settings, origin).ok())
        }
    }
}

/// The address that OLLAMA_HOST means, in the forms that Ollama itself takes; without one, the usual one.
#[must_use]
pub fn base_url_of_ollama(variable: Option<&str>) -> String {
    let text = variable.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(OLLAMA);
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => ("http", text),
    };
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
        !port.is_empty()
            && port.bytes().all(|byte| byte.is_ascii_digit())
            && (!host.contains(':') || host.ends_with(']'))
    });
    let (host, port) = match authority.rsplit_once(':').filter(|_| has_port) {
        Some((host, port)) => (host, port),
        None if scheme == "https" => (authority, "443"),
        None if text.contains("://") => (authority, "80"),
        None => (authority, "11434"),
    };
    // What it listens on everywhere is reached here.
    let host = match host {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" | "::" => "[::1]",
        other => other,
    };
    let bare = host.contains(':') && !host.starts_with('[');
    let host = if bare { format!("[{host}]") } else { host.to_owned() };
    format!("{scheme}://{host}:{port}{}", path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollamas_own_variable_is_understood_as_ollama_does() {
        for (variable, url) in [
            (None, "http://127.0.0.1:11434"),
            (Some(""), "http://127.0.0.1:11434"),
            (Some("0.0.0.0"), "http://127.0.0.1:11434"),
            (Some("0.0.0.0:8080"), "http://127.0.0.1:8080"),
            (Some(":9"), "http://127.0.0.1:9"),
            (Some("box.lan"), "http://box.lan:11434"),
            (Some("https://box.lan/o/"), "https://box.lan:443/o"),
            (Some("http://box.lan:1"), "http://box.lan:1"),
            (Some("[::1]:7"), "http://[::1]:7"),
            (Some("[::]"), "http://[::1]:11434"),
        ] {
            assert_eq!(base_url_of_ollama(variable), url, "{variable:?}");
        }
    }

    #[test]
    fn a_token_is_that_of_the_variable_else_the_named_one_else_the_settings_own() {
        let data = tempfile::tempdir().unwrap();
        let secrets = Secrets::within(data.path());
        secrets.set_for(MODEL_SERVER, &Secret::new("of-settings"), "http://127.0.0.1:1").unwrap();
        secrets.set("mine", &Secret::new("of-mine")).unwrap();
        let settle = |url: &str, secret: Option<&str>, variable: Option<&str>| {
            let wanted = Wanted {
                base_url: Some(url.to_owned()),
                secret: secret.map(str::to_owned),
                data: Some(data.path().to_owned()),
                ..Wanted::default()
            };
            let settled = wanted.settle(variable.map(str::to_owned), None);
            settled
                .map(|options| options.token.map(|token| token.reveal().to_owned()))
                .map_err(|error| error.to_string())
        };
        assert_eq!(settle("http://127.0.0.1:1/v1", None, None), Ok(Some("of-settings".to_owned())));
        assert_eq!(settle("http://127.0.0.1:2", None, None), Ok(None));
        assert_eq!(settle("http://127.0.0.1:2", Some("mine"), None), Ok(Some("of-mine".to_owned())));
        assert_eq!(settle("http://127.0.0.1:2", Some("mine"), Some("of-variable")), Ok(Some("of-variable".to_owned())));
        let elsewhere = settle("http://127.0.0.1:3", Some("mine"), None).unwrap_err();
        assert!(elsewhere.contains("bound to http://127.0.0.1:2") && !elsewhere.contains("of-mine"), "{elsewhere}");
        assert!(settle("nonsense", None, None).unwrap_err().contains("no address"));
    }

    #[test]
    fn a_named_secret_without_a_data_folder_is_an_error_and_not_silence() {
        let settle = |secret: Option<&str>, variable: Option<&str>| {
            let wanted = Wanted { secret: secret.map(str::to_owned), ..Wanted::default() };
            let settled = wanted.settle(variable.map(str::to_owned), None);
            settled.map(|options| options.token.is_some()).map_err(|error| error.to_string())
        };
        let refused = settle(Some("mine"), None).unwrap_err();
        assert!(refused.contains("`mine`") && refused.contains("switchboard secrets set mine"), "{refused}");
        assert_eq!(settle(Some("mine"), Some("of-variable")), Ok(true));
        assert_eq!(settle(None, None), Ok(false));
    }
}
