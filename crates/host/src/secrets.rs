//! Secrets that agents need: names and places in a file that only this user can read, values in the keyring of the desktop where
//! one runs, else in the same file. A value leaves only for the place that it is bound to; nothing here prints one.
//!
//! | module | owns |
//! | --- | --- |
//! | `file` | the file: read and replaced as a whole, by one program at a time |
//! | `keyring` | the keyring: the Secret Service on the session's D-Bus |

mod file;
mod keyring;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::agents::spec::{SecretName, WantedBy};
use crate::server::Secret;
use crate::wire::Recorder;

use file::Kept;
use keyring::Keyring;
pub use keyring::SWITCH;

/// Bytes of a secret.
pub const MAX_SECRET_BYTES: usize = 64 * 1024;
/// Bytes of a secret's name.
pub const MAX_NAME_BYTES: usize = 128;
/// Secrets that are kept.
pub const MAX_SECRETS: usize = 1_000;
/// The secret that is the token of the model server of the settings.
pub const MODEL_SERVER: &str = "model-server";
/// What a secret in a child's environment is bound to.
const ENVIRONMENT: &str = "the environment of agents";

/// Why a secret cannot be had or kept.
#[derive(Debug, Error)]
pub enum SecretError {
    /// Nobody has stored it.
    #[error("there is no secret `{0}`; store it with `switchboard secrets set {0}`")]
    Unknown(String),
    /// It belongs elsewhere.
    #[error(
        "the secret `{name}` is bound to {bound} and is not sent to {wanted}; store another one for it with `switchboard secrets set`"
    )]
    Elsewhere {
        /// Which one.
        name: String,
        /// Where it belongs.
        bound: String,
        /// Where it was wanted.
        wanted: String,
    },
    /// A workspace's file wants what the user has not bound yet.
    #[error(
        "the workspace's configuration wants the secret `{name}` for {wanted}, and only your own configuration may bind a secret to \
         a place; name the agent there first"
    )]
    Unbound {
        /// Which one.
        name: String,
        /// Where it was wanted.
        wanted: String,
    },
    /// It is where nobody can reach it now.
    #[error(
        "the secret `{name}` is in the keyring of your desktop, and that cannot be used: {why}; unlock it, or store the secret again"
    )]
    Keyring {
        /// Which one.
        name: String,
        /// Why.
        why: String,
    },
    /// It cannot be kept as it is.
    #[error("{0}")]
    Unfit(String),
    /// The file cannot be read or written.
    #[error("the file of secrets cannot be used: {0}")]
    File(#[from] io::Error),
}

/// The secrets of one data folder. Nothing is kept in memory.
#[derive(Clone)]
pub struct Secrets {
    file: PathBuf,
    /// None if nobody is to look for one.
    keyring: Option<Keyring>,
    /// Whoever must know what to take out of what is kept.
    recorder: Option<Recorder>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("file", &self.file).field("keyring", &self.keyring).finish_non_exhaustive()
    }
}

/// A secret without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Where it may be sent; none before it was first used.
    pub bound: Option<String>,
    /// Where its value is.
    pub kept: Keep,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// In the file.
    File,
    /// In the keyring of the desktop.
    Keyring,
}

impl Keep {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Keyring => "keyring",
        }
    }
}

/// What is known of the token of the model server, and where tokens are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The token, if there is one.
    pub model_server: Option<Listed>,
    /// Where the next one goes, for a person.
    pub kept_in: String,
}

impl Secrets {
    /// Those of this data folder, all in its file.
    #[must_use]
    pub fn within(data: &Path) -> Self {
        Self { file: data.join("secrets.json"), keyring: None, recorder: None }
    }

    /// Those of this data folder, in the keyring of the desktop where one runs.
    #[must_use]
    pub fn of(data: &Path) -> Self {
        let folder = data.canonicalize().unwrap_or_else(|_| data.to_owned());
        Self { keyring: Keyring::if_wanted(&folder), ..Self::within(data) }
    }

