//! What the policy has to know of a command or a change: where programs, folders and files really are. Gathers facts and
//! judges nothing; starts nothing and changes nothing.
//!
//! | module | owns |
//! | --- | --- |
//! | `trail` | a path followed to where it leads, link by link, by handle |
//! | `gitdir` | where git keeps a workspace's repository, if that is elsewhere |
//! | `seal` | what tells a program's file from any other, so that it is the one that runs |

mod gitdir;
mod seal;
mod trail;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use switchboard_core::policy::{read_argv, read_line};
use switchboard_types::{CommandFacts, ErrandFailure, Place, ProgramFacts, TargetFacts, WorkspaceRoot};

use self::gitdir::Gitdirs;
use self::seal::{By, Seal};
use self::trail::Trail;
use super::place::Root;
use crate::agents::command::environment_with;
use crate::agents::find_program;

/// Programs and targets that are looked up; a command with more is not one that can be judged.
const MAX_LOOKED_UP: usize = 64;

/// A program that a command names, bound to its file.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// Its file, without links.
    pub(super) path: PathBuf,
    /// What that file was.
    pub(super) seal: Seal,
}

/// All that is known of a command.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) facts: CommandFacts,
    /// Each program of the reading, in its order; none where there is no such file.
    pub(super) programs: Vec<Option<Bound>>,
}

/// A command before it is looked into: either a line for a shell, or words for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    /// The folder it runs in, from the workspace's folder, without links.
    pub(super) cwd: &'a Path,
    pub(super) line: Option<&'a str>,
    pub(super) argv: &'a [String],
    pub(super) env: &'a [(String, String)],
}

/// What is known of a line for a shell, in a folder of the workspace.
///
/// # Errors
/// If the workspace or the folder cannot be opened.
pub fn of_line(root: &WorkspaceRoot, own: &Path, cwd: &str, line: &str) -> Result<CommandFacts, ErrandFailure> {
    let open = Root::open(root, own)?;
    let cwd = open.existing(cwd)?;
    Ok(of(&open, Said { cwd: &cwd, line: Some(line), argv: &[], env: &[] }).facts)
}

/// The same for a program with its words.
///
/// # Errors
/// If the workspace or the folder cannot be opened.
pub fn of_argv(root: &WorkspaceRoot, own: &Path, cwd: &str, argv: &[String]) -> Result<CommandFacts, ErrandFailure> {
    let open = Root::open(root, own)?;
    let cwd = open.existing(cwd)?;
    Ok(of(&open, Said { cwd: &cwd, line: None, argv, env: &[] }).facts)
}

/// Reads a command and looks up all that it names.
pub(super) fn of(open: &Root, said: Said<'_>) -> Known {
    let reading = said.line.map_or_else(|| read_argv(said.argv), read_line);
    let places = Places::of(open);
    // Without the slash that joining nothing leaves: a rule names the folder as people do.
    let cwd: PathBuf = open.path().join(said.cwd).components().collect();
    let mut programs = Vec::new();
    let mut found = Vec::new();
    for simple in reading.commands.iter().take(MAX_LOOKED_UP) {
        let name = simple.words.first().cloned().unwrap_or_default();
        // What is set for it decides where it is looked for.
        let env: Vec<_> = said.env.iter().chain(&simple.assignments).cloned().collect();
        let path = program(&name, &cwd, &env);
        let place = path.as_deref().map_or(Place::Unknown, |path| places.of_real(path));
        let bound = path.and_then(|path| Bound::of(path, &place));
        let path = bound.as_ref().map(|bound| bound.path.to_string_lossy().into_owned());
        found.push(ProgramFacts { name, path, place });
        programs.push(bound);
    }
    let target = |path: &str| TargetFacts { written: path.to_owned(), place: places.of_written(&cwd, path) };
    let mut targets: Vec<_> = reading.targets.iter().take(MAX_LOOKED_UP).map(|found| target(&found.path)).collect();
    if reading.targets.len() > MAX_LOOKED_UP || reading.commands.len() > MAX_LOOKED_UP {
        targets.push(TargetFacts { written: "…".to_owned(), place: Place::Unknown });
    }
    let facts = CommandFacts {
        line: said.line.map(str::to_owned),
        argv: said.argv.to_vec(),
        env: said.env.to_vec(),
        cwd: cwd.to_string_lossy().into_owned(),
        cwd_place: places.of_real(&cwd),
        programs: found,
        targets,
    };
    Known { facts, programs }
}

/// Where a file of the workspace is; `real` is from the workspace's folder and without links.
pub(super) fn place_of(open: &Root, real: &Path) -> Place {
    Places::of(open).of_real(&open.path().join(real))
}

/// The file of a program, as the child would find it.
fn program(name: &str, cwd: &Path, env: &[(String, String)]) -> Option<PathBuf> {
    let environment = environment_with(env).ok()?;
    let path = environment.get(std::ffi::OsStr::new("PATH")).map(AsRef::as_ref);
    find_program(name, cwd, path).ok()?.canonicalize().ok()
}

impl Bound {
    fn of(path: PathBuf, place: &Place) -> Option<Self> {
        let by = if matches!(place, Place::Inside(_)) { By::Bytes } else { By::Stat };
        let seal = Seal::of(&path, by).ok()?;
        Some(Self { path, seal })
    }
}

/// Where things are, seen from a workspace.
struct Places<'a> {
    open: &'a Root,
    identity: Option<(u64, u64)>,
    gitdirs: Gitdirs,
}

impl<'a> Places<'a> {
    fn of(open: &'a Root) -> Self {
        Self { open, identity: open.identity().ok(), gitdirs: Gitdirs::of(open.path()) }
    }

    /// Where a path leads that stands in a command.
    fn of_written(&self, cwd: &Path, written: &str) -> Place {
        // A shell puts the home folder there, or not; the reading does not say which.
        if written.is_empty() || written.starts_with('~') || written.contains('\0') {
            return Place::Unknown;
        }
        self.of_real(&cwd.join(written))
    }

    /// Where an absolute path leads, once every link is followed.
    fn of_real(&self, path: &Path) -> Place {
        let Some(trail) = Trail::follow(path) else { return Place::Unknown };
        let real = trail.path();
        let outside = || Place::Outside(real.to_string_lossy().into_owned());
        if real.starts_with(self.open.own()) {
            return outside();
        }
        let inside = self.identity.and_then(|identity| trail.below(identity));
        match inside {
            // Whatever git keeps of this workspace under another name is not the workspace's own.
            Some(inside) if !inside.starts_with(".git") && self.gitdirs.hold(&trail) => outside(),
            Some(inside) => Place::Inside(inside.to_string_lossy().into_owned()),
            None => outside(),
        }
    }
}
