//! Which agent is checked, and where; and what a person can do when it does not work.

use std::path::{Path, PathBuf};

use switchboard_types::{AgentName, WorkspaceRoot};

use super::probe::Stopped;
use super::steps::Steps;
use crate::agents::known::{self, Known};
use crate::agents::{AgentSpec, EnvValue, find_program};
use crate::cli::agents::Configured;
use crate::cli::args::{CheckArgs, Cli};
use crate::cli::exit::{Exit, Failure};
use crate::cli::reach::Reach;
use crate::config::Startup;

/// The agent and its surroundings.
pub(super) struct Whom {
    pub(super) spec: AgentSpec,
    /// The well-known agent that it is, if it is one.
    known: Option<&'static Known>,
    /// Whether it is in the configuration.
    configured: bool,
    pub(super) root: WorkspaceRoot,
    /// A folder of its own, gone with it.
    apart: Option<Apart>,
    pub(super) startup: Startup,
    pub(super) stall_ms: u64,
}

impl Whom {
    /// Finds it: a configured one, or a well-known one that is not configured yet.
    pub(super) async fn find(cli: &Cli, args: &CheckArgs) -> Result<Self, Failure> {
        let (user, root, name) = (cli.config()?, cli.workspace(None)?, AgentName::new(args.name.as_str()));
        let folder = cli.folder()?;
        let trusted = Reach::find(&folder).await?.trusts(&root).await?;
        let configured = Configured::read(user, root, trusted)?;
        let known = known::named(name.as_str());
        let (spec, is_configured) = match (configured.merged.agents().find(|spec| spec.name == name), known) {
            (Some(spec), _) => (spec, true),
            (None, Some(known)) => (known.find(std::env::var_os("PATH").as_deref()).spec(), false),
            (None, None) => {
                let message =
                    format!("there is no agent `{name}`; `switchboard agents list` names those that there are");
                return Err(Failure::not_found(message));
            }
        };
        if !args.apart && !trusted && !name.is_demo() {
            return Err(Failure::new(
                Exit::Denied,
                format!(
                    "{} is not trusted, and an agent may run what lies there: `switchboard trust` if you know the folder, \
                     or `switchboard agents check {name} --apart` to check it in an empty folder",
                    configured.root
                ),
            ));
        }
        let apart = if args.apart { Some(Apart::make(folder.path())?) } else { None };
        let root = apart.as_ref().map_or(configured.root, |apart| apart.root.clone());
        let (startup, stall_ms) = (configured.user.startup, configured.user.stillness.stall_ms);
        Ok(Self { spec, known, configured: is_configured, root, apart, startup, stall_ms })
    }

    /// Whether it came from the table; then its maker's words help.
    fn words_of_maker(&self) -> Option<&'static Known> {
        self.known.filter(|known| {
            let command = self.spec.kind.process().map(|process| process.command.as_slice());
            !self.configured || command == Some(known.find(std::env::var_os("PATH").as_deref()).command.as_slice())
        })
    }

    pub(super) fn say(&self, steps: &mut Steps) {
        if !self.configured {
            steps.remark(&format!("`{}` is not configured; it is checked as it would be started", self.spec.name));
        }
        if let Some(apart) = &self.apart {
            steps.remark(&format!("in an empty folder of its own, {}", apart.root));
        }
        if self.is_by_npx() {
            steps.remark("npx may fetch its package first, which takes a while");
        }
    }

    fn words(&self) -> &[String] {
        self.spec.kind.process().map(|process| process.command.as_slice()).unwrap_or_default()
    }

    fn is_by_npx(&self) -> bool {
        self.words().first().is_some_and(|word| word == "npx")
    }

    /// Its program's file.
    pub(super) fn program(&self) -> Result<PathBuf, String> {
        let set = self.spec.kind.process().and_then(|process| process.env.get("PATH"));
        let path = match set {
            Some(EnvValue::Plain(path)) => Some(path.into()),
            Some(EnvValue::Secret(_) | EnvValue::Token(_)) | None => std::env::var_os("PATH"),
        };
        let word = self.words().first().map_or("", String::as_str);
        find_program(word, Path::new(self.root.as_str()), path.as_deref()).map_err(|error| error.to_string())
    }

    /// How to get it.
    pub(super) fn install(&self) -> String {
        match self.words_of_maker() {
            Some(known) => known.install.to_owned(),
            None => "mend its `command` in the configuration, or install the program".to_owned(),
        }
    }

    /// How to sign in.
    pub(super) fn sign_in(&self) -> String {
        let Some(known) = self.words_of_maker() else { return String::new() };
        let missing: Vec<_> = known.inherit.iter().filter(|name| std::env::var_os(name).is_none()).collect();
        let hint = if missing.is_empty() || !self.configured {
            String::new()
        } else {
            "\na variable must be set where the host is started, and named in `inherit`".to_owned()
        };
        format!("{}{hint}", known.sign_in)
    }

    /// What to do when it stopped in the middle.
    pub(super) fn next(&self, stopped: &Stopped) -> String {
        let mut lines = Vec::new();
        if stopped.timed_out {
            if self.is_by_npx() {
                lines.push(format!(
                    "npx may still be fetching it: run `{}` once by hand and wait",
                    self.words().join(" ")
                ));
            } else {
                lines.push(format!("start it by hand and see what it says: `{}`", self.words().join(" ")));
            }
            lines.push("if it only takes long, raise `startup_timeout_ms` in the configuration".to_owned());
        } else {
            lines.extend(self.words_of_maker().map(|known| known.sign_in.to_owned()));
        }
        if !stopped.last_words.is_empty() {
            lines.push("its last words on standard error:".to_owned());
            lines.extend(stopped.last_words.iter().map(|line| format!("  {line}")));
        }
        lines.join("\n")
    }

    pub(super) fn farewell(&self) -> String {
        let name = &self.spec.name;
        if self.configured || name.is_demo() {
            format!("`{name}` works.")
        } else {
            format!("`{name}` works. To have it in every folder that you trust: `switchboard agents add {name}`")
        }
    }
}

/// An empty folder for one check.
struct Apart {
    root: WorkspaceRoot,
}

impl Apart {
    fn make(data: &Path) -> Result<Self, Failure> {
        use std::os::unix::fs::DirBuilderExt;

        let folder = data.join(format!("check-{}", std::process::id()));
        let failed = |error: std::io::Error| Failure::failed(format!("{} cannot be used: {error}", folder.display()));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        let root = folder.to_str().map(WorkspaceRoot::from);
        let root = root.ok_or_else(|| Failure::failed("the data folder has a name that is not UTF-8"))?;
        Ok(Self { root })
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // Made by this check, and only what the agent has written is in it.
        let _ = std::fs::remove_dir_all(self.root.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_its_own_is_gone_with_the_check() {
        let data = tempfile::tempdir().unwrap();
        let apart = Apart::make(data.path()).unwrap();
        let path = PathBuf::from(apart.root.as_str());
        std::fs::write(path.join("left.txt"), "x").unwrap();
        drop(apart);
        assert!(!path.exists());
    }
}
