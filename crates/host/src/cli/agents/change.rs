//! `agents add` and `agents remove`: one entry of the user's own file. A host that runs sees it by itself.

use std::path::{Path, PathBuf};

use serde_json::json;
use switchboard_types::AgentName;

use super::configured::Configured;
use super::model;
use crate::agents::known::{self, Found, Nearness};
use crate::agents::{AgentKind, AgentSpec, ProcessPer, ProcessSpec, find_program};
use crate::cli::args::{AddArgs, Cli, Format, KindArg};
use crate::cli::exit::{Exit, Failure};
use crate::cli::print;
use crate::cli::reach::Reach;
use crate::config::edit::{self, AlsoRemoved, EditError};
use crate::config::user_file;

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        let exit = match &error {
            EditError::NotThere { .. } => Exit::NotFound,
            EditError::Taken { .. } | EditError::Wrong(_) | EditError::WouldBeWrong(_) | EditError::Refused(_) => {
                Exit::Usage
            }
            EditError::NoFile | EditError::ByHand { .. } | EditError::Unwritable { .. } => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

/// Adds an agent: a well-known one by its name, or any by its command.
pub(super) async fn add(cli: &Cli, args: &AddArgs) -> Result<(), Failure> {
    let file = file(cli)?;
    if model::is_meant(args) {
        return add_model(cli, &file, &model::agent(args).await?);
    }
    let found = if args.command.is_empty() { Some(well_known(args)?) } else { None };
    let spec = match &found {
        Some(found) => found.spec(),
        None => by_command(args),
    };
    edit::add(&file, &spec)?;
    let command = spec.kind.process().map(|process| process.command.clone()).unwrap_or_default();
    if cli.format() == Format::Json {
        let added = json!({ "added": args.name, "kind": spec.kind.word(), "command": command, "file": file });
        print::json(&added);
        return Ok(());
    }
    print::words(&format!("`{}` is added to {}: {}", args.name, file.display(), command.join(" ")));
    if let Some(found) = found {
        if found.nearness != Nearness::Installed {
            print::words("Its first start fetches a package, which may take a while.");
        }
        print::words(&format!("If it asks you to sign in: {}.", found.known.sign_in));
    } else {
        warn_if_absent(cli, &command);
    }
    print::words(&format!("Try it: `switchboard agents check {}`.", args.name));
    Ok(())
}

fn add_model(cli: &Cli, file: &Path, spec: &AgentSpec) -> Result<(), Failure> {
    edit::add(file, spec)?;
    let AgentSpec { name, kind: AgentKind::Model { base_url, model, .. } } = spec else { return Ok(()) };
    match cli.format() {
        Format::Json => {
            let added = json!({ "added": name, "kind": "model", "base_url": base_url, "model": model, "file": file });
            print::json(&added);
        }
        Format::Words => {
            print::words(&format!("`{name}` is added to {}: {model} at {base_url}", file.display()));
            print::words(&format!("Try it: `switchboard agents check {name}`."));
        }
    }
    Ok(())
}

fn well_known(args: &AddArgs) -> Result<Found, Failure> {
    let name = args.name.as_str();
    if args.kind.is_some() || !args.inherit.is_empty() {
        let message = "`--kind` and `--inherit` are for an agent with a command of its own";
        return Err(Failure::usage(format!("{message}: `switchboard agents add {name} … -- COMMAND`")));
    }
    let Some(known) = known::named(name) else {
        let names: Vec<_> = known::all().iter().map(|known| known.name).collect();
        return Err(Failure::not_found(format!(
            "`{name}` is no well-known agent; those are: {}. For any other, give its command: \
             `switchboard agents add {name} -- PROGRAM ARGUMENT…`",
            names.join(", ")
        )));
    };
    known.addable().map_err(Failure::not_found)
}

fn by_command(args: &AddArgs) -> AgentSpec {
    let mut process = ProcessSpec::new(args.command.iter().cloned());
    process.inherit.clone_from(&args.inherit);
    let kind = match args.kind.unwrap_or(KindArg::Acp) {
        KindArg::Plain => AgentKind::Plain(process),
        // The last never comes here.
        KindArg::Acp | KindArg::Model => AgentKind::Acp(ProcessSpec { per: ProcessPer::Session, ..process }),
        KindArg::Apex => {
            AgentKind::Apex { process: ProcessSpec { per: ProcessPer::Session, ..process }, config: json!({}) }
        }
    };
    AgentSpec { name: AgentName::new(args.name.as_str()), kind }
}

/// A command is taken as it is given, since it may be meant for another folder; but a person should know.
fn warn_if_absent(cli: &Cli, command: &[String]) {
    let Ok(root) = cli.workspace(None) else { return };
    let word = command.first().map_or("", String::as_str);
    if let Err(why) = find_program(word, root.as_str().as_ref(), std::env::var_os("PATH").as_deref()) {
        print::words(&format!("Seen from {root}, {why}."));
    }
}

/// Takes an agent out.
pub(super) async fn remove(cli: &Cli, name: &str) -> Result<(), Failure> {
    let (file, name) = (file(cli)?, AgentName::new(name));
    if name.is_demo() {
        return Err(Failure::usage("the demo agent is built in and stays"));
    }
    let also = match edit::remove(&file, &name) {
        Err(EditError::NotThere { .. }) => return Err(elsewhere(cli, &name, &file).await),
        other => other?,
    };
    match cli.format() {
        Format::Json => print::json(&json!({ "removed": name, "file": file })),
        Format::Words => {
            print::words(&format!("`{name}` is taken out of {}; its sessions stay.", file.display()));
            if also == AlsoRemoved::Default {
                print::words("It was the default agent; that is the demo agent now.");
            }
        }
    }
    Ok(())
}

/// Where the agent is, if it is not in the user's own file.
async fn elsewhere(cli: &Cli, name: &AgentName, file: &Path) -> Failure {
    let missing =
        Failure::not_found(format!("{} has no agent `{name}`; see `switchboard agents list`", file.display()));
    let configured = async {
        let (user, root) = (cli.config()?, cli.workspace(None)?);
        let trusted = Reach::find(&cli.folder()?).await?.trusts(&root).await?;
        Configured::read(user, root, trusted)
    };
    match configured.await {
        Ok(configured) if configured.merged.configured(name).is_some() => Failure::not_found(format!(
            "`{name}` is in the workspace's own file, which is not changed from here: take it out of {}",
            configured.file().display()
        )),
        Ok(_) | Err(_) => missing,
    }
}

fn file(cli: &Cli) -> Result<PathBuf, Failure> {
    let (file, _) = user_file(cli.flags.config.as_deref()).ok_or(EditError::NoFile)?;
    Ok(file)
}
