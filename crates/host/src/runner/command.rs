//! Commands made ready: which program runs with which words, where, and how that is shown. Starts nothing.

use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use switchboard_types::{ApprovalKind, Console, ErrandCode, ErrandFailure, Facts, Prepared, Run, WorkspaceRoot};
use tokio::process::Command;

use super::digest::Digest;
use super::facts::{self, Bound, Said};
use super::limits::{DEFAULT_OUTPUT_BYTES, MAX_COMMAND_BYTES, MAX_COMMAND_WORDS, MAX_OUTPUT_BYTES};
use super::place::{Missing, Root, invalid};
use super::quote;
use crate::agents::command::environment_with;
use crate::agents::find_program;
use crate::agents::shown::shown;

/// The shell that runs whole lines.
const SHELL: [&str; 2] = ["/bin/sh", "-c"];
/// Characters of a command in its title.
const TITLE_CHARS: usize = 200;

/// A command that may run once somebody says so.
#[derive(Debug)]
pub(super) struct RunPlan {
    root: WorkspaceRoot,
    identity: (u64, u64),
    /// The folder it runs in, from the root, without links.
    cwd: PathBuf,
    words: Vec<String>,
    env: Vec<(String, String)>,
    output_limit: usize,
    console: Console,
    speaks: Speaks,
}

/// Who is told what a command says, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    /// An agent, which has a terminal to look at it.
    ToTerminal,
    /// Whoever called a tool, once the command is over.
    AtItsEnd,
}

impl RunPlan {
    pub(super) fn speaks(&self) -> Speaks {
        self.speaks
    }

    pub(super) fn console(&self) -> Console {
        self.console
    }
}

/// A command that can be started now.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) command: Command,
    /// Its folder; it must stay open until the command has started.
    pub(super) folder: OwnedFd,
    /// Bytes of output that are kept for the agent.
    pub(super) output_limit: usize,
}

/// Looks whether the command could run and says what it would be.
pub(super) fn prepare(root: &WorkspaceRoot, own: &Path, run: Run) -> Result<(RunPlan, Prepared), ErrandFailure> {
    prepare_as(root, own, run, Speaks::ToTerminal)
}

/// The same for a line that a tool is called with: always for a shell, and answered when it is over.
pub(super) fn prepare_line(root: &WorkspaceRoot, own: &Path, run: Run) -> Result<(RunPlan, Prepared), ErrandFailure> {
    prepare_as(root, own, run, Speaks::AtItsEnd)
}

fn prepare_as(
    root: &WorkspaceRoot,
    own: &Path,
    run: Run,
    speaks: Speaks,
) -> Result<(RunPlan, Prepared), ErrandFailure> {
    check(&run)?;
    let open = Root::open(root, own)?;
    let cwd = folder(&open, run.cwd.as_deref())?;
    let real = open.path().join(&cwd);
    let is_line = speaks == Speaks::AtItsEnd || is_shell_line(&run, &real);
    let words: Vec<String> = if is_line {
        SHELL.into_iter().map(str::to_owned).chain([run.program.clone()]).collect()
    } else {
        std::iter::once(run.program.clone()).chain(run.args).collect()
    };
    find(&words, &run.env, &real)?;
    let identity = open.identity().map_err(|error| open.failure(".", &error))?;
    let output_limit = run.output_limit.unwrap_or(DEFAULT_OUTPUT_BYTES).min(MAX_OUTPUT_BYTES);
    let output_limit = usize::try_from(output_limit).unwrap_or_default();
    let console = run.console;
    let plan = RunPlan { root: root.clone(), identity, cwd, words, env: run.env, output_limit, console, speaks };
    let title = if is_line {
        format!("run in a shell: {}", shown(&run.program, TITLE_CHARS))
    } else {
        format!("run {}", shown(&quote::line(&[], &plan.words), TITLE_CHARS))
    };
    let shown = shown_command(&open, &plan, title);
    Ok((plan, shown))
}

fn shown_command(open: &Root, plan: &RunPlan, title: String) -> Prepared {
    let cwd = open.path().join(&plan.cwd);
    let (line, argv) = match plan.words.as_slice() {
        [shell, flag, line] if [shell.as_str(), flag.as_str()] == SHELL => (Some(line.as_str()), [].as_slice()),
        words => (None, words),
    };
    let known = facts::of(open, Said { cwd: &plan.cwd, line, argv, env: &plan.env });
    let digest = digest(plan, &cwd, &known.programs);
    Prepared {
        kind: ApprovalKind::Command,
        title,
        command: Some(quote::line(&plan.env, &plan.words)),
        cwd: Some(shown(&cwd.to_string_lossy(), usize::MAX)),
        path: None,
        diff: None,
        change: None,
        facts: Facts::Command(Box::new(known.facts)),
        scope: format!("run:{digest}"),
        digest,
    }
}

