//! The dialect `acp`: the client side of the Agent Client Protocol, version 1, for one process and all its sessions. Each
//! message is read raw first and typed second: what does not type is kept and shown, never lost. Does nothing of what an
//! agent asks for; the host does.

mod about;
mod asked;
mod asking;
mod calls;
mod content;
mod diff;
mod errands;
mod fault;
mod opening;
mod options;
mod permission;
mod prompt;
mod sessions;
mod shape;
mod sign_in;
mod small;
mod update;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use switchboard_types::{ApprovalId, Ask, ErrandName, SessionId, Time, TurnName, Word};

use self::about::{Abilities, Agent};
use self::options::Setting;
use self::sessions::{Attempt, Sessions, Wanted, Way};
pub use self::shape::{HOST_ASKS, schema};
use self::small::{fields, name};
pub use self::update::UPDATES;
use super::early::Early;
use super::repeat::Repeat;
use super::{AgentDialect, Noise};
use crate::json::shown;
use crate::jsonrpc::{Envelope, Fault, Owed, Pending, Reader, Refusal, write};

/// What the built-in agent is told of its settings by: at its start and when they change.
pub const SETTINGS: &str = "_switchboard/settings";

/// Requests of ours that wait for their answers.
const MAX_PENDING: usize = 4_096;
/// Requests of the agent that wait for theirs.
const MAX_OWED: usize = 1_024;

/// What an agent may ask for, and what the host does.
pub const AGENT_ASKS: [(&str, &str); 8] = {
    let [read, write, create, output, wait, kill, release] = errands::METHODS;
    [asked::PERMISSION, read, write, create, output, wait, kill, release]
};

/// What the host knows of an agent before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpSettings {
    /// Its name in the configuration, for sentences that say what to do.
    pub agent: String,
    /// The command that starts it, for the same.
    pub command: Vec<String>,
    /// The host's own version, which the agent is told.
    pub version: String,
    /// What the host offers to do for it.
    pub offers: Offers,
    /// What people have set, if it is the built-in agent, which is told so by a method of our own; none for all others.
    pub own: Option<Value>,
}

/// What the host offers to do for an agent. An agent does for itself what it is not offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    /// Read files of text.
    pub read: bool,
    /// Write files of text.
    pub write: bool,
    /// Run commands.
    pub terminal: bool,
}

impl AcpSettings {
    /// For an agent of this name that this command starts, and a host of this version.
    #[must_use]
    pub fn new(agent: &str, command: &[String], version: &str) -> Self {
        let (agent, version) = (agent.to_owned(), version.to_owned());
        Self { agent, command: command.to_vec(), version, offers: Offers::to(command), own: None }
    }
}

impl Offers {
    /// What is offered to the agent that this command starts: everything, but for what is known to break an agent.
    #[must_use]
    pub fn to(command: &[String]) -> Self {
        // Gemini CLI takes the error for a missing file as a failure of the host, whatever it says, and then creates no
        // file. Where it reads for itself it finds out, and still writes through the host.
        let is_gemini = |word: &String| {
            let program = word.rsplit('/').next().unwrap_or(word);
            program == "gemini" || program.starts_with("gemini-cli")
        };
        Self { read: !command.iter().any(is_gemini), write: true, terminal: true }
    }
}

/// The dialect `acp` with what it remembers for one process.
#[derive(Debug)]
pub struct Acp {
    settings: AcpSettings,
    reader: Reader,
    pending: Pending<Waiting>,
    owed: Owed,
    greeted: Greeted,
    sessions: Sessions,
    questions: BTreeMap<ApprovalId, (SessionId, permission::Open)>,
    errands: BTreeMap<ErrandName, (SessionId, errands::Open)>,
    early: Early,
    repeat: Repeat,
    /// Messages on their way to the agent.
    out: Vec<Vec<u8>>,
    /// Words that answer an ask.
    unsaid: Vec<Word>,
    /// Questions and errands that were named so far.
    names: u64,
}

/// What waits for an answer of the agent.
#[derive(Debug)]
enum Waiting {
    Greeting,
    Opening { session: SessionId, attempt: Attempt, way: Way },
    SignIn { session: SessionId, method: String },
    Prompt { session: SessionId, turn: TurnName },
    Setting { session: SessionId, setting: Setting },
    Closing,
}

/// Whether the agent has said what it is.
#[derive(Debug)]
enum Greeted {
    NotYet,
    Well(Agent),
    /// It cannot be talked to, for this reason.
    Badly(String),
}

impl Acp {
    /// For a process that has just started.
    #[must_use]
    pub fn new(settings: AcpSettings) -> Self {
        Self {
            settings,
            reader: Reader::new(),
            pending: Pending::with_max(MAX_PENDING),
            owed: Owed::with_max(MAX_OWED),
            greeted: Greeted::NotYet,
            sessions: Sessions::default(),
            questions: BTreeMap::new(),
            errands: BTreeMap::new(),
            early: Early::default(),
            repeat: Repeat::default(),
            out: Vec::new(),
            unsaid: Vec::new(),
            names: 0,
        }
    }

    fn agent(&self) -> &Agent {
        static NOBODY: Agent = Agent { abilities: Abilities::NONE, sign_in: Vec::new() };
        match &self.greeted {
            Greeted::Well(agent) => agent,
            Greeted::NotYet | Greeted::Badly(_) => &NOBODY,
        }
    }

    fn abilities(&self) -> Abilities {
        self.agent().abilities
    }

