//! Which process and which dialect a kind of agent is. Starts nothing.

use std::borrow::Cow;
use std::path::Path;

use switchboard_dialects::agent::AgentDialect;
use switchboard_dialects::agent::acp::{Acp, AcpSettings};
use switchboard_dialects::agent::apex::{Apex, Setting};
use switchboard_dialects::agent::plain::Plain;

use super::spec::{
    AgentKind, AgentSpec, EnvValue, Need, ProcessPer, ProcessSpec, SecretName, Token, WantedBy, this_program,
};
use crate::agent::TOKEN;
use crate::calling::Address;
use crate::secrets::MODEL_SERVER;

/// What says which certificates are trusted: it calls its server itself.
const TRUSTED_BY: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The dialect for a new process of this agent; none if it is no process.
pub(super) fn dialect(spec: &AgentSpec) -> Option<Box<dyn AgentDialect>> {
    let acp = |command: &[String]| AcpSettings::new(spec.name.as_str(), command, env!("CARGO_PKG_VERSION"));
    match &spec.kind {
        AgentKind::Plain(_) => Some(Box::new(Plain::new())),
        AgentKind::Acp(process) => Some(Box::new(Acp::new(acp(&process.command)))),
        AgentKind::Apex { config, .. } => Some(Box::new(Apex::new(setting(config)))),
        AgentKind::Model { settings, .. } => {
            Some(Box::new(Acp::new(AcpSettings { own: Some(settings.clone()), ..acp(&[]) })))
        }
        AgentKind::Engine { .. } => None,
    }
}

/// The process of this agent, for a host with this data folder; none if it is none.
pub(super) fn process<'a>(spec: &'a AgentSpec, data: &Path) -> Option<Cow<'a, ProcessSpec>> {
    match &spec.kind {
        AgentKind::Plain(process) | AgentKind::Acp(process) | AgentKind::Apex { process, .. } => {
            Some(Cow::Borrowed(process))
        }
        AgentKind::Model { base_url, model, secret, .. } => {
            Some(Cow::Owned(of_model(base_url, model, secret.as_ref(), data)))
        }
        AgentKind::Engine { .. } => None,
    }
}

/// This very program as the built-in agent. Its token is in its environment, where no other user sees it.
fn of_model(base_url: &str, model: &str, secret: Option<&SecretName>, data: &Path) -> ProcessSpec {
    let (program, data) = (this_program().to_string_lossy().into_owned(), data.to_string_lossy().into_owned());
    let command = [&program, "agent", "--base-url", base_url, "--model", model, "--data", &data];
    let mut process = ProcessSpec::new(command.map(str::to_owned));
    process.per = ProcessPer::Session;
    process.inherit = TRUSTED_BY.map(str::to_owned).to_vec();
    // Without an address there is no origin, and the agent itself says what is wrong with it.
    if let Ok(address) = Address::read(base_url) {
        // The token of the settings goes along where it is bound already, and binds nothing.
        let of_settings = || SecretName { name: MODEL_SERVER.to_owned(), by: WantedBy::Workspace };
        let need = if secret.is_some() { Need::Must } else { Need::May };
        let token = Token { secret: secret.cloned().unwrap_or_else(of_settings), origin: address.origin(), need };
        process.env.insert(TOKEN.to_owned(), EnvValue::Token(token));
    }
    process
}

/// What a backend is told of where it runs: never a variable.
fn setting(config: &serde_json::Value) -> Setting {
    let (platform, host_version) = (std::env::consts::OS.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Setting { config: config.clone(), platform, host_version }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_agent_gets_its_token_by_its_environment_only_and_for_its_origin() {
        let secret = SecretName::of_user("mine");
        let made = of_model("http://127.0.0.1:11434/v1", "m", Some(&secret), Path::new("/data"));
        let rest = made.command.get(1..).unwrap();
        assert_eq!(
            rest,
            ["agent", "--base-url", "http://127.0.0.1:11434/v1", "--model", "m", "--data", "/data"].map(str::to_owned)
        );
        let token = Token { secret, origin: "http://127.0.0.1:11434".to_owned(), need: Need::Must };
        assert_eq!(made.env.get(TOKEN), Some(&EnvValue::Token(token)));
        assert_eq!(made.per, ProcessPer::Session);
        let unnamed = of_model("http://127.0.0.1:11434", "m", None, Path::new("/data"));
        let Some(EnvValue::Token(token)) = unnamed.env.get(TOKEN) else { panic!("{unnamed:?}") };
        assert_eq!((token.need, token.secret.by), (Need::May, WantedBy::Workspace));
    }
}