/// Of all that decides what runs: words, variables, folder, and the programs' very files.
fn digest(plan: &RunPlan, cwd: &Path, programs: &[Option<Bound>]) -> String {
    let mut digest = Digest::of("run").part(cwd.as_os_str().as_encoded_bytes()).count(plan.words.len());
    for word in &plan.words {
        digest = digest.part(word.as_bytes());
    }
    digest = digest.count(plan.env.len());
    for (name, value) in &plan.env {
        digest = digest.part(name.as_bytes()).part(value.as_bytes());
    }
    for program in programs {
        digest = match program {
            Some(bound) => digest.part(bound.path.as_os_str().as_encoded_bytes()).part(&bound.seal.bytes()),
            None => digest.part(b""),
        };
    }
    match plan.console {
        Console::Pipes => digest.hex(),
        Console::Pty { .. } => digest.part(b"pty").hex(),
    }
}

fn check(run: &Run) -> Result<(), ErrandFailure> {
    let texts =
        || std::iter::once(&run.program).chain(&run.args).chain(run.env.iter().flat_map(|(name, value)| [name, value]));
    let bytes: usize = texts().map(String::len).sum();
    if bytes > MAX_COMMAND_BYTES || texts().count() > MAX_COMMAND_WORDS {
        let message = format!(
            "the command has {bytes} bytes in {} words; {MAX_COMMAND_BYTES} bytes in {MAX_COMMAND_WORDS} words can be run; \
             write a script and run that",
            texts().count()
        );
        return Err(ErrandFailure::new(ErrandCode::TooLarge, message));
    }
    if run.program.trim().is_empty() {
        return Err(ErrandFailure::new(ErrandCode::Invalid, "the command is empty"));
    }
    if texts().any(|text| text.contains('\0')) {
        return Err(ErrandFailure::new(ErrandCode::Invalid, "a command cannot hold the character U+0000"));
    }
    match run.env.iter().find(|(name, _)| !is_name(name)) {
        Some((name, _)) => Err(invalid(name, "is no name of a variable")),
        None => Ok(()),
    }
}

fn is_name(name: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '_';
    name.chars().all(fits) && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Agents send a program with arguments, or a whole line for a shell without any. A program whose very name has spaces is
/// told from a line by being there.
fn is_shell_line(run: &Run, cwd: &Path) -> bool {
    let plain = |character: char| character.is_alphanumeric() || "_-+./:@%,".contains(character);
    let is_file = || run.program.contains('/') && cwd.join(&run.program).is_file();
    run.args.is_empty() && !run.program.chars().all(plain) && !is_file()
}

fn folder(open: &Root, asked: Option<&str>) -> Result<PathBuf, ErrandFailure> {
    let asked = asked.unwrap_or(".");
    let found = open.existing(asked)?;
    let is_folder = found.as_os_str().is_empty() || open.dir().metadata(&found).is_ok_and(|found| found.is_dir());
    if is_folder { Ok(found) } else { Err(invalid(asked, "is no folder, so nothing can run there")) }
}

fn find(words: &[String], env: &[(String, String)], cwd: &Path) -> Result<PathBuf, ErrandFailure> {
    let environment = environment_with(env).map_err(|error| failed(&error.to_string()))?;
    let path = environment.get(std::ffi::OsStr::new("PATH")).map(AsRef::as_ref);
    let word = words.first().map_or("", String::as_str);
    find_program(word, cwd, path)
        .map_err(|error| ErrandFailure::new(ErrandCode::NotFound, shown(&error.to_string(), 300)))
}

/// Opens the folder, if it is still the one that was shown, and puts the command together.
pub(super) fn ready(plan: &RunPlan, own: &Path) -> Result<Ready, ErrandFailure> {
    let changed = || {
        let message = "the folder of the command is not the one that was shown any more, so it was not run; ask again";
        ErrandFailure::new(ErrandCode::Changed, message)
    };
    let open = Root::open(&plan.root, own)?;
    if open.identity().ok() != Some(plan.identity) {
        return Err(changed());
    }
    let parts: Vec<_> = plan.cwd.iter().map(ToOwned::to_owned).collect();
    let folder = open.walk(&parts, Missing::Fail).map_err(|_| changed())?;
    let real = open.path().join(&plan.cwd);
    let program = find(&plan.words, &plan.env, &real)?;
    let environment = environment_with(&plan.env).map_err(|error| failed(&error.to_string()))?;
    let mut command = Command::new(program);
    // The folder is named by its descriptor, so that the command starts in the very folder that was opened just now.
    let by_descriptor = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&folder));
    command.arg0(plan.words.first().map_or("", String::as_str)).args(plan.words.get(1..).unwrap_or_default());
    command.env_clear().envs(environment).current_dir(by_descriptor);
    if plan.console != Console::Pipes && !plan.env.iter().any(|(name, _)| name == "TERM") {
        command.env("TERM", "xterm-256color");
    }
    Ok(Ready { command, folder, output_limit: plan.output_limit })
}

fn failed(why: &str) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the command could not be started: {why}"))
}