    /// The same; whatever is given out is first taken out of what is recorded.
    #[must_use]
    pub fn hidden_from(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where the next secret goes, and how that stands; for a person. May take a moment.
    pub fn kept_in(&self) -> (Keep, String) {
        let file = || format!("the file {}, which only you can read and which is not encrypted", self.file.display());
        match self.keyring.as_ref().map(Keyring::state) {
            None => (Keep::File, format!("{} ({SWITCH} is off)", file())),
            Some(Ok(keyring::State::Open)) => (Keep::Keyring, "the keyring of your desktop".to_owned()),
            Some(Ok(keyring::State::Locked)) => {
                (Keep::Keyring, "the keyring of your desktop, which is locked and asks you first".to_owned())
            }
            Some(Err(why)) => (Keep::File, format!("{}, since no keyring can be used: {why}", file())),
        }
    }

    /// What is known of the token of the model server. May take a moment.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        Tokens { model_server: self.find(MODEL_SERVER).ok().flatten(), kept_in: self.kept_in().1 }
    }

    /// One by its name.
    pub fn find(&self, name: &str) -> Result<Option<Listed>, SecretError> {
        Ok(self.list()?.into_iter().find(|listed| listed.name == name))
    }

    /// Stores one, in place of the one of that name. It is bound to no place then. Says where it went.
    pub fn set(&self, name: &str, value: &Secret) -> Result<Keep, SecretError> {
        self.store(name, value, None)
    }

    /// Stores one that may be sent to this origin and to no other.
    pub fn set_for(&self, name: &str, value: &Secret, origin: &str) -> Result<Keep, SecretError> {
        self.store(name, value, Some(origin.to_owned()))
    }

    fn store(&self, name: &str, value: &Secret, bound: Option<String>) -> Result<Keep, SecretError> {
        check_name(name)?;
        let text = value.reveal();
        if text.is_empty() || text.len() > MAX_SECRET_BYTES || text.contains(char::is_control) {
            let message = format!("a secret has 1 to {MAX_SECRET_BYTES} bytes on one line, without control characters");
            return Err(SecretError::Unfit(message));
        }
        if let Some(recorder) = &self.recorder {
            recorder.hide(vec![text.to_owned()]);
        }
        // A keyring may ask a person; the file is not held meanwhile.
        let kept = match self.keyring.as_ref().map(|keyring| keyring.put(name, text)) {
            Some(Ok(())) => Keep::Keyring,
            Some(Err(why)) => {
                tracing::info!("a secret is kept in the file, since no keyring can be used: {why}");
                Keep::File
            }
            None => Keep::File,
        };
        let value = (kept == Keep::File).then(|| text.to_owned());
        file::change(&self.file, |all| {
            if all.len() >= MAX_SECRETS && !all.contains_key(name) {
                return Err(SecretError::Unfit(format!("{MAX_SECRETS} secrets are stored; remove one first")));
            }
            all.insert(name.to_owned(), Kept { value, bound });
            Ok(kept)
        })
    }

    /// All of them, by name.
    pub fn list(&self) -> Result<Vec<Listed>, SecretError> {
        let listed = |(name, kept): (String, Kept)| {
            let place = if kept.value.is_some() { Keep::File } else { Keep::Keyring };
            Listed { name, bound: kept.bound, kept: place }
        };
        Ok(file::read(&self.file)?.into_iter().map(listed).collect())
    }

    /// Forgets one; whether there was one. What is in a keyring that cannot be reached stays, and that is an error.
    pub fn remove(&self, name: &str) -> Result<bool, SecretError> {
        if self.find(name)?.is_some_and(|found| found.kept == Keep::Keyring) {
            self.in_keyring(name, |keyring| keyring.remove(name))?;
        }
        file::change(&self.file, |all| Ok(all.remove(name).is_some()))
    }

