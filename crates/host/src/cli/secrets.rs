//! `secrets`: stored, listed by name, removed. A value comes from standard input and is never printed.

use std::io::{self, IsTerminal as _, Read as _};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use super::args::{Cli, Format, SecretsCommand};
use super::exit::Failure;
use super::print;
use crate::secrets::{Keep, MAX_SECRET_BYTES, SecretError, Secrets, check_name};
use crate::server::Secret;

/// Does what was asked. The file is locked while it changes, so a running host need not be asked.
pub(super) fn run(cli: &Cli, command: &SecretsCommand) -> Result<(), Failure> {
    let folder = cli.folder()?;
    let secrets = Secrets::of(folder.path());
    match command {
        SecretsCommand::Set { name } => set(cli, &secrets, name),
        SecretsCommand::List => list(cli, &secrets),
        SecretsCommand::Remove { name } => remove(cli, &secrets, name),
    }
}

fn set(cli: &Cli, secrets: &Secrets, name: &str) -> Result<(), Failure> {
    check_name(name)?;
    let value = value(name).map_err(|error| Failure::failed(format!("the secret cannot be read: {error}")))?;
    let kept = secrets.set(name, &value)?;
    match cli.format() {
        Format::Json => print::json(&json!({ "name": name, "stored": true, "kept": kept.word() })),
        Format::Words => {
            print::words(&format!(
                "The secret {} is stored in {}. It is bound to the first place it is used for.",
                print::safe(name),
                place(secrets, kept)
            ));
        }
    }
    Ok(())
}

fn place(secrets: &Secrets, kept: Keep) -> String {
    match kept {
        Keep::Keyring => "the keyring of your desktop".to_owned(),
        Keep::File => {
            let file = print::safe(&secrets.file().display().to_string());
            format!("the file {file}, which only you can read and which is not encrypted")
        }
    }
}

/// One line of standard input; on a terminal it is asked for, and not shown.
fn value(name: &str) -> io::Result<Secret> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let mut text = String::new();
        stdin.lock().take(MAX_SECRET_BYTES as u64 + 2).read_to_string(&mut text)?;
        return Ok(Secret::new(one_line(text)));
    }
    eprint!("Value of {}: ", print::safe(name));
    let before = tcgetattr(&stdin)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &silent)?;
    let mut text = String::new();
    let read = stdin.read_line(&mut text);
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    eprintln!();
    read?;
    Ok(Secret::new(one_line(text)))
}

fn one_line(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    if text.ends_with('\r') {
        text.pop();
    }
    text
}

fn list(cli: &Cli, secrets: &Secrets) -> Result<(), Failure> {
    for listed in secrets.list()? {
        let kept = listed.kept.word();
        match cli.format() {
            Format::Json => print::json(&json!({ "name": listed.name, "bound": listed.bound, "kept": kept })),
            Format::Words => {
                let bound = print::safe(listed.bound.as_deref().unwrap_or("nothing yet")).to_string();
                print::words(&format!("{}  bound to {bound}, in the {kept}", print::safe(&listed.name)));
            }
        }
    }
    if cli.format() == Format::Words {
        print::words(&format!("New secrets go to {}.", print::safe(&secrets.kept_in().1)));
    }
    Ok(())
}

fn remove(cli: &Cli, secrets: &Secrets, name: &str) -> Result<(), Failure> {
    if !secrets.remove(name)? {
        let message = format!(
            "there is no secret `{}`; `switchboard secrets list` names those that there are",
            print::safe(name)
        );
        return Err(Failure::not_found(message));
    }
    match cli.format() {
        Format::Json => print::json(&json!({ "name": name, "removed": true })),
        Format::Words => print::words(&format!("The secret {} is removed.", print::safe(name))),
    }
    Ok(())
}

impl From<SecretError> for Failure {
    fn from(error: SecretError) -> Self {
        match error {
            SecretError::Unfit(_) => Self::usage(error.to_string()),
            SecretError::Unknown(_) => Self::not_found(error.to_string()),
            SecretError::Elsewhere { .. }
            | SecretError::Unbound { .. }
            | SecretError::Keyring { .. }
            | SecretError::File(_) => Self::failed(error.to_string()),
        }
    }
}
