//! Carries out what a view wants of settings: saves them, keeps a token, finds and tests model servers, puts a model to work. A
//! token goes to the one origin that it is bound to, and stands in no answer.

use std::path::{Path, PathBuf};

use switchboard_types::limits::MAX_MODEL_BYTES;
use switchboard_types::{
    Reject, RejectCode, SecretText, Settings, SettingsAnswer, SettingsRequest, SettingsScope, Unset, WorkspaceRoot,
};

use super::{find, probe};
use crate::agents::{Address, SecretName, WantedBy};
use crate::config::edit::EditError;
use crate::config::local::{self, Work};
use crate::config::{Config, save, values};
use crate::secrets::{MODEL_SERVER, SecretError, Secrets};
use crate::server::Secret;

/// What a chore of settings needs to know.
#[derive(Debug)]
pub struct Clerk {
    /// The user's own file, if there is a place for one.
    pub file: Option<PathBuf>,
    /// What it says.
    pub user: Config,
    /// Workspaces whose own file counts.
    pub trusted: Vec<WorkspaceRoot>,
    /// Where tokens are kept.
    pub secrets: Secrets,
    /// Where Ollama is, if the environment says it.
    pub ollama_host: Option<String>,
}

type Done = Result<SettingsAnswer, Reject>;

impl Clerk {
    /// Does it.
    pub async fn carry_out(self, what: SettingsRequest) -> Done {
        match what {
            SettingsRequest::Save { scope, change, unset } => {
                off_task(move || self.save(&scope, &change, &unset)).await
            }
            SettingsRequest::SaveToken { token, base_url } => {
                off_task(move || self.keep_token(&token, base_url.as_deref())).await
            }
            SettingsRequest::Test { base_url } => self.test(base_url).await,
            SettingsRequest::FindServers {} => Ok(find::servers(self.ollama_host.as_deref()).await),
            SettingsRequest::UseModel { base_url, model } => off_task(move || self.use_model(&base_url, &model)).await,
        }
    }

    fn save(&self, scope: &SettingsScope, change: &Settings, unset: &[Unset]) -> Done {
        let saved = match scope {
            SettingsScope::User => match &self.file {
                Some(file) => save::to_users_file(file, change, unset),
                None => Err(EditError::NoFile),
            },
            SettingsScope::Workspace(root) if self.trusted.contains(root) => {
                save::to_workspaces_file(Path::new(root.as_str()), &self.user, change, unset)
            }
            SettingsScope::Workspace(root) => {
                let message = format!("{root} is not trusted, so its settings do not count; trust it first");
                return Err(Reject::new(RejectCode::WorkspaceUntrusted, message));
            }
        };
        saved.map(|()| SettingsAnswer::Saved {}).map_err(|error| refused(&error))
    }

    fn keep_token(&self, SecretText(token): &SecretText, base_url: Option<&str>) -> Done {
        if token.is_empty() {
            self.secrets.remove(MODEL_SERVER).map_err(|error| not_kept(&error))?;
            return Ok(SettingsAnswer::Token { has_token: false });
        }
        let Some(base_url) = base_url.or(self.user.settings.base_url.as_deref()) else {
            let message = "a token belongs to one address; set the address of the model server first";
            return Err(Reject::new(RejectCode::BadMessage, message));
        };
        let address = address(base_url)?;
        let kept = self.secrets.set_for(MODEL_SERVER, &Secret::new(token.as_str()), &address.origin());
        kept.map(|_| SettingsAnswer::Token { has_token: true }).map_err(|error| not_kept(&error))
    }

    async fn test(self, named: Option<String>) -> Done {
        let named = named.map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
        let Some(base_url) = named.or_else(|| self.user.settings.base_url.clone()) else {
            let message = "there is no address to test; set the address of the model server first";
            return Err(Reject::new(RejectCode::BadMessage, message));
        };
        let address = address(&base_url)?;
        let (secrets, wanted, origin) = (self.secrets.clone(), self.wants_token(&address), address.origin());
        let token = off_task(move || Ok(token_for(&secrets, &wanted, &origin))).await?;
        let probe::Found { served, message } = probe::look(&base_url, token, probe::PATIENCE).await;
        let success = served.is_some();
        if success && self.user.settings.base_url.as_ref() != Some(&base_url) {
            let change = Settings { base_url: Some(base_url), ..Settings::default() };
            off_task(move || self.save(&SettingsScope::User, &change, &[])).await?;
        }
        let models = served.into_iter().flat_map(|(_, models)| models).map(|model| model.name).collect();
        Ok(SettingsAnswer::Tested { success, message, models })
    }