    /// All values in the file, to be taken out of what is shown. Those in a keyring are taken out when they are given out.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        file::read(&self.file).map(|all| all.into_values().filter_map(|kept| kept.value).collect()).unwrap_or_default()
    }

    fn in_keyring<T>(&self, name: &str, act: impl FnOnce(&Keyring) -> Result<T, String>) -> Result<T, SecretError> {
        let off = || Err(format!("{SWITCH} is off"));
        self.keyring.as_ref().map_or_else(off, act).map_err(|why| SecretError::Keyring { name: name.to_owned(), why })
    }

    /// One to be sent to this origin, and to no other from now on.
    pub fn for_origin(&self, wanted: &SecretName, origin: &str) -> Result<Secret, SecretError> {
        self.bound_to(wanted, origin)
    }

    /// One for a variable of a child.
    pub fn for_variable(&self, wanted: &SecretName) -> Result<Secret, SecretError> {
        if wanted.by == WantedBy::Workspace {
            let (name, wanted) = (wanted.name.clone(), ENVIRONMENT.to_owned());
            return Err(SecretError::Unbound { name, wanted });
        }
        self.bound_to(wanted, ENVIRONMENT)
    }

    fn bound_to(&self, SecretName { name, by }: &SecretName, place: &str) -> Result<Secret, SecretError> {
        let all = file::read(&self.file)?;
        let kept = all.get(name).ok_or_else(|| SecretError::Unknown(name.clone()))?;
        match (&kept.bound, by) {
            (Some(bound), _) if bound == place => {}
            (Some(bound), _) => {
                let (name, bound, wanted) = (name.clone(), bound.clone(), place.to_owned());
                return Err(SecretError::Elsewhere { name, bound, wanted });
            }
            (None, WantedBy::Workspace) => {
                return Err(SecretError::Unbound { name: name.clone(), wanted: place.to_owned() });
            }
            (None, WantedBy::User) => file::change(&self.file, |all| match all.get_mut(name) {
                Some(now) if now.bound.as_ref().is_none_or(|bound| bound == place) => {
                    now.bound = Some(place.to_owned());
                    Ok(())
                }
                Some(_) | None => Err(SecretError::Unknown(name.clone())),
            })?,
        }
        let value = match &kept.value {
            Some(value) => value.clone(),
            None => self.in_keyring(name, |keyring| keyring.get(name))?,
        };
        if let Some(recorder) = &self.recorder {
            recorder.hide(vec![value.clone()]);
        }
        Ok(Secret::new(value))
    }
}

/// Checks a name that a person gave.
pub fn check_name(name: &str) -> Result<(), SecretError> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        let message = format!("a secret's name has 1 to {MAX_NAME_BYTES} bytes and no control characters");
        return Err(SecretError::Unfit(message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn wanted(by: WantedBy) -> SecretName {
        SecretName { name: "engine".to_owned(), by }
    }

    #[test]
    fn a_secret_goes_only_where_it_went_first() {
        let data = tempfile::tempdir().unwrap();
        let secrets = Secrets::within(data.path());
        secrets.set("engine", &Secret::new("canary-1")).unwrap();
        let here = "http://127.0.0.1:9099";
        let early = secrets.for_origin(&wanted(WantedBy::Workspace), here).unwrap_err();
        assert!(matches!(early, SecretError::Unbound { .. }), "{early}");
        assert_eq!(secrets.for_origin(&wanted(WantedBy::User), here).unwrap().reveal(), "canary-1");
        assert_eq!(secrets.for_origin(&wanted(WantedBy::Workspace), here).unwrap().reveal(), "canary-1");
        let error = secrets.for_origin(&wanted(WantedBy::User), "http://evil.example:9099").unwrap_err().to_string();
        assert!(error.contains("bound to http://127.0.0.1:9099") && !error.contains("canary"), "{error}");
        assert!(secrets.for_variable(&wanted(WantedBy::User)).is_err());
        secrets.set("engine", &Secret::new("canary-2")).unwrap();
        assert_eq!(secrets.list().unwrap(), [Listed { name: "engine".to_owned(), bound: None, kept: Keep::File }]);
        assert_eq!(secrets.for_variable(&wanted(WantedBy::User)).unwrap().reveal(), "canary-2");
        assert!(secrets.for_variable(&wanted(WantedBy::Workspace)).is_err());
        assert_eq!((secrets.remove("engine").unwrap(), secrets.remove("engine").unwrap()), (true, false));
        assert!(matches!(secrets.for_origin(&wanted(WantedBy::User), here), Err(SecretError::Unknown(_))));
    }

    #[test]
    fn nobody_else_can_read_the_file() {
        let data = tempfile::tempdir().unwrap();
        let secrets = Secrets::within(data.path());
        secrets.set("a", &Secret::new("x")).unwrap();
        let mode = std::fs::metadata(data.path().join("secrets.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(data.path().join("secrets.json"), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(secrets.list(), Err(SecretError::File(_))), "a file that others can read is not used");
    }

    #[test]
    fn what_cannot_be_a_secret_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let secrets = Secrets::within(data.path());
        for (name, value) in [("", "x"), ("a\n", "x"), ("a", ""), ("a", "two\nlines")] {
            assert!(matches!(secrets.set(name, &Secret::new(value)), Err(SecretError::Unfit(_))), "{name:?} {value:?}");
        }
        assert_eq!(secrets.list().unwrap(), []);
    }
}
