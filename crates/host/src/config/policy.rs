//! What the configuration says of tools: how commands are held in, how long a question waits, which files are changed
//! without one. A workspace's file can only make that stricter: who is asked must not be a matter of whoever wrote the
//! files that are worked on.

use std::ops::Range;
use std::path::{Path, PathBuf};

use switchboard_core::NetworkFor;
use switchboard_core::policy::{check_glob, default_patterns};
use switchboard_types::limits::MAX_PATTERNS;
use switchboard_types::{Patterns, Unasked};
use toml::Spanned;

use super::file::{ApprovalsTable, ContainmentTable, ContainmentWord, EditsTable, NetworkWord};
use super::place::{ConfigError, Source};

/// A week; whoever answers later does not answer.
const MAX_TIMEOUT_SECONDS: u64 = 7 * 86_400;
/// Folders that commands may write to besides the workspace.
const MAX_WRITABLE: usize = 64;

/// All of it, for one workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// How commands are held in.
    pub holding: Holding,
    /// How long a question waits, in milliseconds; 0 is for ever.
    pub approval_ms: u64,
    /// The user's patterns; none if there are none.
    own: Option<Vec<(String, Unasked)>>,
    /// Files that a workspace wants to be asked about, whatever the others say.
    asks: Vec<String>,
}

/// How commands are held in by the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Whether they are.
    pub mode: HoldingMode,
    /// Which of them may use the network.
    pub network: NetworkFor,
    /// Folders that they may write to, besides the workspace.
    pub writable: Vec<PathBuf>,
}

impl Default for Holding {
    fn default() -> Self {
        Self { mode: HoldingMode::Auto, network: NetworkFor::Approved, writable: Vec::new() }
    }
}

/// Whether commands are held in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldingMode {
    /// Where it works.
    Auto,
    /// Or they do not run.
    Required,
    /// No.
    Off,
}

/// What was left out, and why; for people.
pub(super) type Notes = Vec<String>;

impl ToolPolicy {
    /// The patterns of the settings, the last match of which decides; none if the built-in ones hold.
    #[must_use]
    pub fn patterns(&self) -> Option<Patterns> {
        if self.asks.is_empty() {
            return self.own.clone().map(Patterns);
        }
        let mut patterns = self.own.clone().unwrap_or_else(|| default_patterns().0);
        patterns.extend(self.asks.iter().map(|glob| (glob.clone(), Unasked::MayNot)));
        Some(Patterns(patterns))
    }

    /// What the user's own file says of files; none if it says nothing.
    pub(super) fn users_patterns(&self) -> Option<Patterns> {
        self.own.clone().map(Patterns)
    }

    /// What a workspace's file adds to that; none if it adds nothing.
    pub(super) fn workspaces_patterns(&self) -> Option<Patterns> {
        let asks = self.asks.iter().map(|glob| (glob.clone(), Unasked::MayNot));
        (!self.asks.is_empty()).then(|| Patterns(asks.collect()))
    }

    /// Takes what the user's own file says.
    pub(super) fn set(&mut self, source: Source<'_>, tables: Tables) -> Result<(), ConfigError> {
        if let Some(table) = tables.containment {
            let table = table.into_inner();
            self.holding = Holding {
                mode: table.mode.map_or(HoldingMode::Auto, |word| mode(*word.get_ref())),
                network: table.network.map_or(NetworkFor::Approved, |word| network(*word.get_ref())),
                writable: writable(source, table.writable)?,
            };
        }
        if let Some(timeout) = tables.approvals.and_then(|table| table.into_inner().timeout) {
            if *timeout.get_ref() > MAX_TIMEOUT_SECONDS {
                let message = format!("`timeout` is a number of seconds up to {MAX_TIMEOUT_SECONDS}; 0 means never");
                return Err(source.wrong(timeout.span(), message));
            }
            self.approval_ms = timeout.get_ref() * 1000;
        }
        if let Some(patterns) = globs(source, tables.edits)? {
            let word = |ask: bool| if ask { Unasked::MayNot } else { Unasked::May };
            self.own =
                Some(patterns.into_iter().map(|(glob, ask)| (glob.into_inner(), word(*ask.get_ref()))).collect());
        }
        Ok(())
    }

