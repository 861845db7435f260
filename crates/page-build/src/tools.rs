//! Node and npm as they are installed here. Runs them; decides nothing about the page.

use std::fmt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::error::PageError;

/// The oldest Node that the page's tools run on, as `web/package.json` says, too.
pub(crate) const OLDEST_NODE: Version = Version { major: 20, minor: 19 };
/// How much of a failed program's words is repeated.
const MAX_OUTPUT_LINES: usize = 60;

/// A version of Node, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// Reads what `node --version` says, `v20.19.1` for example.
    fn read(said: &str) -> Option<Self> {
        let mut parts = said.trim().strip_prefix('v')?.split('.');
        Some(Self { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}.{}", self.major, self.minor)
    }
}

/// Node and npm, found and new enough.
#[derive(Debug)]
pub struct Tools(());

impl Tools {
    /// Looks for them in the PATH.
    ///
    /// # Errors
    /// If one is missing or Node is too old.
    pub fn find() -> Result<Self, PageError> {
        let said = first_words("node")?;
        let found = Version::read(&said).ok_or(PageError::Strange { said })?;
        if found < OLDEST_NODE {
            return Err(PageError::Old { found });
        }
        first_words("npm")?;
        Ok(Self(()))
    }

    /// A run of npm in a folder.
    pub(crate) fn npm(&self, folder: &Path) -> Command {
        in_folder("npm", folder)
    }

    /// A run of Node in a folder.
    #[must_use]
    pub fn node(&self, folder: &Path) -> Command {
        in_folder("node", folder)
    }
}

fn in_folder(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    // Somebody's production setting would leave out the very tools that build the page.
    command.current_dir(folder).env_remove("NODE_ENV").env_remove("NODE_OPTIONS").stdin(Stdio::null());
    command
}

fn first_words(program: &'static str) -> Result<String, PageError> {
    let missing = |cause| PageError::Missing { program, cause };
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().map_err(missing)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a command to its end and keeps what it said for the case that it fails.
pub(crate) fn run(mut command: Command, program: &'static str, advice: &'static str) -> Result<(), PageError> {
    let Output { status, stdout, stderr } = command.output().map_err(|cause| PageError::Missing { program, cause })?;
    if status.success() {
        return Ok(());
    }
    let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    Err(PageError::Failed {
        command: format!("{program} {}", words.join(" ")),
        folder: command.get_current_dir().map(Path::to_path_buf).unwrap_or_default(),
        status,
        advice,
        output: last_lines(&String::from_utf8_lossy(&stdout), &String::from_utf8_lossy(&stderr)),
    })
}

fn last_lines(stdout: &str, stderr: &str) -> String {
    let lines: Vec<&str> = stdout.lines().chain(stderr.lines()).collect();
    lines.get(lines.len().saturating_sub(MAX_OUTPUT_LINES)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_by_its_numbers() {
        let read = |said| Version::read(said).unwrap();
        assert_eq!(read("v20.19.2\n"), OLDEST_NODE);
        assert!(read("v20.9.0") < OLDEST_NODE && read("v18.20.4") < OLDEST_NODE && read("v22.1.0") > OLDEST_NODE);
        assert_eq!(Version::read("20.19.2"), None);
        assert_eq!(Version::read("v20"), None);
        assert_eq!(Version::read(""), None);
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_install() {
        let error = run(Command::new("no-such-program-anywhere"), "node", "").unwrap_err().to_string();
        assert!(
            error.contains("`node` cannot be run") && error.contains("20.19") && error.contains("apt-get"),
            "{error}"
        );
    }

    #[test]
    fn a_failed_program_is_quoted() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let error = run(command, "sh", "Do this.").unwrap_err().to_string();
        for part in ["sh -c", "3", "Do this.", "out\nerr"] {
            assert!(error.contains(part), "{part} in {error}");
        }
        let long: String = (0..100).map(|n| format!("{n}\n")).collect();
        assert_eq!(last_lines(&long, "").lines().next(), Some("40"));
    }
}
