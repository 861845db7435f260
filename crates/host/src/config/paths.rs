//! Where the user's configuration is. Reads the environment only.

use std::env;
use std::path::{Path, PathBuf};

/// Whether a file must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Somebody named it, so it must.
    ByName,
    /// It is the usual one; no file is an empty file.
    AsUsual,
}

/// The user's file: the named one, else the usual one; none if there is no home.
#[must_use]
pub fn user_file(named: Option<&Path>) -> Option<(PathBuf, Asked)> {
    match named {
        Some(path) => Some((path.to_owned(), Asked::ByName)),
        None => usual(env::var_os("XDG_CONFIG_HOME").map(PathBuf::from), env::var_os("HOME").map(PathBuf::from)),
    }
}

fn usual(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<(PathBuf, Asked)> {
    // The standard says that a relative path there is to be ignored.
    let folder = xdg.filter(|path| path.is_absolute()).or_else(|| {
        let home = home.filter(|path| path.is_absolute())?;
        Some(home.join(".config"))
    })?;
    Some((folder.join("switchboard/config.toml"), Asked::AsUsual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_file_follows_xdg() {
        let at = |xdg: Option<&str>, home: Option<&str>| {
            usual(xdg.map(PathBuf::from), home.map(PathBuf::from)).map(|(path, _)| path.display().to_string())
        };
        assert_eq!(at(Some("/x"), Some("/h")).as_deref(), Some("/x/switchboard/config.toml"));
        assert_eq!(at(Some("x"), Some("/h")).as_deref(), Some("/h/.config/switchboard/config.toml"));
        assert_eq!(at(None, None), None);
    }
}
