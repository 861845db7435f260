//! What a child may know of the host's environment: an allow-list, what it inherits by name, what is set for it.
//! Never passes on anything else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use thiserror::Error;

use super::spec::{EnvValue, ProcessSpec};

/// Names that every child gets, if the host has them.
const ALLOWED: [&str; 8] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "TZ"];
/// How allowed names of the locale begin.
const LOCALE: &[u8] = b"LC_";

/// A variable that cannot be set.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum EnvironmentError {
    /// Secrets are not there yet.
    #[error(
        "its variable `{variable}` wants the secret `{secret}`, and this version keeps no secrets; \
         name the variable in `inherit` and set it for the host instead"
    )]
    NoSecrets {
        /// The variable.
        variable: String,
        /// The secret.
        secret: String,
    },
}

/// The child's whole environment, made from the host's.
pub(super) fn of_child(
    process: &ProcessSpec,
    host: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<BTreeMap<OsString, OsString>, EnvironmentError> {
    let mut environment: BTreeMap<_, _> =
        host.into_iter().filter(|(name, _)| is_allowed(name) || is_inherited(name, process)).collect();
    for (variable, value) in &process.env {
        match value {
            EnvValue::Plain(value) => environment.insert(variable.into(), value.into()),
            EnvValue::Secret(secret) => {
                return Err(EnvironmentError::NoSecrets { variable: variable.clone(), secret: secret.0.clone() });
            }
        };
    }
    Ok(environment)
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
        let environment = of_child(&process, host()).unwrap();
        assert_eq!(
            names(&environment),
            ["HOME", "LANG", "LC_ALL", "LOG", "PATH", "PROXY", "SHELL", "TERM", "TMPDIR", "TZ", "USER"]
        );
        assert_eq!(environment[OsStr::new("TZ")], "UTC");
    }

    #[test]
    fn a_secret_is_refused_as_long_as_there_are_none() {
        let mut process = ProcessSpec::new(["x"]);
        process.env.insert("KEY".into(), EnvValue::Secret(SecretName("anthropic".into())));
        let error = of_child(&process, host()).unwrap_err();
        assert!(error.to_string().contains("`KEY` wants the secret `anthropic`"), "{error}");
    }
}