    /// Writes an agent that works with this model into the user's file.
    fn use_model(&self, base_url: &str, model: &str) -> Done {
        let (base_url, model) = (base_url.trim(), model.trim());
        let address = address(base_url)?;
        if !probe::is_name(model) {
            let message = format!("a model's name has 1 to {MAX_MODEL_BYTES} bytes and no control characters");
            return Err(Reject::new(RejectCode::BadMessage, message));
        }
        let Some(file) = &self.file else { return Err(refused(&EditError::NoFile)) };
        let kept = self.secrets.find(MODEL_SERVER).map_err(|error| not_kept(&error))?;
        let has_token = kept.is_some_and(|kept| kept.bound == Some(address.origin()));
        let secret = has_token.then_some(MODEL_SERVER);
        let agent = local::put_to_work(file, Work { base_url, model, secret }).map_err(|error| refused(&error))?;
        Ok(SettingsAnswer::InUse { agent })
    }

    /// Only the address that the user has set may bind a token that is bound to nothing yet.
    fn wants_token(&self, to: &Address) -> SecretName {
        let users = self.user.settings.base_url.as_deref().and_then(|url| Address::read(url).ok());
        let is_users = users.is_some_and(|users| users.origin() == to.origin());
        let by = if is_users { WantedBy::User } else { WantedBy::Workspace };
        SecretName { name: MODEL_SERVER.to_owned(), by }
    }
}

/// What goes with a test: a token, or why none does.
fn token_for(secrets: &Secrets, wanted: &SecretName, origin: &str) -> probe::Token {
    match secrets.for_origin(wanted, origin) {
        Ok(token) => probe::Token::Sent(token),
        Err(SecretError::Unknown(_)) => probe::Token::None,
        Err(SecretError::Elsewhere { bound, .. }) => {
            probe::Token::Withheld(format!("the stored token is for {bound} and was not sent"))
        }
        Err(SecretError::Unbound { .. }) => {
            probe::Token::Withheld("the stored token is bound to no address yet and was not sent".to_owned())
        }
        Err(error) => probe::Token::Withheld(format!("no token was sent: {error}")),
    }
}

fn address(base_url: &str) -> Result<Address, Reject> {
    let settings = Settings { base_url: Some(base_url.to_owned()), ..Settings::default() };
    if let Some(message) = values::error_in(&settings) {
        return Err(Reject::new(RejectCode::BadMessage, message));
    }
    Address::read(base_url).map_err(|message| Reject::new(RejectCode::BadMessage, message))
}

fn refused(error: &EditError) -> Reject {
    let code = match error {
        EditError::Refused(_) | EditError::WouldBeWrong(_) => RejectCode::BadMessage,
        EditError::Taken { .. } | EditError::Wrong(_) | EditError::ByHand { .. } => RejectCode::Conflict,
        EditError::NotThere { .. } => RejectCode::NotFound,
        EditError::NoFile | EditError::Unwritable { .. } => RejectCode::Internal,
    };
    Reject::new(code, error.to_string())
}

fn not_kept(error: &SecretError) -> Reject {
    let code = match error {
        SecretError::Unfit(_) => RejectCode::BadMessage,
        SecretError::Unknown(_) => RejectCode::NotFound,
        SecretError::Elsewhere { .. } | SecretError::Unbound { .. } => RejectCode::Conflict,
        SecretError::Keyring { .. } | SecretError::File(_) => RejectCode::Internal,
    };
    Reject::new(code, error.to_string())
}

/// Files and keyrings wait for a disk or a person.
async fn off_task<T: Send + 'static>(act: impl FnOnce() -> Result<T, Reject> + Send + 'static) -> Result<T, Reject> {
    let failed = |error| Reject::new(RejectCode::Internal, format!("it ended badly: {error}"));
    tokio::task::spawn_blocking(act).await.map_err(failed)?
}
