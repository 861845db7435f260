//! The user's file, changed by program: an agent is added or taken out, and all else stays as it was written, comments
//! and order included. Never writes a file that would not be understood.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use switchboard_types::AgentName;
use thiserror::Error;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::place::{ConfigError, Source};
use super::settings::{Config, Owner, text_of};
use crate::agents::{AgentKind, AgentSpec, EnvValue};

/// The table of all agents.
pub(super) const AGENTS: &str = "agents";
/// The key that names the one that works when nobody is named.
pub(super) const DEFAULT: &str = "default_agent";

/// Why the file was not changed.
#[derive(Debug, Error)]
pub enum EditError {
    /// There is no place for it.
    #[error("there is no home folder to keep a configuration in; set HOME, or name a file with `--config FILE`")]
    NoFile,
    /// The name is in use.
    #[error("{} has an agent `{name}` already; take it out first: `switchboard agents remove {name}`", file.display())]
    Taken {
        /// Whose.
        name: AgentName,
        /// Where.
        file: PathBuf,
    },
    /// The name is not there.
    #[error("{} has no agent `{name}`; it has: {known}", file.display())]
    NotThere {
        /// Whose.
        name: AgentName,
        /// Where.
        file: PathBuf,
        /// Who is there.
        known: String,
    },
    /// The file is wrong as it is.
    #[error("{0}; mend that first")]
    Wrong(#[from] ConfigError),
    /// What is to be written would not be understood.
    #[error("{0}; nothing was written")]
    WouldBeWrong(ConfigError),
    /// It must not be; in words.
    #[error("{0}")]
    Refused(String),
    /// The file is written in a way that a program cannot carry on.
    #[error("{} is written in a way that cannot be changed by program; change it by hand", file.display())]
    ByHand {
        /// Which file.
        file: PathBuf,
    },
    /// The system says no.
    #[error("{} cannot be written: {source}", file.display())]
    Unwritable {
        /// Which file.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// What else was changed when an agent was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlsoRemoved {
    /// Nothing.
    Nothing,
    /// It was the default, which nobody is now.
    Default,
}

/// Adds an agent to the user's file, which is made if it is not there.
pub fn add(file: &Path, agent: &AgentSpec) -> Result<(), EditError> {
    let held = Held::of(file)?;
    let before = held.read()?;
    if before.config.configured(&agent.name).is_some() {
        return Err(EditError::Taken { name: agent.name.clone(), file: file.to_owned() });
    }
    let by_hand = || EditError::ByHand { file: file.to_owned() };
    let text = with_entry(&held, (&before.text, &before.document), agent).ok_or_else(by_hand)?;
    let after = held.would_be(&text)?;
    if after.configured(&agent.name) != Some(agent) || !same_but(&before.config, &after, &agent.name) {
        return Err(by_hand());
    }
    held.write(&text)
}

/// The text with the agent in it, of which `document` is the same; none for kinds that are not written by program.
pub(super) fn with_entry(held: &Held<'_>, (text, document): (&str, &DocumentMut), agent: &AgentSpec) -> Option<String> {
    let entry = entry(agent)?;
    // At the end nothing of what was written by hand moves. Where that cannot be, all agents are one value.
    let appended = appended(text, &agent.name, entry.clone());
    match held.would_be(&appended) {
        Ok(_) => Some(appended),
        Err(_) => with_value(document, &agent.name, entry).or(Some(appended)),
    }
}

/// The text with an entry of its own at the end.
fn appended(text: &str, name: &AgentName, entry: InlineTable) -> String {
    let mut agents = Table::new();
    agents.set_implicit(true);
    agents.insert(name.as_str(), Item::Table(entry.into_table()));
    let mut document = DocumentMut::new();
    document.insert(AGENTS, Item::Table(agents));
    let between = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{between}{document}")
}

/// Takes an agent out of the user's file, with the comments right above it.
pub fn remove(file: &Path, name: &AgentName) -> Result<AlsoRemoved, EditError> {
    let held = Held::of(file)?;
    let Read { config: before, mut document, .. } = held.read()?;
    if before.configured(name).is_none() {
        let known: Vec<_> = before.agents().skip(1).map(|spec| format!("`{}`", spec.name)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(EditError::NotThere { name: name.clone(), file: file.to_owned(), known });
    }
    let agents = document.get_mut(AGENTS).and_then(Item::as_table_like_mut);
    let gone = agents.and_then(|agents: &mut dyn TableLike| agents.remove(name.as_str()));
    let was_default = document.get(DEFAULT).and_then(Item::as_str) == Some(name.as_str());
    if was_default {
        document.remove(DEFAULT);
    }
    let text = document.to_string();
    let after = held.would_be(&text)?;
    if gone.is_none() || after.configured(name).is_some() || !same_but(&before, &after, name) {
        return Err(EditError::ByHand { file: file.to_owned() });
    }
    held.write(&text)?;
    Ok(if was_default { AlsoRemoved::Default } else { AlsoRemoved::Nothing })
}

/// Whether both have the same agents, this one aside.
pub(super) fn same_but(before: &Config, after: &Config, name: &AgentName) -> bool {
    let others = |config: &Config| config.agents().filter(|spec| spec.name != *name).collect::<Vec<_>>();
    others(before) == others(after) && before.server == after.server && before.startup == after.startup
}

/// The table of an agent that is a process or works with a model; none for other kinds.
fn entry(agent: &AgentSpec) -> Option<InlineTable> {
    let mut table = InlineTable::new();
    table.insert("kind", agent.kind.word().into());
    if let AgentKind::Model { base_url, model, secret, .. } = &agent.kind {
        table.insert("base_url", base_url.as_str().into());
        table.insert("model", model.as_str().into());
        secret.iter().for_each(|secret| drop(table.insert("secret", secret.name.as_str().into())));
        return Some(table);
    }
    let process = agent.kind.process()?;
    table.insert("command", Value::Array(process.command.iter().collect::<Array>()));
    if !process.env.is_empty() {
        let mut env = InlineTable::new();
        for (name, value) in &process.env {
            match value {
                EnvValue::Plain(text) => env.insert(name, text.as_str().into()),
                EnvValue::Secret(secret) => {
                    env.insert(name, Value::InlineTable([("secret", secret.name.as_str())].into_iter().collect()))
                }
                // Only the host itself makes these.
                EnvValue::Token(_) => None,
            };
        }
        table.insert("env", Value::InlineTable(env));
    }
    if !process.inherit.is_empty() {
        table.insert("inherit", Value::Array(process.inherit.iter().collect::<Array>()));
    }
    Some(table)
}

/// The file as it was read.
pub(super) struct Read {
    pub(super) text: String,
    pub(super) config: Config,
    pub(super) document: DocumentMut,
}

/// The text with an entry within the one value that all agents are; none if they are not.
fn with_value(document: &DocumentMut, name: &AgentName, entry: InlineTable) -> Option<String> {
    let mut document = document.clone();
    let agents = document.get_mut(AGENTS)?.as_inline_table_mut()?;
    agents.insert(name.as_str(), Value::InlineTable(entry));
    Some(document.to_string())
}

/// The file while it is changed: whoever else wants to change it by program waits.
pub(super) struct Held<'a> {
    named: &'a Path,
    /// What it stands on.
    base: Config,
    owner: Owner,
    /// Where it really is: people keep such files elsewhere and link to them.
    file: PathBuf,
    folder: File,
}

impl<'a> Held<'a> {
    /// The user's own.
    pub(super) fn of(named: &'a Path) -> Result<Self, EditError> {
        Self::open(named, Config::default(), Owner::User)
    }

    /// That of a workspace, on top of what the user has.
    pub(super) fn of_workspace(named: &'a Path, user: Config) -> Result<Self, EditError> {
        Self::open(named, user, Owner::Workspace)
    }

    fn open(named: &'a Path, base: Config, owner: Owner) -> Result<Self, EditError> {
        let unwritable = |source| EditError::Unwritable { file: named.to_owned(), source };
        let file = match fs::canonicalize(named) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(named).map_err(unwritable)?,
            Err(error) => return Err(unwritable(error)),
        };
        let place = file.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(unwritable)?;
        let folder = File::open(place).map_err(unwritable)?;
        folder.lock().map_err(unwritable)?;
        Ok(Self { named, base, owner, file, folder })
    }

    pub(super) fn named(&self) -> &Path {
        self.named
    }

    /// Where it really is.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    fn understood(&self, text: &str) -> Result<Config, ConfigError> {
        self.base.clone().understood(Source { file: self.named, text }, self.owner)
    }

