//! Commands made ready: which program runs with which words, where, and how that is shown. Starts nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use switchboard_core::policy::{Reading, read_argv, read_line};
use switchboard_types::{
    ApprovalKind, Console, Containment, ErrandCode, ErrandFailure, Facts, Network, Prepared, Run, RunAs, WorkspaceRoot,
};
use tokio::process::Command;

use super::contain::{Fence, Join, Line, Pin, Room, Script, Step, Watch, Wrapped, outside, steps, wrap, writes_git};
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
/// Says where files for a moment go; every contained command has its own place for them.
const TMPDIR: &str = "TMPDIR";
/// Says what a terminal can do.
const TERM: &str = "TERM";
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
    /// The programs that were there when it was shown, by name; the one that is started first of all.
    pins: Vec<(String, Pin)>,
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

/// How a command is to be run.
#[derive(Clone, Debug)]
pub(super) struct How {
    pub(super) run_as: RunAs,
    pub(super) network: Network,
    pub(super) fence: Arc<Fence>,
}

/// A command that can be started now.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) command: Command,
    /// Its folder; it must stay open until the command has started.
    pub(super) folder: OwnedFd,
    /// What is around it; none if it is started itself.
    pub(super) around: Option<AroundIt>,
    /// Bytes of output that are kept for the agent.
    pub(super) output_limit: usize,
}

/// What is around a command that is not started itself.
#[derive(Debug)]
pub(super) struct AroundIt {
    /// Passed on to it.
    pub(super) pass: Vec<OwnedFd>,
    /// What the host hears from it.
    pub(super) reports: io::PipeReader,
    /// What to look at in the end.
    pub(super) watch: Option<Watch>,
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
    let pins = pins(&words, &run.env, &real)?;
    let identity = open.identity().map_err(|error| open.failure(".", &error))?;
    let output_limit = run.output_limit.unwrap_or(DEFAULT_OUTPUT_BYTES).min(MAX_OUTPUT_BYTES);
    let output_limit = usize::try_from(output_limit).unwrap_or_default();
    let console = run.console;
    let plan = RunPlan { root: root.clone(), identity, cwd, words, env: run.env, output_limit, pins, console, speaks };
    let title = if is_line {
        format!("run in a shell: {}", shown(&run.program, TITLE_CHARS))
    } else {
        format!("run {}", shown(&quote::line(&[], &plan.words), TITLE_CHARS))
    };
    let shown = shown_command(&open, &plan, title);
    Ok((plan, shown))
}

