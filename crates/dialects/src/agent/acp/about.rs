//! What an agent says of itself when it is greeted: its version of the protocol, what it can do, how one signs in. Remembers
//! what the host must know to ask rightly.

use agent_client_protocol_schema::v1::AgentCapabilities;
use switchboard_types::{About, SignInMethod};

use super::AcpSettings;
use super::sign_in;
use super::small::{MAX_LINE_CHARS, cut, fields, has, line, number};

/// The version of the protocol that this dialect speaks.
pub(super) const VERSION: u64 = 1;

/// An agent that was greeted.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) abilities: Abilities,
    pub(super) sign_in: Vec<SignInMethod>,
}

/// What changes how it is talked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    pub(super) load: bool,
    pub(super) resume: bool,
    pub(super) close: bool,
    pub(super) image: bool,
    pub(super) embedded: bool,
}

impl Abilities {
    /// Those of an agent that has said nothing.
    pub(super) const NONE: Self = Self { load: false, resume: false, close: false, image: false, embedded: false };

    /// Whether a session of it can be taken up again in a later life.
    pub(super) fn lasting(self) -> bool {
        self.load || self.resume
    }
}

/// Reads the answer to the greeting. An agent of another version gives the reason why nothing can be opened.
pub(super) fn read(result: &str, settings: &AcpSettings) -> Result<(Agent, About), String> {
    let names = &["protocolVersion", "agentCapabilities", "authMethods", "agentInfo"];
    let Some(found) = fields(result, names) else {
        return Err("the agent answered `initialize` with something that is no object; is it an ACP agent?".to_owned());
    };
    let version = found.raw("protocolVersion").map(|raw| number(&found, "protocolVersion").ok_or(raw));
    match version {
        // An agent that does not say speaks the first version: there was no other when it was written.
        None | Some(Ok(VERSION)) => {}
        Some(other) => {
            let other = other.map_or_else(|raw| cut(raw, 64), |number| number.to_string());
            return Err(format!(
                "the agent speaks version {other} of ACP, and this host speaks version {VERSION}: install a version of the \
                 agent that speaks it"
            ));
        }
    }
    let raw = found.raw("agentCapabilities").unwrap_or("{}");
    let typed: AgentCapabilities = serde_json::from_str(raw).unwrap_or_default();
    let methods = sign_in::methods(found.raw("authMethods"), settings);
    let (abilities, words) = abilities(raw, &typed);
    let info = fields(found.raw("agentInfo").unwrap_or("{}"), &["title", "name", "version"]);
    let told = |name| info.as_ref().and_then(|info| line(info, name));
    let about = About {
        name: told("title").or(told("name")).unwrap_or_else(|| cut(&*settings.agent, MAX_LINE_CHARS)),
        version: told("version").unwrap_or_default(),
        protocol: format!("ACP {VERSION}"),
        abilities: words,
        sign_in: methods.clone(),
    };
    Ok((Agent { abilities, sign_in: methods }, about))
}

fn abilities(raw: &str, typed: &AgentCapabilities) -> (Abilities, Vec<String>) {
    let sessions = fields(raw, &["sessionCapabilities"]).and_then(|found| found.raw("sessionCapabilities"));
    let sessions = fields(sessions.unwrap_or("{}"), &["resume", "list", "close", "delete", "fork"]);
    let can = |name| sessions.as_ref().is_some_and(|found| has(found, name));
    let (prompts, mcp) = (&typed.prompt_capabilities, &typed.mcp_capabilities);
    let abilities = Abilities {
        load: typed.load_session,
        resume: can("resume"),
        close: can("close"),
        image: prompts.image,
        embedded: prompts.embedded_context,
    };
    let words = [
        (abilities.image, "takes pictures in prompts"),
        (prompts.audio, "takes sound in prompts"),
        (abilities.embedded, "takes files within prompts"),
        (abilities.resume, "takes up earlier sessions where they were"),
        (abilities.load, "reads earlier sessions again"),
        (can("list"), "lists its sessions"),
        (abilities.close, "closes sessions when told"),
        (can("delete"), "deletes sessions"),
        (can("fork"), "forks sessions"),
        (mcp.http, "uses MCP servers over HTTP"),
        (mcp.sse, "uses MCP servers over SSE"),
        (typed.auth.logout.is_some(), "signs out when told"),
    ];
    (abilities, words.into_iter().filter(|(able, _)| *able).map(|(_, words)| words.to_owned()).collect())
}
