//! Configuration, agents and the machine. Programs are looked for, never started.

use std::env;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use switchboard_types::Time;

use super::{Report, walls};
use crate::agents::{AgentKind, find_program};
use crate::cli::agents::{Configured, Listed};
use crate::cli::args::Cli;
use crate::clock::Clock;
use crate::config::{Config, user_file};
use crate::history::WorkspaceEntry;

/// Fewer open files than this make a host with many tabs fail.
const FEW_FILES: u64 = 1024;
/// Before this there was no Switchboard: 2026 began then.
const EARLIEST: Time = Time(1_767_225_600_000);
/// A program that fetches and starts another one by Node.
const NPX: &str = "npx";

/// Looks at what is configured, given the workspaces that are known.
pub(super) fn look(cli: &Cli, known: Option<&[WorkspaceEntry]>, report: &mut Report) {
    machine(report);
    let Some(user) = user_config(cli, report) else { return };
    let root = match cli.workspace(None) {
        Ok(root) => root,
        Err(failure) => return report.wrong("workspace", failure.message, "give another one with `--workspace DIR`"),
    };
    let trusted = known.unwrap_or_default().iter().any(|one| one.root == root.as_str() && one.trusted_ms.is_some());
    match Configured::read(user.clone(), root.clone(), trusted) {
        Ok(configured) => {
            walls::look(&configured.merged, &cli.source(), report);
            for note in &configured.merged.left_out {
                report.doubtful("workspace", note, "take it out, or write it into your own file");
            }
            workspace(cli, &configured, report);
        }
        Err(failure) => {
            walls::look(&user, &cli.source(), report);
            report.wrong("workspace", failure.message, "mend that line; until then only your own configuration counts");
            // What the user's own file names is looked at all the same.
            if let Ok(configured) = Configured::read(user, root, false) {
                agents(cli, &configured, report);
            }
        }
    }
}

fn user_config(cli: &Cli, report: &mut Report) -> Option<Config> {
    let file = user_file(cli.flags.config.as_deref());
    let shown = file.as_ref().map_or_else(|| "no home folder".to_owned(), |(file, _)| file.display().to_string());
    let there = file.as_ref().is_some_and(|(file, _)| file.exists());
    match Config::read(file) {
        Ok(config) => {
            let state = if there { "is understood" } else { "is not there; the defaults hold" };
            report.good("configuration", format!("{shown} {state}"));
            Some(config)
        }
        Err(error) => {
            report.wrong(
                "configuration",
                error.to_string(),
                "mend that line, or name another file with `--config FILE`",
            );
            None
        }
    }
}

fn workspace(cli: &Cli, configured: &Configured, report: &mut Report) {
    let (root, file) = (&configured.root, configured.file());
    match (configured.trusted, file.exists()) {
        (true, true) => report.good("workspace", format!("{root} is trusted; {} is understood", file.display())),
        (true, false) => report.good("workspace", format!("{root} is trusted")),
        (false, true) => {
            let mend = "if you know what it starts, run `switchboard trust`";
            report.doubtful("workspace", format!("{root} is not trusted, so {} does not count", file.display()), mend);
        }
        (false, false) => report.good("workspace", format!("{root} is not trusted; only the demo agent starts there")),
    }
    agents(cli, configured, report);
}

fn agents(cli: &Cli, configured: &Configured, report: &mut Report) {
    for agent in configured.agents(cli) {
        one(&agent, Path::new(configured.root.as_str()), report);
    }
}

fn one(agent: &Listed, root: &Path, report: &mut Report) {
    let name = &agent.spec.name;
    let process = match &agent.spec.kind {
        AgentKind::Plain(process) | AgentKind::Acp(process) | AgentKind::Apex { process, .. } => process,
        AgentKind::Engine { url, .. } => {
            return report.doubtful("agent", format!("`{name}` is at {url}, which is not asked"), blocked(agent));
        }
        AgentKind::Model { base_url, model, .. } => {
            let what = format!("`{name}` is {model} at {base_url}, which is not asked");
            let mend = format!("`switchboard agents check {name}` asks it");
            return report.doubtful("agent", what, agent.blocked.as_deref().unwrap_or(&mend));
        }
    };
    let word = process.command.first().map_or("", String::as_str);
    let path = env::var_os("PATH");
    match find_program(word, root, path.as_deref()) {
        Err(why) => {
            let mend = "mend its `command` in the configuration, or install the program";
            report.wrong("agent", format!("`{name}`: {why}"), mend);
        }
        Ok(_) if word == NPX && find_program("node", root, path.as_deref()).is_err() => {
            report.wrong("agent", format!("`{name}` needs Node.js, and there is none in PATH"), "install Node.js");
        }
        Ok(program) => match &agent.blocked {
            Some(why) => {
                report.doubtful("agent", format!("`{name}` is {}, but does not start", program.display()), why)
            }
            None => report.good("agent", format!("`{name}` is {}", program.display())),
        },
    }
}

fn blocked(agent: &Listed) -> &str {
    agent.blocked.as_deref().unwrap_or_default()
}

fn machine(report: &mut Report) {
    let now = Clock::start().now();
    if now < EARLIEST {
        report.wrong("clock", "the machine's clock is years behind", "set it; events are stamped by it");
    } else {
        report.good("clock", crate::cli::print::date(now));
    }
    let files = getrlimit(Resource::Nofile).maximum;
    match files {
        Some(files) if files < FEW_FILES => {
            let mend = "raise the hard limit: `ulimit -Hn 65536` in the shell that starts the host, or in limits.conf";
            report.doubtful("open files", format!("at most {files}"), mend);
        }
        Some(files) => report.good("open files", format!("up to {files}")),
        None => report.good("open files", "as many as the system has"),
    }
}
