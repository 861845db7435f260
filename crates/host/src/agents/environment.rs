//! What a child may know of the host's environment: an allow-list, what it inherits by name, what is set for it.
//! Never passes on anything else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use thiserror::Error;

use super::spec::{EnvValue, Need, ProcessSpec, Token};
use crate::secrets::Secrets;
use crate::server::Secret;

/// Names that every child gets, if the host has them.
const ALLOWED: [&str; 8] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "TZ"];
/// How allowed names of the locale begin.
const LOCALE: &[u8] = b"LC_";

/// Where secrets come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vault<'a> {
    /// From the store of secrets.
    Open(&'a Secrets),
    /// From nowhere.
    Closed,
}

/// A variable that cannot be set.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum EnvironmentError {
    /// Its secret cannot be had.
    #[error("its variable `{variable}` wants a secret: {why}")]
    NoSecret {
        /// The variable.
        variable: String,
        /// Why not.
        why: String,
    },
}

/// The child's whole environment, made from the host's.
pub(super) fn of_child(
    process: &ProcessSpec,
    host: impl IntoIterator<Item = (OsString, OsString)>,
    vault: Vault<'_>,
) -> Result<BTreeMap<OsString, OsString>, EnvironmentError> {
    let mut environment: BTreeMap<_, _> =
        host.into_iter().filter(|(name, _)| is_allowed(name) || is_inherited(name, process)).collect();
    for (variable, value) in &process.env {
        match value {
            EnvValue::Plain(value) => environment.insert(variable.into(), value.into()),
            EnvValue::Secret(wanted) => {
                let found = match vault {
                    Vault::Open(secrets) => secrets.for_variable(wanted).map_err(|error| error.to_string()),
                    Vault::Closed => Err("nothing that is no agent is given one".to_owned()),
                };
                let no_secret = |why| EnvironmentError::NoSecret { variable: variable.clone(), why };
                environment.insert(variable.into(), found.map_err(no_secret)?.reveal().into())
            }
            EnvValue::Token(token) => match (token_of(token, vault), token.need) {
                (Ok(found), _) => environment.insert(variable.into(), found.reveal().into()),
                (Err(_), Need::May) => environment.remove(OsStr::new(variable)),
                (Err(why), Need::Must) => {
                    return Err(EnvironmentError::NoSecret { variable: variable.clone(), why });
                }
            },
        };
    }
    Ok(environment)
}

fn token_of(token: &Token, vault: Vault<'_>) -> Result<Secret, String> {
    match vault {
        Vault::Open(secrets) => secrets.for_origin(&token.secret, &token.origin).map_err(|error| error.to_string()),
        Vault::Closed => Err("nothing that is no agent is given one".to_owned()),
    }
}

fn is_allowed(name: &OsStr) -> bool {
    ALLOWED.iter().any(|allowed| name == *allowed) || name.as_encoded_bytes().starts_with(LOCALE)
}

fn is_inherited(name: &OsStr, process: &ProcessSpec) -> bool {
    process.inherit.iter().any(|inherited| name == inherited.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::spec::SecretName;
    use super::*;

    fn host() -> Vec<(OsString, OsString)> {
        ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "SHELL", "TZ", "AWS_SECRET", "PROXY", "LCX"]
            .map(|name| (name.into(), format!("host's {name}").into()))
            .into()
    }

    fn names(environment: &BTreeMap<OsString, OsString>) -> Vec<&str> {
        environment.keys().filter_map(|name| name.to_str()).collect()
    }

    #[test]
    fn a_child_gets_the_allow_list_what_it_inherits_and_what_is_set() {
        let mut process = ProcessSpec::new(["x"]);
        process.inherit = vec!["PROXY".into(), "ABSENT".into()];
        process.env.insert("LOG".into(), EnvValue::Plain("info".into()));
        process.env.insert("TZ".into(), EnvValue::Plain("UTC".into()));
        let environment = of_child(&process, host(), Vault::Closed).unwrap();
        assert_eq!(
            names(&environment),
            ["HOME", "LANG", "LC_ALL", "LOG", "PATH", "PROXY", "SHELL", "TERM", "TMPDIR", "TZ", "USER"]
        );
        assert_eq!(environment[OsStr::new("TZ")], "UTC");
    }

    #[test]
    fn a_secret_is_taken_from_the_store_and_is_missed_if_it_is_not_there() {
        let data = tempfile::tempdir().unwrap();
        let secrets = Secrets::within(data.path());
        let mut process = ProcessSpec::new(["x"]);
        process.env.insert("KEY".into(), EnvValue::Secret(SecretName::of_user("anthropic")));
        let error = of_child(&process, host(), Vault::Open(&secrets)).unwrap_err().to_string();
        assert!(error.contains("`KEY`") && error.contains("switchboard secrets set anthropic"), "{error}");
        secrets.set("anthropic", &crate::server::Secret::new("canary")).unwrap();
        let environment = of_child(&process, host(), Vault::Open(&secrets)).unwrap();
        assert_eq!(environment[OsStr::new("KEY")], "canary");
    }
}
