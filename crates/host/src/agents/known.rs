//! Well-known agents: how each is started, how to get it, where to sign in, and whether it is on this machine. Looks for
//! files; starts and fetches nothing.
//!
//! | module | owns |
//! | --- | --- |
//! | `table` | the agents themselves |

mod table;

use std::ffi::OsStr;
use std::path::Path;

use switchboard_types::{AgentName, AgentOffer};

use super::program;
use super::spec::{AgentKind, AgentSpec, ProcessPer, ProcessSpec};

/// What fetches a package and starts its program.
const NPX: &str = "npx";
/// What it needs for that.
const NODE: &str = "node";
/// Programs are looked for in PATH only, so the folder does not matter.
const ANYWHERE: &str = "/";

/// An agent that many people have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name in a configuration.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// How it is started as an agent, the best way first; never empty.
    ways: &'static [Way],
    /// Programs of its maker that show that somebody uses it, where what speaks for it is another program.
    signs: &'static [&'static str],
    /// How to get it, for a person.
    pub install: &'static str,
    /// How to sign in, for a person.
    pub sign_in: &'static str,
    /// Variables that it may need of the host's environment.
    pub inherit: &'static [&'static str],
}

/// A way to start an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A program in PATH.
    Program {
        /// Its name.
        name: &'static str,
        /// What it is given.
        args: &'static [&'static str],
    },
    /// A package that npx fetches.
    Npx {
        /// Its name.
        package: &'static str,
        /// What its program is given.
        args: &'static [&'static str],
    },
}

impl Way {
    fn command(self) -> Vec<String> {
        let (head, args): (&[&str], _) = match &self {
            Self::Program { name, args } => (&[name], *args),
            Self::Npx { package, args } => (&[NPX, "-y", package], *args),
        };
        head.iter().chain(args).map(|&word| word.to_owned()).collect()
    }
}

/// How near an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// Its program is in PATH.
    Installed,
    /// Its maker's program is in PATH; npx fetches what speaks for it at the first start.
    Adapted,
    /// npx would fetch it at the first start.
    Fetchable,
    /// It must be installed first.
    Absent,
}

impl Nearness {
    /// Whether somebody has put it on this machine.
    #[must_use]
    pub fn is_installed(self) -> bool {
        match self {
            Self::Installed | Self::Adapted => true,
            Self::Fetchable | Self::Absent => false,
        }
    }
}

/// A well-known agent as it was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which one.
    pub known: &'static Known,
    /// How near it is.
    pub nearness: Nearness,
    /// How it would be started.
    pub command: Vec<String>,
}

impl Found {
    /// The agent as a configuration would have it.
    #[must_use]
    pub fn spec(&self) -> AgentSpec {
        let process = ProcessSpec {
            inherit: self.known.inherit.iter().map(|&name| name.to_owned()).collect(),
            per: ProcessPer::Session,
            ..ProcessSpec::new(self.command.iter().cloned())
        };
        AgentSpec { name: AgentName::from(self.known.name), kind: AgentKind::Acp(process) }
    }

    /// What a view is shown of it.
    #[must_use]
    pub fn offer(&self) -> AgentOffer {
        AgentOffer {
            name: AgentName::from(self.known.name),
            title: self.known.title.to_owned(),
            command: self.command.join(" "),
        }
    }
}

impl Known {
    /// Looks for it in `path`, which is what PATH says.
    #[must_use]
    pub fn find(&'static self, path: Option<&OsStr>) -> Found {
        let is_there = |name: &str| program::find(name, Path::new(ANYWHERE), path).is_ok();
        let by_npx = || is_there(NPX) && is_there(NODE);
        let (way, nearness) = self.nearest(is_there, by_npx);
        Found { known: self, nearness, command: way.map(Way::command).unwrap_or_default() }
    }

    /// How it is found here, if it can be started; else what to do about it, for a person.
    pub fn addable(&'static self) -> Result<Found, String> {
        let found = self.find(std::env::var_os("PATH").as_deref());
        match found.nearness {
            Nearness::Installed | Nearness::Adapted | Nearness::Fetchable => Ok(found),
            Nearness::Absent => Err(format!(
                "{} is not installed: there is no `{}` in PATH. To get it: {}",
                self.title,
                found.command.first().map_or("", String::as_str),
                self.install
            )),
        }
    }

    fn nearest(&self, is_there: impl Fn(&str) -> bool, by_npx: impl FnOnce() -> bool) -> (Option<Way>, Nearness) {
        let installed = self.ways.iter().find(|way| matches!(way, Way::Program { name, .. } if is_there(name)));
        if let Some(way) = installed {
            return (Some(*way), Nearness::Installed);
        }
        match self.ways.iter().find(|way| matches!(way, Way::Npx { .. })) {
            Some(way) if by_npx() => {
                let adapted = self.signs.iter().any(|name| is_there(name));
                (Some(*way), if adapted { Nearness::Adapted } else { Nearness::Fetchable })
            }
            Some(_) | None => (self.ways.first().copied(), Nearness::Absent),
        }
    }
}

/// All of them, in the order in which they are shown.
#[must_use]
pub fn all() -> &'static [Known] {
    table::KNOWN
}

/// The one of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Known> {
    all().iter().find(|known| known.name == name)
}

/// All of them as they are found on this machine.
#[must_use]
pub fn look() -> Vec<Found> {
    let path = std::env::var_os("PATH");
    all().iter().map(|known| known.find(path.as_deref())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn machine_with(programs: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for program in programs {
            let file = folder.path().join(program);
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn found(name: &str, programs: &[&str]) -> (Nearness, String) {
        let folder = machine_with(programs);
        let found = named(name).unwrap().find(Some(folder.path().as_os_str()));
        (found.nearness, found.command.join(" "))
    }

    #[test]
    fn an_agent_is_as_near_as_its_programs() {
        let adapter = "npx -y @agentclientprotocol/claude-agent-acp".to_owned();
        let cases = [
            ("claude", &["claude-agent-acp", "npx", "node"][..], (Nearness::Installed, "claude-agent-acp".to_owned())),
            ("claude", &["claude", "npx", "node"], (Nearness::Adapted, adapter.clone())),
            ("claude", &["npx", "node"], (Nearness::Fetchable, adapter)),
            ("claude", &["claude", "npx"], (Nearness::Absent, "claude-agent-acp".to_owned())),
            ("gemini", &["gemini"], (Nearness::Installed, "gemini --acp".to_owned())),
            ("goose", &["npx", "node"], (Nearness::Absent, "goose acp".to_owned())),
        ];
        for (name, programs, expected) in cases {
            assert_eq!(found(name, programs), expected, "{name} {programs:?}");
        }
    }

    #[test]
    fn every_entry_is_whole_and_its_name_is_its_own() {
        let names: BTreeSet<_> = all().iter().map(|known| known.name).collect();
        assert_eq!(names.len(), all().len());
        for known in all() {
            assert!(!known.ways.is_empty() && !known.title.is_empty(), "{}", known.name);
            assert!(!known.install.is_empty() && !known.sign_in.is_empty(), "{}", known.name);
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(known.name.chars().all(plain) && known.name != AgentName::DEMO, "{}", known.name);
            let variable = |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            assert!(known.inherit.iter().all(|name| variable(name)), "{}", known.name);
        }
    }
}
