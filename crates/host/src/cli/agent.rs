//! `agent`: the built-in agent, put together from flags, settings and the environment. Knows no message of it.

use std::env;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use super::args::{AgentArgs, Cli};
use super::exit::Failure;
use crate::agent::{self, OptionsError, TOKEN, Wanted, WithInstructions};
use crate::folder::Folder;

/// The folder of sessions within the data folder, or within the usual folder of state.
const SESSIONS: &str = "agent";

/// Serves whoever is on standard input and output.
pub(super) async fn run(cli: &Cli, args: &AgentArgs) -> Result<(), Failure> {
    // The settings are looked at only for what no flag says, so that a file with a mistake stops nobody who needs none of it.
    let settings = match (&args.base_url, &args.model) {
        (Some(_), Some(_)) => None,
        (None, _) | (_, None) => Some(cli.config()?.settings),
    };
    // A model of the settings is one of the settings' server.
    let set_url = settings.as_ref().and_then(|settings| settings.base_url.clone());
    let set_model = settings.as_ref().and_then(|settings| settings.agent_model.clone());
    let is_set_server = args.base_url.is_none() || args.base_url == set_url;
    let data = Folder::usual_or(cli.flags.data.as_deref())?;
    let wanted = Wanted {
        base_url: args.base_url.clone().or(set_url),
        model: args.model.clone().or(set_model.filter(|_| is_set_server)),
        secret: args.secret.clone(),
        sessions: sessions(cli, &data),
        data: data.exists().then_some(data),
        instructions: if args.no_instructions { WithInstructions::No } else { WithInstructions::Yes },
    };
    let options = wanted.settle(env::var(TOKEN).ok(), env::var("OLLAMA_HOST").ok().as_deref())?;
    if std::io::stdin().is_terminal() {
        eprintln!("This is an agent for programs that speak the Agent Client Protocol; Ctrl-D ends it.");
    }
    agent::run(options).await;
    Ok(())
}

/// Within `--data`; else in the folder of state that the desktop's standard names.
fn sessions(cli: &Cli, data: &std::path::Path) -> PathBuf {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = || absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    match (&cli.flags.data, state()) {
        (None, Some(state)) => state.join("switchboard").join(SESSIONS),
        (Some(_), _) | (None, None) => data.join(SESSIONS),
    }
}

impl From<OptionsError> for Failure {
    fn from(error: OptionsError) -> Self {
        match error {
            OptionsError::Address(_) => Self::usage(error.to_string()),
            OptionsError::NoStore(_) => Self::not_found(error.to_string()),
            OptionsError::Secret(error) => error.into(),
        }
    }
}
