//! How an agent session comes to be: greeted first, then taken up again, read again or new, whichever the agent can; and
//! signing in where it wants that first. Never gives up while there is another way.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AuthCapabilities, AuthenticateRequest, BooleanConfigOptionCapabilities, ClientCapabilities,
    ClientSessionCapabilities, CompactionCapabilities, FileSystemCapabilities, Implementation, InitializeRequest,
    LoadSessionRequest, NewSessionRequest, NoticeCapabilities, ResumeSessionRequest, SessionConfigOptionsCapabilities,
};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use switchboard_types::{AgentSession, Memory, Past, SessionId, Time, Word};

use super::sessions::{Attempt, Stage, Wanted, Way};
use super::small::{bearable, fields, name};
use super::{Acp, Greeted, Noise, SETTINGS, Waiting, about, fault};
use crate::json::shown;
use crate::jsonrpc::{Fault, write};

impl Acp {
    /// The first words: who we are and what we offer.
    pub(super) fn greet(&mut self) {
        let offers = self.settings.offers;
        let files = FileSystemCapabilities::new().read_text_file(offers.read).write_text_file(offers.write);
        let switches = SessionConfigOptionsCapabilities::new().boolean(BooleanConfigOptionCapabilities::new());
        let sessions = ClientSessionCapabilities::new()
            .compaction(CompactionCapabilities::new())
            .config_options(switches)
            .notices(NoticeCapabilities::new());
        let capabilities = ClientCapabilities::new()
            .fs(files)
            .terminal(offers.terminal)
            .session(sessions)
            .auth(AuthCapabilities::new().terminal(true))
            .meta(self.settings.own.as_ref().map(|_| gate()));
        let request = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities).client_info(
            Implementation::new("switchboard", self.settings.version.clone()).title("Switchboard".to_owned()),
        );
        let _ = self.request(Waiting::Greeting, "initialize", &request);
    }

    /// The agent has said what it is, or will not.
    pub(super) fn greeted(&mut self, answer: Result<&str, &Fault<'_>>, said: &mut Vec<Word>) {
        let read = match answer {
            Ok(result) => about::read(result, &self.settings),
            Err(fault) => Err(format!("the agent refused to begin: {}", fault::in_words(fault))),
        };
        self.greeted = match read {
            Ok((agent, about)) => {
                said.push(Word::Introduced { about: Box::new(about) });
                self.tell_settings();
                Greeted::Well(agent)
            }
            Err(why) => Greeted::Badly(why),
        };
        for session in self.sessions.greeting() {
            self.try_next(session, None, said);
        }
    }

    /// The built-in agent's settings are others now. Agents of other makers are configured when they start.
    pub(super) fn configure(&mut self, settings: Value) {
        if let Some(own) = &mut self.settings.own {
            *own = settings;
            if matches!(self.greeted, Greeted::Well(_)) {
                self.tell_settings();
            }
        }
    }

    fn tell_settings(&mut self) {
        if let Some(Ok(message)) = self.settings.own.as_ref().map(|own| write::notification(SETTINGS, own)) {
            self.out.push(message);
        }
    }

    /// A session is to be opened; one that is open is replaced.
    pub(super) fn open(&mut self, session: SessionId, wanted: Wanted) {
        // A sign-in that is under way goes on, and opens what is wanted now.
        let signing_in = self.sessions.opening(session).is_some_and(|opening| opening.stage == Stage::SigningIn);
        self.close(session);
        let stage = if signing_in { Stage::SigningIn } else { Stage::Greeting };
        self.sessions.begin(session, wanted, stage);
        if !signing_in && !matches!(self.greeted, Greeted::NotYet) {
            let mut said = Vec::new();
            self.try_next(session, None, &mut said);
            self.unsaid.append(&mut said);
        }
    }

    /// Asks for the session in the next way that the agent can.
    fn try_next(&mut self, session: SessionId, after: Option<Way>, said: &mut Vec<Word>) {
        let abilities = match &self.greeted {
            Greeted::Well(agent) => agent.abilities,
            Greeted::Badly(why) => {
                let message = why.clone();
                self.sessions.end_opening(session);
                return said.push(Word::OpenFailed { session, message });
            }
            Greeted::NotYet => return,
        };
        let Some(opening) = self.sessions.opening(session) else { return };
        let (Wanted { cwd, resume, .. }, attempt) = (opening.wanted.clone(), opening.attempt);
        let is_next = |way: &Way| after.is_none_or(|after| *way > after);
        let ways = [(abilities.resume, Way::Resume), (abilities.load, Way::Load)];
        let kept = ways.into_iter().filter(|(able, _)| *able && resume.is_some()).map(|(_, way)| way);
        for way in kept.chain([Way::New]).filter(is_next) {
            if way == Way::Load
                && let Some(resume) = &resume
                && !self.sessions.begin_replay(resume.as_str(), session, cwd.clone())
            {
                continue;
            }
            if let Some(opening) = self.sessions.opening(session) {
                opening.stage = Stage::Asked(way);
            }
            let waiting = Waiting::Opening { session, attempt, way };
            let old = resume.as_ref().map(|resume| resume.as_str().to_owned()).unwrap_or_default();
            let sent = match way {
                Way::Resume => self.request(waiting, "session/resume", &ResumeSessionRequest::new(old, cwd.as_str())),
                Way::Load => self.request(waiting, "session/load", &LoadSessionRequest::new(old, cwd.as_str())),
                Way::New => self.request(waiting, "session/new", &NewSessionRequest::new(cwd.as_str())),
            };
            if let Err(message) = sent {
                self.sessions.end_opening(session);
                said.push(Word::OpenFailed { session, message });
            }
            return;
        }
    }

    /// The agent has answered how the session could be opened.
    pub(super) fn opened(
        &mut self,
        now: Time,
        (session, attempt, way): (SessionId, Attempt, Way),
        answer: Result<&str, &Fault<'_>>,
        said: &mut Vec<Word>,
    ) -> Result<(), Noise> {
        let opening = self.sessions.opening(session).filter(|opening| opening.attempt == attempt);
        let Some(wanted) = opening.map(|opening| opening.wanted.clone()) else { return self.unwanted(way, answer) };
        match answer {
            Ok(result) => self.session_is_open(now, session, way, wanted, result, said),
            Err(fault) => {
                if let (Way::Load, Some(resume)) = (way, &wanted.resume) {
                    self.sessions.end_replay(resume.as_str());
                }
                if fault::wants_sign_in(fault) {
                    self.needs_sign_in(session, &fault::in_words(fault), said);
                } else if way == Way::New {
                    self.sessions.end_opening(session);
                    said.push(Word::OpenFailed { session, message: fault::in_words(fault) });
                } else {
                    self.try_next(session, Some(way), said);
                }
                self.drop_strays()
            }
        }
    }

    fn session_is_open(
        &mut self,
        now: Time,
        session: SessionId,
        way: Way,
        wanted: Wanted,
        result: &str,
        said: &mut Vec<Word>,
    ) -> Result<(), Noise> {
        let fresh = || fields(result, &["sessionId"]).and_then(|found| name(&found, "sessionId"));
        let id = match way {
            Way::New => fresh().filter(|id| bearable(id)),
            Way::Resume | Way::Load => wanted.resume.as_ref().map(|resume| resume.as_str().to_owned()),
        };
        self.sessions.end_opening(session);
        let taken = id.and_then(|id| Some((self.sessions.opened(&id, session, wanted.cwd.clone())?, id)));
        let Some((held, id)) = taken else {
            let message = "the agent answered without a session id of its own; it cannot be talked to".to_owned();
            said.push(Word::OpenFailed { session, message });
            return self.drop_strays();
        };
        let lasting = self.abilities().lasting();
        let memory = match way {
            Way::Resume => Some(Memory::Resumed),
            Way::Load => Some(Memory::Loaded),
            Way::New => (wanted.resume.is_some() || wanted.past == Past::Spoken).then_some(Memory::Summarized),
        };
        let agent_session = lasting.then(|| AgentSession::from(id.as_str()));
        said.push(Word::SessionOpened { session, agent_session, memory });
        said.extend(held);
        if let Some(open) = self.sessions.get(&id)
            && open.options.take(result)
        {
            super::update::told_options(open, said);
        }
        let mut first_noise = None;
        for frame in self.early.take(&id) {
            first_noise = first_noise.or(self.read_frame(now, &frame, said).err());
        }
        first_noise.map_or_else(|| self.drop_strays(), Err)
    }

    /// The host has closed the session meanwhile; what the agent has opened is closed.
    fn unwanted(&mut self, way: Way, answer: Result<&str, &Fault<'_>>) -> Result<(), Noise> {
        let found = answer.ok().and_then(|result| fields(result, &["sessionId"]));
        if let (Way::New, Some(id)) = (way, found.and_then(|found| name(&found, "sessionId")))
            && self.sessions.get(&id).is_none()
        {
            self.sessions.note_closed(&id);
            self.close_agent_session(&id);
        }
        self.drop_strays()
    }

    /// A person must sign in first; the opening is kept, so that it can go on afterwards.
    fn needs_sign_in(&mut self, session: SessionId, why: &str, said: &mut Vec<Word>) {
        if let Some(opening) = self.sessions.opening(session) {
            opening.stage = Stage::Stalled;
        }
        said.push(self.sign_in_word(session, why));
        let todo: Vec<&str> = self.agent().sign_in.iter().map(|method| method.todo.as_str()).collect();
        let message = match todo.as_slice() {
            [] => format!("a sign-in is needed first ({why}): sign in with the agent's own program, then try again"),
            todo => format!("a sign-in is needed first ({why}): {}", todo.join("; or ")),
        };
        said.push(Word::OpenFailed { session, message });
    }

    pub(super) fn sign_in_word(&self, session: SessionId, why: &str) -> Word {
        let methods = self.agent().sign_in.clone();
        Word::SignInNeeded { session, message: why.to_owned(), methods }
    }

    /// A person has chosen how to sign in.
    pub(super) fn sign_in(&mut self, session: SessionId, method: String) {
        let known = self.agent().sign_in.iter().any(|known| known.id == method);
        if !known {
            let message = format!("the agent knows no sign-in named {}", shown(&method));
            return self.unsaid.push(Word::OpenFailed { session, message });
        }
        if let Some(opening) = self.sessions.opening(session) {
            opening.stage = Stage::SigningIn;
        }
        let request = AuthenticateRequest::new(method.clone());
        if let Err(message) = self.request(Waiting::SignIn { session, method }, "authenticate", &request) {
            self.unsaid.push(Word::OpenFailed { session, message });
        }
    }

    /// The sign-in has come to its end; if it went well, the session is opened.
    pub(super) fn signed_in(
        &mut self,
        session: SessionId,
        method: &str,
        answer: Result<&str, &Fault<'_>>,
        said: &mut Vec<Word>,
    ) {
        let waiting = self.sessions.opening(session).filter(|opening| opening.stage == Stage::SigningIn);
        match answer {
            Ok(_) => {
                if waiting.is_some() {
                    return self.try_next(session, None, said);
                }
                let message = format!("signed in by {}; send the prompt again", shown(method));
                said.push(match self.sessions.id_of(session) {
                    Some(_) => Word::Status { session, message, progress: None },
                    None => Word::OpenFailed { session, message },
                });
            }
            Err(fault) => {
                if let Some(opening) = waiting {
                    opening.stage = Stage::Stalled;
                }
                let message = format!("the sign-in by {} failed: {}", shown(method), fault::in_words(fault));
                said.push(Word::OpenFailed { session, message });
            }
        }
    }

    /// Keeps a message for a session that may still be opening.
    pub(super) fn keep(&mut self, id: &str, frame: &Bytes) -> Result<(), Noise> {
        if self.sessions.was_closed(id) {
            return Err(Noise::new(format!("an update is for the closed session {}", shown(id))));
        }
        if !self.sessions.any_opening() {
            return Err(Noise::new(format!("an update is for the unknown session {}", shown(id))));
        }
        match self.early.keep(id, frame) {
            0 => Ok(()),
            dropped => {
                Err(Noise::new(format!("too much was said before the session was open; dropped {dropped} updates")))
            }
        }
    }

    /// When no session is opening any more, nothing can be early.
    fn drop_strays(&mut self) -> Result<(), Noise> {
        match if self.sessions.any_opening() { 0 } else { self.early.clear() } {
            0 => Ok(()),
            strays => Err(Noise::new(format!("dropped {strays} early updates for sessions that were never opened"))),
        }
    }
}

/// Says that whatever the agent wants done is judged here, so that it need not ask a person first.
fn gate() -> Map<String, Value> {
    Map::from_iter([("switchboard".to_owned(), json!({ "gate": true }))])
}
