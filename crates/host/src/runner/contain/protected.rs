//! What of the workspace no command may change, whether it is there or not: folders and files because of which something runs
//! later, outside of the walls, without a question.
//!
//! What is there is made read-only. A folder that is not there is made, empty and read-only, for as long as the command runs: its
//! name cannot be taken meanwhile. An empty file would be found and read by programs, so the name of a file that is not there
//! stays free; if it is taken when the command has ended, what took it is renamed, so that nothing runs because of it, and the
//! person is told.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::seats::{self, Seat};

/// Folders at the top of a workspace.
const FOLDERS: &[&str] = &[".git", ".vscode", ".idea", ".switchboard", ".claude", ".codex", ".gemini", ".cursor"];
/// Folders that are seldom there: read-only if they are, renamed if they come up.
const RARE_FOLDERS: &[&str] = &[".circleci", ".devcontainer", ".husky", ".githooks", ".kimi", ".qwen", ".zed"];
/// Folders in `.github`, which itself may be written to.
const OF_GITHUB: &[&str] = &["workflows", "actions"];
/// Files at the top of a workspace.
const FILES: &[&str] = &[
    ".envrc",
    ".mcp.json",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    ".pre-commit-config.yaml",
    "azure-pipelines.yml",
    "jenkinsfile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".gitconfig",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
];
/// How files end that say what an editor runs.
const ENDING: &str = ".code-workspace";
/// What is read-only of a repository that git may write to.
const OF_GIT: &[&str] = &["config", "config.worktree", "commondir", "info/attributes"];
/// Folders of it, which must be there to be read-only.
const FOLDERS_OF_GIT: &[&str] = &["hooks", "modules"];
/// Repositories within the workspace are looked for this deep, in so many folders, and so many are found.
const MAX_DEPTH: usize = 4;
const MAX_FOLDERS: usize = 4096;
const MAX_NESTED: usize = 64;
/// What a thing is called once it is renamed.
const HELD_BACK: &str = "held-back";
/// Attempts to find a free name for it.
const MAX_NAMES: usize = 1000;

/// What is held, as long as a command runs.
#[derive(Debug)]
pub(super) struct Protected {
    /// The walls: arguments of bubblewrap.
    pub(super) arguments: Vec<OsString>,
    /// What to look at when it has ended.
    pub(super) watch: Watch,
}

/// What to look at when a command has ended.
#[derive(Debug)]
pub(crate) struct Watch {
    root: PathBuf,
    /// Names at the top that are protected and were there.
    names: BTreeSet<OsString>,
    /// Places below, and what was there.
    places: Vec<(PathBuf, Option<Thing>)>,
    seats: Vec<Seat>,
}

/// What tells a thing from another of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Thing {
    file: (u64, u64),
    /// Where it leads, if it is a link.
    link: Option<PathBuf>,
}

/// Puts up what protects a workspace. `git` is the entry `.git` of a repository that git may write to this time.
pub(super) fn protect(root: &Path, git: Option<&Path>) -> io::Result<Protected> {
    let watch = Watch { root: root.to_owned(), names: BTreeSet::new(), places: Vec::new(), seats: Vec::new() };
    let mut protected = Protected { arguments: Vec::new(), watch };
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if is_protected(&entry.file_name()) && !seats::is_seat(&entry.path()) {
            protected.watch.names.insert(entry.file_name());
            if Some(entry.path().as_path()) != git {
                protected.read_only(&entry.path());
            }
        }
    }
    for name in FOLDERS {
        let path = root.join(name);
        if Some(path.as_path()) != git && thing(&path).is_none_or(|_| seats::is_seat(&path)) {
            protected.sit(&path)?;
        }
    }
    protected.github(&root.join(".github"))?;
    for nested in repositories_below(root) {
        // The folder around it can be moved away and made anew; then what is in its place is none that was there.
        protected.note(&nested);
        if Some(nested.as_path()) != git {
            protected.read_only(&nested);
        }
    }
    if let Some(git) = git {
        protected.writable_git(git)?;
    }
    Ok(protected)
}

impl Protected {
    fn push(&mut self, how: &str, path: &Path) {
        self.arguments.extend([how.into(), path.into(), path.into()]);
    }

    /// A link cannot be held; what it leads to can, and the link is looked at later.
    fn read_only(&mut self, path: &Path) {
        match thing(path) {
            None => {}
            Some(Thing { link: None, .. }) => self.push("--ro-bind", path),
            Some(Thing { link: Some(_), .. }) => {
                self.note(path);
                if let Some(real) = path.canonicalize().ok().filter(|real| real.starts_with(&self.watch.root)) {
                    self.push("--ro-bind", &real);
                }
            }
        }
    }

    fn sit(&mut self, path: &Path) -> io::Result<()> {
        self.watch.seats.extend(seats::take(path)?);
        self.push("--ro-bind", path);
        Ok(())
    }

    fn note(&mut self, path: &Path) {
        self.watch.places.push((path.to_owned(), thing(path)));
    }

