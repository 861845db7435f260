//! Configuration that is read again when it changes, and what well-known agents are on the machine meanwhile. Looks and
//! reads; what holds is the host's business. A file that is wrong changes nothing.
//!
//! It looks every two seconds whether a file is another one than before. That costs a call of the system for each file,
//! and works where nothing tells of changes: on network disks, in containers, with editors that put a new file in the old
//! one's place.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_types::{AgentName, WorkspaceRoot};
use tokio::sync::{mpsc, watch};

use super::paths::Asked;
use super::place::ConfigError;
use super::settings::{Config, WORKSPACE_FILE};
use crate::agents::known::{self, Found};
use crate::secrets::{Secrets, Tokens};

/// From look to look.
const EVERY: Duration = Duration::from_secs(2);
/// Programs come and go less often: they are looked for at every so many looks, and when somebody asks.
const PROGRAMS_EVERY: u64 = 15;
/// A file that was just changed may be half written; it is read when it was left alone for this long,
const SETTLED: Duration = Duration::from_millis(50);
/// or after so many times.
const MAX_SETTLING: u32 = 40;

/// Where the user's configuration comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserConfig {
    /// Its file, if there is a place for one.
    pub file: Option<(PathBuf, Asked)>,
    /// Who works when nobody is named, whatever the file says.
    pub default_agent: Option<AgentName>,
}

impl UserConfig {
    /// Reads it.
    pub fn read(&self) -> Result<Config, ConfigError> {
        let config = Config::read(self.file.clone())?;
        match &self.default_agent {
            Some(name) => config.with_default_agent(name.clone()),
            None => Ok(config),
        }
    }
}

/// What is to be looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Workspaces whose own file counts.
    pub trusted: Vec<WorkspaceRoot>,
    /// Counts how often somebody wanted it looked at now.
    pub asked: u64,
}

/// All that is known after a look that found something new.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The user's configuration, the last that was understood.
    pub user: Config,
    /// The same with a workspace's file on top, the last that was understood, for each that ever was.
    pub workspaces: HashMap<WorkspaceRoot, Config>,
    /// The well-known agents.
    pub found: Vec<Found>,
    /// What is wrong now; what was understood before still holds there.
    pub errors: Vec<String>,
    /// What is known of tokens.
    pub tokens: Tokens,
}