    pub(super) fn read(&self) -> Result<Read, EditError> {
        let text = match text_of(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(ConfigError::Unreadable { file: self.named.to_owned(), source }.into()),
        };
        let config = self.understood(&text)?;
        let document = text.parse().map_err(|_| EditError::ByHand { file: self.named.to_owned() })?;
        Ok(Read { text, config, document })
    }

    pub(super) fn would_be(&self, text: &str) -> Result<Config, EditError> {
        self.understood(text).map_err(EditError::WouldBeWrong)
    }

    /// Puts the new text in the place of the old in one step.
    pub(super) fn write(&self, text: &str) -> Result<(), EditError> {
        let mode = fs::metadata(&self.file).map_or(0o600, |found| found.permissions().mode() & 0o777);
        let fresh = self.file.with_extension(format!("toml.new-{}", std::process::id()));
        let written = replace(&self.file, &fresh, text, mode);
        if written.is_err() {
            // What was begun is of no use to anybody.
            let _ = fs::remove_file(&fresh);
        }
        // It is there already; only a power loss could take it back.
        let _ = self.folder.sync_all();
        written.map_err(|source| EditError::Unwritable { file: self.named.to_owned(), source })
    }
}

fn replace(file: &Path, fresh: &Path, text: &str, mode: u32) -> io::Result<()> {
    // What a dead process of the same number left.
    let _ = fs::remove_file(fresh);
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(fresh)?;
    written.write_all(text.as_bytes())?;
    written.set_permissions(Permissions::from_mode(mode))?;
    written.sync_all()?;
    fs::rename(fresh, file)
}
