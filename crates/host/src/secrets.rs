//! Secrets that agents need, kept in a file that only this user can read. A value leaves it only for the place that it is bound
//! to; nothing here prints one.
//!
//! | module | owns |
//! | --- | --- |
//! | `file` | the file: read and replaced as a whole, by one program at a time |

mod file;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::agents::spec::{SecretName, WantedBy};
use crate::server::Secret;

use file::Kept;

/// Bytes of a secret.
pub const MAX_SECRET_BYTES: usize = 64 * 1024;
/// Bytes of a secret's name.
pub const MAX_NAME_BYTES: usize = 128;
/// Secrets that are kept.
pub const MAX_SECRETS: usize = 1_000;
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
    /// It cannot be kept as it is.
    #[error("{0}")]
    Unfit(String),
    /// The file cannot be read or written.
    #[error("the file of secrets cannot be used: {0}")]
    File(#[from] io::Error),
}

/// The secrets of one data folder. Nothing is kept in memory.
#[derive(Clone, Debug)]
pub struct Secrets {
    file: PathBuf,
}

/// A secret without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Where it may be sent; none before it was first used.
    pub bound: Option<String>,
}

impl Secrets {
    /// Those of this data folder.
    #[must_use]
    pub fn within(data: &Path) -> Self {
        Self { file: data.join("secrets.json") }
    }

    /// Stores one, in place of the one of that name. It is bound to no place then.
    pub fn set(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        check_name(name)?;
        let text = value.reveal();
        if text.is_empty() || text.len() > MAX_SECRET_BYTES || text.contains(char::is_control) {
            let message = format!("a secret has 1 to {MAX_SECRET_BYTES} bytes on one line, without control characters");
            return Err(SecretError::Unfit(message));
        }
        file::change(&self.file, |all| {
            if all.len() >= MAX_SECRETS && !all.contains_key(name) {
                return Err(SecretError::Unfit(format!("{MAX_SECRETS} secrets are stored; remove one first")));
            }
            all.insert(name.to_owned(), Kept { value: text.to_owned(), bound: None });
            Ok(())
        })
    }

    /// All of them, by name.
    pub fn list(&self) -> Result<Vec<Listed>, SecretError> {
        let listed = |(name, kept): (String, Kept)| Listed { name, bound: kept.bound };
        Ok(file::read(&self.file)?.into_iter().map(listed).collect())
    }

    /// Forgets one; whether there was one.
    pub fn remove(&self, name: &str) -> Result<bool, SecretError> {
        file::change(&self.file, |all| Ok(all.remove(name).is_some()))
    }

    /// All values, to be taken out of what is shown.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        file::read(&self.file).map(|all| all.into_values().map(|kept| kept.value).collect()).unwrap_or_default()
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
        Ok(Secret::new(kept.value.clone()))
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
        assert_eq!(secrets.list().unwrap(), [Listed { name: "engine".to_owned(), bound: None }]);
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