/// Looks until nobody wants to know any more. The first look is told in any case.
pub async fn run(
    (source, secrets): (UserConfig, Secrets),
    first: Config,
    mut wanted: watch::Receiver<Wanted>,
    tell: mpsc::Sender<Seen>,
) {
    let mut eye = Eye { secrets: Some(secrets), ..Eye::new(source, first) };
    loop {
        let now = wanted.borrow_and_update().clone();
        let tell = tell.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let say = |seen: Option<Seen>| seen.is_none_or(|seen| tell.blocking_send(seen).is_ok());
            let heard = say(eye.glance(&now)) && say(eye.look(&now));
            heard.then_some(eye)
        });
        // The look itself does not panic; if it does, the configuration stays as it is.
        let Ok(Some(back)) = looked.await else { return };
        eye = back;
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            changed = wanted.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// None if there is no such file, or none that can be seen.
    fn of(file: &Path) -> Option<Self> {
        let found = fs::metadata(file).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

/// What looks, and what it saw last.
struct Eye {
    source: UserConfig,
    /// None where nobody wants to know of them.
    secrets: Option<Secrets>,
    tokens: Tokens,
    /// Whether their file is another one than when they were looked at.
    tokens_changed: bool,
    user: Config,
    user_error: Option<String>,
    trusted: Vec<WorkspaceRoot>,
    workspaces: HashMap<WorkspaceRoot, Workspace>,
    stamps: Option<Vec<Option<Stamp>>>,
    path: Option<OsString>,
    found: Vec<Found>,
    asked: u64,
    looks: u64,
    told: Option<Seen>,
}

/// What was read of a workspace's file.
#[derive(Default)]
struct Workspace {
    config: Option<Config>,
    error: Option<String>,
}

impl Eye {
    fn new(source: UserConfig, first: Config) -> Self {
        Self {
            source,
            secrets: None,
            tokens: Tokens::default(),
            tokens_changed: false,
            user: first,
            user_error: None,
            trusted: Vec::new(),
            workspaces: HashMap::new(),
            stamps: None,
            path: std::env::var_os("PATH"),
            found: Vec::new(),
            asked: 0,
            looks: 0,
            told: None,
        }
    }

    /// Looks once; gives all that is known if it differs from what was told last.
    fn look(&mut self, wanted: &Wanted) -> Option<Seen> {
        let asked = std::mem::replace(&mut self.asked, wanted.asked) != wanted.asked;
        let mut fresh = self.read_files(wanted) || asked || self.told.is_none();
        if std::mem::take(&mut self.tokens_changed) || asked || self.told.is_none() {
            self.tokens = self.secrets.as_ref().map(Secrets::tokens).unwrap_or_default();
        }
        if asked || self.looks.is_multiple_of(PROGRAMS_EVERY) {
            let found: Vec<_> = known::all().iter().map(|known| known.find(self.path.as_deref())).collect();
            fresh |= found != self.found;
            self.found = found;
        }
        self.looks += 1;
        // Whoever asks is told, even if nothing is new to us: it may be to them.
        if asked {
            let seen = self.seen();
            return Some(self.told_now(seen));
        }
        self.news(fresh)
    }

    /// Looks at the files alone: what they say need not wait for a keyring, or for all programs of the machine. The first
    /// look is a whole one.
    fn glance(&mut self, wanted: &Wanted) -> Option<Seen> {
        self.told.as_ref()?;
        let fresh = self.read_files(wanted);
        self.news(fresh)
    }

    fn news(&mut self, fresh: bool) -> Option<Seen> {
        let seen = fresh.then(|| self.seen()).filter(|seen| self.told.as_ref() != Some(seen))?;
        Some(self.told_now(seen))
    }

    fn told_now(&mut self, seen: Seen) -> Seen {
        self.told = Some(seen.clone());
        seen
    }

    /// Reads the files if they are others than before; whether they were.
    fn read_files(&mut self, wanted: &Wanted) -> bool {
        let files = self.files(&wanted.trusted);
        let now = stamps(&files);
        if self.trusted == wanted.trusted && self.stamps.as_ref() == Some(&now) {
            return false;
        }
        self.watch(&wanted.trusted);
        let (before, now) = (self.stamps.take().unwrap_or_default(), settled(&files, now));
        self.tokens_changed |= before.first() != now.first();
        self.stamps = Some(now);
        self.read();
        true
    }

    /// Other workspaces' files count now.
    fn watch(&mut self, trusted: &[WorkspaceRoot]) {
        let mut before = std::mem::take(&mut self.workspaces);
        let kept = trusted.iter().map(|root| (root.clone(), before.remove(root).unwrap_or_default()));
        self.workspaces = kept.collect();
        self.trusted = trusted.to_vec();
    }

    fn files(&self, trusted: &[WorkspaceRoot]) -> Vec<PathBuf> {
        // The first of them is that of the secrets, whether there is one or not.
        let secrets = self.secrets.as_ref().map(|secrets| secrets.file().to_owned()).unwrap_or_default();
        let user = self.source.file.iter().map(|(file, _)| file.clone());
        [secrets]
            .into_iter()
            .chain(user)
            .chain(trusted.iter().map(|root| Path::new(root.as_str()).join(WORKSPACE_FILE)))
            .collect()
    }

    fn read(&mut self) {
        match self.source.read() {
            Ok(config) => {
                self.user = config;
                self.user_error = None;
            }
            Err(error) => self.user_error = Some(error.to_string()),
        }
        for (root, workspace) in &mut self.workspaces {
            match self.user.in_trusted_workspace(Path::new(root.as_str())) {
                Ok(config) => *workspace = Workspace { config: Some(config), error: None },
                Err(error) => workspace.error = Some(error.to_string()),
            }
        }
    }

    fn seen(&self) -> Seen {
        let mut errors: Vec<String> = self
            .user_error
            .iter()
            .chain(self.workspaces.values().filter_map(|one| one.error.as_ref()))
            .cloned()
            .collect();
        errors.sort();
        let understood = self.workspaces.iter().filter_map(|(root, one)| Some((root.clone(), one.config.clone()?)));
        Seen {
            user: self.user.clone(),
            workspaces: understood.collect(),
            found: self.found.clone(),
            errors,
            tokens: self.tokens.clone(),
        }
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Option<Stamp>> {
    files.iter().map(|file| Stamp::of(file)).collect()
}

/// Waits until nobody writes to the files any more.
fn settled(files: &[PathBuf], mut before: Vec<Option<Stamp>>) -> Vec<Option<Stamp>> {
    for _ in 0..MAX_SETTLING {
        std::thread::sleep(SETTLED);
        let now = stamps(files);
        if now == before {
            break;
        }
        before = now;
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "[agents.small]\nkind = \"plain\"\ncommand = [\"x\"]\n";

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap() }
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("config.toml")
        }

        fn write(&self, text: &str) {
            fs::write(self.file(), text).unwrap();
        }

        fn root(&self) -> WorkspaceRoot {
            WorkspaceRoot::from(self.folder.path().to_str().unwrap())
        }

        fn write_workspace(&self, text: &str) {
            fs::create_dir_all(self.folder.path().join(".switchboard")).unwrap();
            fs::write(self.folder.path().join(WORKSPACE_FILE), text).unwrap();
        }

        fn eye(&self) -> Eye {
            let source = UserConfig { file: Some((self.file(), Asked::AsUsual)), default_agent: None };
            Eye::new(source, Config::default())
        }
    }

    fn names(config: &Config) -> Vec<String> {
        config.agents().map(|spec| spec.name.to_string()).collect()
    }

    #[test]
    fn what_changes_is_told_once_and_what_is_wrong_changes_nothing() {
        let (place, wanted) = (Place::new(), Wanted::default());
        let mut eye = place.eye();
        assert_eq!(names(&eye.look(&wanted).unwrap().user), ["demo"]);
        assert_eq!(eye.look(&wanted), None);
        place.write(SMALL);
        assert_eq!(names(&eye.look(&wanted).unwrap().user), ["demo", "small"]);
        assert_eq!(eye.look(&wanted), None);
        place.write("[agents.small]\nkind = \"plain\"\n");
        let wrong = eye.look(&wanted).unwrap();
        assert_eq!(names(&wrong.user), ["demo", "small"], "what held before still holds");
        assert!(wrong.errors.len() == 1 && wrong.errors[0].contains("`command` is missing"), "{:?}", wrong.errors);
        assert_eq!(eye.look(&wanted), None);
        fs::remove_file(place.file()).unwrap();
        let gone = eye.look(&wanted).unwrap();
        assert_eq!((names(&gone.user), gone.errors), (vec!["demo".to_owned()], vec![]));
    }

    #[test]
    fn what_a_file_says_waits_for_nothing_else() {
        let (place, mut wanted) = (Place::new(), Wanted::default());
        let mut eye = place.eye();
        assert_eq!(eye.glance(&wanted), None, "the first look is a whole one");
        assert!(eye.look(&wanted).is_some());
        // Nothing of the machine is looked at, so it stays as wrong as it is.
        let found = std::mem::take(&mut eye.found);
        place.write(SMALL);
        wanted.asked += 1;
        let glanced = eye.glance(&wanted).unwrap();
        assert_eq!((names(&glanced.user), glanced.found.len()), (vec!["demo".to_owned(), "small".to_owned()], 0));
        assert_eq!(eye.look(&wanted).map(|seen| seen.found), Some(found), "whoever asked is told all");
        assert_eq!((eye.glance(&wanted), eye.look(&wanted)), (None, None));
    }

    #[test]
    fn a_file_of_the_same_size_in_the_old_ones_place_is_another_one() {
        let (place, wanted) = (Place::new(), Wanted::default());
        place.write(SMALL);
        let mut eye = place.eye();
        eye.look(&wanted).unwrap();
        let fresh = place.folder.path().join("fresh");
        fs::write(&fresh, SMALL.replace("small", "other")).unwrap();
        fs::rename(&fresh, place.file()).unwrap();
        assert_eq!(names(&eye.look(&wanted).unwrap().user), ["demo", "other"]);
    }

    #[test]
    fn a_workspaces_file_counts_only_while_it_is_wanted() {
        let place = Place::new();
        place.write(SMALL);
        place.write_workspace(&SMALL.replace("small", "near"));
        let (none, trusted) = (Wanted::default(), Wanted { trusted: vec![place.root()], asked: 0 });
        let mut eye = place.eye();
        assert!(eye.look(&none).unwrap().workspaces.is_empty());
        let seen = eye.look(&trusted).unwrap();
        assert_eq!(names(&seen.workspaces[&place.root()]), ["demo", "near", "small"]);
        place.write_workspace("durability = \"normal\"\n");
        let wrong = eye.look(&trusted).unwrap();
        assert_eq!(names(&wrong.workspaces[&place.root()]), ["demo", "near", "small"]);
        assert!(wrong.errors[0].contains("only the user's own file"), "{:?}", wrong.errors);
        let dropped = eye.look(&none).unwrap();
        assert!(dropped.workspaces.is_empty() && dropped.errors.is_empty());
    }

    #[test]
    fn a_default_that_was_named_at_the_start_outlives_the_file() {
        let place = Place::new();
        place.write(SMALL);
        let file = Some((place.file(), Asked::AsUsual));
        let source = UserConfig { file, default_agent: Some("small".into()) };
        let mut eye = Eye::new(source.clone(), source.read().unwrap());
        assert_eq!(eye.look(&Wanted::default()).unwrap().user.default_agent(), AgentName::from("small"));
        place.write("");
        let seen = eye.look(&Wanted::default()).unwrap();
        assert!(seen.errors[0].contains("no agent `small`"), "{:?}", seen.errors);
    }
}
