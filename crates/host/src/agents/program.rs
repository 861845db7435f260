//! Which file a command's first word is. Says in words why there is none; starts nothing.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a program cannot be started.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum ProgramError {
    /// The command is empty.
    #[error("its command is empty")]
    Empty,
    /// The workspace's folder is gone.
    #[error("its folder `{0}` is not there")]
    NoFolder(String),
    /// Nothing of this name in any folder of PATH.
    #[error("there is no program `{0}` in PATH; install it or give its full path in `command`")]
    NotInPath(String),
    /// No such file.
    #[error("there is no program `{0}`")]
    NoFile(String),
    /// A file that may not be run.
    #[error("`{0}` is not executable; try `chmod +x` on it")]
    NotExecutable(String),
}

/// Finds the program: a bare name in `path`, a relative one with a slash in the workspace, an absolute one as it is.
pub(crate) fn find(word: &str, root: &Path, path: Option<&OsStr>) -> Result<PathBuf, ProgramError> {
    if word.is_empty() {
        return Err(ProgramError::Empty);
    }
    if !root.is_dir() {
        return Err(ProgramError::NoFolder(root.display().to_string()));
    }
    if word.contains('/') {
        return named(&root.join(word));
    }
    // An empty or relative entry of PATH would run what lies in the workspace; those are left out.
    let folders = std::env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute());
    let found: Vec<_> = folders.map(|folder| folder.join(word)).filter(|file| file.is_file()).collect();
    match found.iter().find(|file| is_executable(file)) {
        Some(file) => Ok(file.clone()),
        None => Err(found.first().map_or_else(
            || ProgramError::NotInPath(word.to_owned()),
            |file| ProgramError::NotExecutable(file.display().to_string()),
        )),
    }
}

fn named(file: &Path) -> Result<PathBuf, ProgramError> {
    let shown = file.display().to_string();
    match file.metadata() {
        Err(_) => Err(ProgramError::NoFile(shown)),
        Ok(_) if !file.is_file() || !is_executable(file) => Err(ProgramError::NotExecutable(shown)),
        Ok(_) => Ok(file.to_owned()),
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_sort_of_word_is_looked_up_in_its_place() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("agent.sh");
        fs::write(&own, "#!/bin/sh\n").unwrap();
        let path = Some(OsStr::new(".:/bin:/usr/bin"));
        assert_eq!(
            find("./agent.sh", root.path(), path),
            Err(ProgramError::NotExecutable(root.path().join("./agent.sh").display().to_string()))
        );
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("./agent.sh", root.path(), path), Ok(root.path().join("./agent.sh")));
        assert_eq!(find("agent.sh", root.path(), path), Err(ProgramError::NotInPath("agent.sh".into())));
        assert!(find("sh", root.path(), path).unwrap().is_absolute());
        assert_eq!(find("/bin/sh", root.path(), path), Ok("/bin/sh".into()));
        assert_eq!(find("", root.path(), path), Err(ProgramError::Empty));
        assert_eq!(find("/nowhere/x", root.path(), path), Err(ProgramError::NoFile("/nowhere/x".into())));
        assert_eq!(find("sh", Path::new("/nowhere"), path), Err(ProgramError::NoFolder("/nowhere".into())));
    }
}