fn shown_command(open: &Root, plan: &RunPlan, title: String) -> Prepared {
    let cwd = if plan.cwd.as_os_str().is_empty() { open.path().to_owned() } else { open.path().join(&plan.cwd) };
    let (line, argv) = match plan.words.as_slice() {
        [shell, flag, line] if [shell.as_str(), flag.as_str()] == SHELL => (Some(line.as_str()), [].as_slice()),
        words => (None, words),
    };
    let known = facts::of(open, Said { cwd: &plan.cwd, line, argv, env: &plan.env });
    let digest = digest(plan, &cwd, &known.programs);
    Prepared {
        kind: ApprovalKind::Command,
        title,
        command: Some(match line {
            // As it was asked for, and as it can be edited.
            Some(line) if plan.env.is_empty() && quote::can_be_seen(line) => line.to_owned(),
            Some(_) | None => quote::line(&plan.env, &plan.words),
        }),
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

/// Looks at every program that is named, the one that is started first.
fn pins(words: &[String], env: &[(String, String)], cwd: &Path) -> Result<Vec<(String, Pin)>, ErrandFailure> {
    let first = find(words, env, cwd)?;
    let pin = Pin::of(&first).map_err(|error| failed(&error.to_string()))?;
    let mut all = vec![(words.first().cloned().unwrap_or_default(), pin)];
    for name in reading(words).commands.into_iter().filter_map(|simple| simple.words.into_iter().next()) {
        if all.iter().skip(1).all(|(known, _)| *known != name)
            && let Ok(pin) = find(std::slice::from_ref(&name), env, cwd)
                .and_then(|file| Pin::of(&file).map_err(|error| failed(&error.to_string())))
        {
            all.push((name, pin));
        }
    }
    Ok(all)
}

/// What the words say, those for a shell read as the shell would.
fn reading(words: &[String]) -> Reading {
    match words {
        [shell, flag, line] if [shell.as_str(), flag.as_str()] == SHELL => read_line(line),
        words => read_argv(words),
    }
}

/// Opens the folder, if it is still the one that was shown, and puts the command together.
pub(super) fn ready(plan: &RunPlan, own: &Path, how: &How) -> Result<Ready, ErrandFailure> {
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
    if let Some((_, pin)) = plan.pins.iter().find(|(_, pin)| !pin.holds()) {
        let shown = shown(&pin.path.to_string_lossy(), TITLE_CHARS);
        let message = format!("`{shown}` is not the program that was shown any more, so it was not run; ask again");
        return Err(ErrandFailure::new(ErrandCode::Changed, message));
    }
    let line = line(plan, how.run_as)?;
    let mut environment = environment_with(&plan.env).map_err(|error| failed(&error.to_string()))?;
    if plan.console != Console::Pipes && !plan.env.iter().any(|(name, _)| name == TERM) {
        environment.insert(TERM.into(), "xterm-256color".into());
    }
    match how.fence.told() {
        Containment::Missing { reason } => {
            let message =
                format!("commands are to be held in, and that does not work here, so nothing is run: {reason}");
            Err(ErrandFailure::new(ErrandCode::Denied, message))
        }
        Containment::Works { .. } => contained(plan, own, how, (&open, folder), line, environment),
        Containment::None { .. } => match how.run_as {
            RunAs::Judged => uncontained(plan, how, (&open, folder), line, environment),
            RunAs::Shown => Ok(bare(plan, folder, environment)),
        },
    }
}

/// What runs, one program after the other.
fn line(plan: &RunPlan, run_as: RunAs) -> Result<Line, ErrandFailure> {
    let find = |name: &str| plan.pins.iter().skip(1).find(|(known, _)| known == name).map(|(_, pin)| pin.clone());
    match run_as {
        RunAs::Judged => steps(&reading(&plan.words), find).map_err(|why| {
            let message = format!("it cannot be run unasked: {why}; ask a person");
            ErrandFailure::new(ErrandCode::Denied, message)
        }),
        RunAs::Shown => {
            let program = plan.pins.first().map(|(_, pin)| pin.clone());
            let step = Step { program, variables: 0, words: plan.words.len(), join: Join::Then, redirects: Vec::new() };
            Ok(Line { steps: vec![step], words: plan.words.iter().map(OsString::from).collect() })
        }
    }
}

fn contained(
    plan: &RunPlan,
    own: &Path,
    how: &How,
    (open, folder): (&Root, OwnedFd),
    line: Line,
    mut environment: BTreeMap<OsString, OsString>,
) -> Result<Ready, ErrandFailure> {
    if !plan.env.iter().any(|(name, _)| name == TMPDIR) {
        environment.insert(TMPDIR.into(), "/tmp".into());
    }
    let handle = open.walk(&[], Missing::Fail).map_err(|error| failed(&error.to_string()))?;
    let git = match how.run_as {
        RunAs::Shown => writes_git(&reading(&plan.words), open.path(), &plan.cwd),
        RunAs::Judged => None,
    };
    let room = Room { root: open.path(), handle, own, network: how.network, git };
    let (script, words) = script(plan, open, &folder, line, environment)?;
    let wrapped = wrap(&how.fence, room, &script, words).map_err(|error| not_held(&error))?;
    around(plan, wrapped, folder)
}

fn uncontained(
    plan: &RunPlan,
    how: &How,
    (open, folder): (&Root, OwnedFd),
    line: Line,
    environment: BTreeMap<OsString, OsString>,
) -> Result<Ready, ErrandFailure> {
    let (script, words) = script(plan, open, &folder, line, environment)?;
    let wrapped = outside(&how.fence, &script, words).map_err(|error| failed(&error.to_string()))?;
    around(plan, wrapped, folder)
}

fn script(
    plan: &RunPlan,
    open: &Root,
    folder: &OwnedFd,
    line: Line,
    environment: BTreeMap<OsString, OsString>,
) -> Result<(Script, Vec<OsString>), ErrandFailure> {
    let found = rustix::fs::fstat(folder).map_err(|error| failed(&error.to_string()))?;
    let variables = environment.len();
    let set = environment.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        name
    });
    let words = set.chain(line.words).collect();
    let (root, cwd) = (open.path().to_owned(), open.path().join(&plan.cwd));
    Ok((
        Script {
            root,
            cwd,
            folder: (found.st_dev, found.st_ino),
            variables,
            terminal: plan.console != Console::Pipes,
            steps: line.steps,
        },
        words,
    ))
}

fn around(plan: &RunPlan, wrapped: Wrapped, folder: OwnedFd) -> Result<Ready, ErrandFailure> {
    let Wrapped { mut command, pass, watch } = wrapped;
    let (reports, writer) = io::pipe().map_err(|error| failed(&error.to_string()))?;
    command.stdin(writer);
    let around = Some(AroundIt { pass, reports, watch });
    Ok(Ready { command, folder, around, output_limit: plan.output_limit })
}

/// The command itself, with nothing around it.
fn bare(plan: &RunPlan, folder: OwnedFd, environment: BTreeMap<OsString, OsString>) -> Ready {
    let program = plan.pins.first().map(|(_, pin)| pin.path.clone()).unwrap_or_default();
    let mut command = Command::new(program);
    // The folder is named by its descriptor, so that the command starts in the very folder that was opened just now.
    let by_descriptor = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&folder));
    command.arg0(plan.words.first().map_or("", String::as_str)).args(plan.words.get(1..).unwrap_or_default());
    command.env_clear().envs(environment).current_dir(by_descriptor);
    Ready { command, folder, around: None, output_limit: plan.output_limit }
}

fn failed(why: &str) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the command could not be started: {why}"))
}

fn not_held(why: &io::Error) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the command could not be held in, so it was not run: {why}"))
}