    /// `.github` is pinned by a wall that keeps nothing out, so that it cannot be put aside and made anew.
    fn github(&mut self, github: &Path) -> io::Result<()> {
        let is_there = thing(github).is_some_and(|found| found.link.is_none()) && github.is_dir();
        if is_there {
            self.push("--bind", github);
        }
        for name in OF_GITHUB {
            let path = github.join(name);
            match thing(&path) {
                Some(_) if is_there && !seats::is_seat(&path) => self.read_only(&path),
                Some(_) | None if is_there => self.sit(&path)?,
                Some(_) | None => self.note(&path),
            }
        }
        Ok(())
    }

    /// A repository that git may write to, but for what git runs.
    fn writable_git(&mut self, git: &Path) -> io::Result<()> {
        let Some(folder) = folder_of(git) else {
            self.read_only(git);
            return Ok(());
        };
        self.push("--bind", &folder);
        if folder != git {
            self.read_only(git);
        }
        for name in OF_GIT {
            let path = folder.join(name);
            self.note(&path);
            self.read_only(&path);
        }
        for name in FOLDERS_OF_GIT {
            let path = folder.join(name);
            if thing(&path).is_some() && !seats::is_seat(&path) { self.read_only(&path) } else { self.sit(&path)? }
        }
        Ok(())
    }
}

impl Watch {
    /// Puts aside what came up in protected places; says what it did. To be called when nobody of the command is left.
    pub(crate) fn settle(self) -> Vec<String> {
        let mut notes = Vec::new();
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if is_protected(&name) && !self.names.contains(&name) && !seats::is_seat(&entry.path()) {
                notes.push(self.put_aside(&entry.path()));
            }
        }
        for (path, before) in &self.places {
            let now = thing(path);
            if now == *before || seats::is_seat(path) {
                continue;
            }
            if now.is_some() {
                notes.push(self.put_aside(path));
            }
            if let Some(Thing { link: Some(target), .. }) = before
                && let Err(error) = std::os::unix::fs::symlink(target, path)
            {
                tracing::warn!(path = %path.display(), %error, "a link could not be put back");
            }
        }
        notes
    }

    fn put_aside(&self, path: &Path) -> String {
        let shown = |path: &Path| path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        let free = (0..MAX_NAMES).map(|number| {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(if number == 0 { format!(".{HELD_BACK}") } else { format!(".{HELD_BACK}-{number}") });
            path.with_file_name(name)
        });
        let aside = free.into_iter().find(|aside| thing(aside).is_none());
        let renamed = aside.ok_or_else(|| io::Error::other("no name is free")).and_then(|aside| {
            fs::rename(path, &aside)?;
            Ok(aside)
        });
        match renamed {
            Ok(aside) => format!(
                "`{}` came up while the command ran; it is protected, since something could run because of it, so it is \
                 `{}` now: look at it, and rename it if it is to stay",
                shown(path),
                shown(&aside)
            ),
            Err(error) => {
                format!("`{}` came up while the command ran and could not be put aside: {error}", shown(path))
            }
        }
    }
}

/// Whether a name at the top of a workspace is protected, however it is written.
fn is_protected(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(['.', ' ']);
    let listed = |list: &[&str]| list.contains(&name);
    listed(FOLDERS) || listed(RARE_FOLDERS) || listed(FILES) || name.ends_with(ENDING)
}

fn thing(path: &Path) -> Option<Thing> {
    let found = fs::symlink_metadata(path).ok()?;
    let link = if found.is_symlink() { Some(fs::read_link(path).ok()?) } else { None };
    Some(Thing { file: (found.dev(), found.ino()), link })
}

/// The entries `.git` of repositories below the top, as far as they are looked for.
fn repositories_below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut looked = 0;
    let mut level = vec![root.to_owned()];
    for depth in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for folder in &level {
            looked += 1;
            if looked > MAX_FOLDERS || found.len() >= MAX_NESTED {
                return found;
            }
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let Ok(sort) = entry.file_type() else { continue };
                if name == ".git" && depth > 0 && !sort.is_symlink() {
                    found.push(entry.path());
                } else if sort.is_dir() && name != ".git" && name != "node_modules" && name != "target" {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    found
}

/// The folder that an entry `.git` stands for: itself, or, in a further working tree of a repository, the repository's; only if
/// that knows of the tree too.
fn folder_of(git: &Path) -> Option<PathBuf> {
    let found = fs::symlink_metadata(git).ok()?;
    if found.is_dir() {
        return Some(git.to_owned());
    }
    let text = if found.is_file() { short(git)? } else { return None };
    let own = git.parent()?.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = PathBuf::from(short(&own.join("gitdir"))?.trim()).canonicalize().ok()?;
    let common = own.join(short(&own.join("commondir"))?.trim()).canonicalize().ok()?;
    let is_its = own.parent() == Some(common.join("worktrees").as_path()) && common.join("HEAD").is_file();
    (back == git.canonicalize().ok()? && is_its).then_some(common)
}

fn short(file: &Path) -> Option<String> {
    let is_short = fs::metadata(file).is_ok_and(|found| found.len() <= 4096);
    if is_short { fs::read_to_string(file).ok() } else { None }
}