    /// Takes what a workspace's file says, as far as it makes things stricter; gives what was left out.
    pub(super) fn tighten(&mut self, source: Source<'_>, tables: Tables) -> Result<Notes, ConfigError> {
        let mut notes = Notes::new();
        let mut leave = |span: Range<usize>, why: &str| notes.push(source.wrong(span, why).to_string());
        if let Some(table) = tables.containment {
            let table = table.into_inner();
            if let Some(word) = table.mode {
                match mode(*word.get_ref()) {
                    HoldingMode::Required => self.holding.mode = HoldingMode::Required,
                    other if other == self.holding.mode => {}
                    HoldingMode::Auto | HoldingMode::Off => {
                        leave(word.span(), "a workspace can only require it; left out")
                    }
                }
            }
            if let Some(word) = table.network {
                match network(*word.get_ref()) {
                    NetworkFor::None => self.holding.network = NetworkFor::None,
                    other if other == self.holding.network => {}
                    NetworkFor::All | NetworkFor::Approved => {
                        leave(word.span(), "a workspace can only close the network; left out");
                    }
                }
            }
            if let Some(first) = table.writable.first() {
                leave(first.span(), "only your own file can let commands write elsewhere; left out");
            }
            // What is left out must make sense all the same.
            writable(source, table.writable)?;
        }
        let room = MAX_PATTERNS.saturating_sub(self.patterns().map_or(0, |patterns| patterns.0.len()));
        for (glob, ask) in globs(source, tables.edits)?.unwrap_or_default() {
            if !*ask.get_ref() {
                leave(ask.span(), "a workspace can only have more files asked about; left out");
            } else if self.asks.len() < room {
                self.asks.push(glob.into_inner());
            } else {
                return Err(source.wrong(glob.span(), too_many()));
            }
        }
        Ok(notes)
    }
}

/// The tables of a file that are about tools.
pub(super) struct Tables {
    pub(super) containment: Option<Spanned<ContainmentTable>>,
    pub(super) approvals: Option<Spanned<ApprovalsTable>>,
    pub(super) edits: Option<Spanned<EditsTable>>,
}

fn mode(word: ContainmentWord) -> HoldingMode {
    match word {
        ContainmentWord::Auto => HoldingMode::Auto,
        ContainmentWord::Required => HoldingMode::Required,
        ContainmentWord::Off => HoldingMode::Off,
    }
}

fn network(word: NetworkWord) -> NetworkFor {
    match word {
        NetworkWord::Always => NetworkFor::All,
        NetworkWord::Approved => NetworkFor::Approved,
        NetworkWord::Never => NetworkFor::None,
    }
}

fn writable(source: Source<'_>, folders: Vec<Spanned<String>>) -> Result<Vec<PathBuf>, ConfigError> {
    if let Some(beyond) = folders.get(MAX_WRITABLE) {
        return Err(source.wrong(beyond.span(), format!("at most {MAX_WRITABLE} folders can be named")));
    }
    let check = |folder: Spanned<String>| {
        let path = Path::new(folder.get_ref());
        let is_plain = path.components().all(|part| !matches!(part, std::path::Component::ParentDir));
        if !path.is_absolute() || path.parent().is_none() || !is_plain || folder.get_ref().contains('\0') {
            let message = "a folder is named by its whole path from `/` on, without `..`, and is not `/` itself";
            return Err(source.wrong(folder.span(), message));
        }
        Ok(path.to_owned())
    };
    folders.into_iter().map(check).collect()
}

type Globs = Vec<(Spanned<String>, Spanned<bool>)>;

fn globs(source: Source<'_>, table: Option<Spanned<EditsTable>>) -> Result<Option<Globs>, ConfigError> {
    let Some(patterns) = table.and_then(|table| table.into_inner().patterns) else { return Ok(None) };
    if let Some(beyond) = patterns.get(MAX_PATTERNS) {
        return Err(source.wrong(beyond.span(), too_many()));
    }
    let check = |pattern: Spanned<super::file::PatternTable>| {
        let place = pattern.span();
        let pattern = pattern.into_inner();
        let glob = pattern.glob.ok_or_else(|| source.wrong(place.clone(), "`glob` is missing"))?;
        let ask = pattern.ask.ok_or_else(|| source.wrong(place.clone(), "`ask` is missing: true or false"))?;
        if glob.get_ref().is_empty() || glob.get_ref().starts_with('/') {
            let message = "a glob is of paths from the workspace's folder on, such as `docs/**` or `**/*.pem`";
            return Err(source.wrong(glob.span(), message));
        }
        match check_glob(glob.get_ref()) {
            Ok(()) => Ok((glob, ask)),
            Err(why) => Err(source.wrong(glob.span(), why)),
        }
    };
    patterns.into_iter().map(check).collect::<Result<_, _>>().map(Some)
}

fn too_many() -> String {
    format!("there can be {MAX_PATTERNS} patterns at most")
}