    /// Asks the agent something; on failure says why, for a person.
    fn request(&mut self, waiting: Waiting, method: &str, params: &impl Serialize) -> Result<(), String> {
        let id = self.pending.open(waiting).map_err(|full| format!("the agent does not answer: {full}"))?;
        match write::request(id, method, params) {
            Ok(message) => self.out.push(message),
            Err(unwritable) => {
                self.pending.abandon(id);
                return Err(unwritable.to_string());
            }
        }
        Ok(())
    }

    /// Reads one message the long way.
    fn read_frame(&mut self, now: Time, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        let read = match self.reader.read(frame) {
            Ok(read) => read,
            Err(refused) => {
                // A line of noise is not worth an answer; a request that cannot be served is.
                let noise = Noise::new(refused.to_string());
                let is_noise = matches!(refused.why, Refusal::NotJson { .. } | Refusal::NotAnObject { .. });
                self.out.extend(refused.answer().filter(|_| !is_noise));
                return Err(noise);
            }
        };
        match read.envelope {
            Envelope::Notification { method, params } => self.told(&method, params, frame, said),
            Envelope::Request { id, method, params } => self.asked(id, &method, params, said),
            Envelope::Result { id, result } => {
                let waiting = self.pending.take(id).map_err(|stray| Noise::new(stray.to_string()))?;
                self.answered(now, waiting, Ok(result), said)
            }
            Envelope::Error { id: Some(id), fault } => {
                let waiting = self.pending.take(id).map_err(|stray| Noise::new(stray.to_string()))?;
                self.answered(now, waiting, Err(&fault), said)
            }
            Envelope::Error { id: None, fault } => {
                let why = small::cut(fault::in_words(&fault), small::MAX_LINE_CHARS / 4);
                Err(Noise::new(format!("the agent could not read something: {why}")))
            }
        }?;
        if read.oddities.is_empty() { Ok(()) } else { Err(Noise::new(format!("borne, but odd: {}", read.oddities))) }
    }

    /// The agent tells something.
    fn told(&mut self, method: &str, params: Option<&str>, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        if matches!(method, "$/cancel_request" | write::CANCEL_REQUEST) {
            return self.called_back(params, said);
        }
        let params = params.unwrap_or("{}");
        let found = fields(params, &["sessionId", "update"]);
        let Some(id) = found.as_ref().and_then(|found| name(found, "sessionId")) else {
            return Err(Noise::new(format!("{} names no session", shown(method))));
        };
        let Some(open) = self.sessions.get(&id) else { return self.keep(&id, frame) };
        if method != "session/update" {
            let session = open.session;
            said.push(Word::Unknown { session, name: method.to_owned(), raw: params.to_owned() });
            return Ok(());
        }
        let update = found.and_then(|found| found.raw("update")).unwrap_or(params);
        if let (Some(chunk), Some(word)) = (update::read(update, frame, open, said), said.last()) {
            self.repeat.note(frame, chunk, word);
        }
        Ok(())
    }

    /// The agent answers.
    fn answered(
        &mut self,
        now: Time,
        waiting: Waiting,
        answer: Result<&str, &Fault<'_>>,
        said: &mut Vec<Word>,
    ) -> Result<(), Noise> {
        match waiting {
            Waiting::Greeting => self.greeted(answer, said),
            Waiting::Opening { session, attempt, way } => {
                return self.opened(now, (session, attempt, way), answer, said);
            }
            Waiting::SignIn { session, method } => self.signed_in(session, &method, answer, said),
            Waiting::Prompt { session, turn } => self.prompt_answered(session, turn, answer, said),
            Waiting::Setting { session, setting } => self.setting_answered(session, &setting, answer, said),
            Waiting::Closing => {}
        }
        Ok(())
    }
}

impl AgentDialect for Acp {
    fn begin(&mut self, _now: Time, messages: &mut Vec<Vec<u8>>) {
        self.greet();
        self.owed(messages);
    }

    fn read(&mut self, now: Time, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        self.speak_for(said);
        if let Some(word) = self.repeat.read(frame) {
            said.push(word);
            return Ok(());
        }
        self.repeat.forget();
        self.read_frame(now, frame, said)
    }

    fn ask(&mut self, _now: Time, ask: Ask, messages: &mut Vec<Vec<u8>>) {
        self.repeat.forget();
        match ask {
            Ask::OpenSession { session, cwd, resume, past, .. } => self.open(session, Wanted { cwd, resume, past }),
            Ask::Prompt { session, name, prompt, recap } => self.prompt(session, name, &prompt, recap.as_deref()),
            Ask::Cancel { session, name: _ } => self.cancel(session),
            Ask::CloseSession { session } => self.close(session),
            Ask::ApprovalAnswer { session, approval, answer } => self.answer(session, &approval, &answer),
            Ask::ErrandDone { session, errand, result } => self.errand_done(session, &errand, &result),
            Ask::SetOption { session, option, value } => self.set_option(session, &option, &value),
            Ask::SignIn { session, method } => self.sign_in(session, method),
            Ask::Configure { config } => self.configure(config),
            // Agents of this vocabulary call tools of their own only.
            Ask::ToolResult { .. } | Ask::Wish { .. } => {}
        }
        self.owed(messages);
    }

    fn owed(&mut self, messages: &mut Vec<Vec<u8>>) {
        messages.append(&mut self.out);
    }

    fn speak_for(&mut self, said: &mut Vec<Word>) {
        said.append(&mut self.unsaid);
    }
}
