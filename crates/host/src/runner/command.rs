//! Commands made ready: which program runs with which words, where, and how that is shown. Starts nothing.

use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use switchboard_types::{
    ApprovalKind, CommandFacts, ErrandCode, ErrandFailure, Facts, Place, Prepared, Run, WorkspaceRoot,
};
use tokio::process::Command;

use super::digest::Digest;
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
    check(&run)?;
    let open = Root::open(root, own)?;
    let cwd = folder(&open, run.cwd.as_deref())?;
    let real = open.path().join(&cwd);
    let is_line = is_shell_line(&run, &real);
    let words: Vec<String> = if is_line {
        SHELL.into_iter().map(str::to_owned).chain([run.program.clone()]).collect()
    } else {
        std::iter::once(run.program.clone()).chain(run.args).collect()
    };
    find(&words, &run.env, &real)?;
    let identity = open.identity().map_err(|error| open.failure(".", &error))?;
    let output_limit = run.output_limit.unwrap_or(DEFAULT_OUTPUT_BYTES).min(MAX_OUTPUT_BYTES);
    let output_limit = usize::try_from(output_limit).unwrap_or_default();
    let plan = RunPlan { root: root.clone(), identity, cwd, words, env: run.env, output_limit };
    let title = if is_line {
        format!("run in a shell: {}", shown(&run.program, TITLE_CHARS))
    } else {
        format!("run {}", shown(&quote::line(&[], &plan.words), TITLE_CHARS))
    };
    let shown = shown_command(&plan, &real, title);
    Ok((plan, shown))
}

fn shown_command(plan: &RunPlan, cwd: &Path, title: String) -> Prepared {
    let (is_line, argv) = match plan.words.as_slice() {
        [shell, flag, line] if [shell.as_str(), flag.as_str()] == SHELL => (Some(line.clone()), Vec::new()),
        words => (None, words.to_vec()),
    };
    let facts = CommandFacts {
        line: is_line,
        argv,
        env: plan.env.clone(),
        cwd: cwd.to_string_lossy().into_owned(),
        cwd_place: Place::Inside(plan.cwd.to_string_lossy().into_owned()),
        ..CommandFacts::default()
    };
    let mut digest = Digest::of("run").part(cwd.as_os_str().as_encoded_bytes()).count(plan.words.len());
    for word in &plan.words {
        digest = digest.part(word.as_bytes());
    }
    for (name, value) in &plan.env {
        digest = digest.part(name.as_bytes()).part(value.as_bytes());
    }
    let digest = digest.hex();
    Prepared {
        kind: ApprovalKind::Command,
        title,
        command: Some(quote::line(&plan.env, &plan.words)),
        cwd: Some(shown(&cwd.to_string_lossy(), usize::MAX)),
        path: None,
        diff: None,
        change: None,
        facts: Facts::Command(Box::new(facts)),
        scope: format!("run:{digest}"),
        digest,
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
    Ok(Ready { command, folder, output_limit: plan.output_limit })
}

fn failed(why: &str) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the command could not be started: {why}"))
}
