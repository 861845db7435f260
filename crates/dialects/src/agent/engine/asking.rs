//! What the host asks of an engine. A prompt leaves at most once; what may arrive twice is sent until it has arrived.

use serde_json::{Map, Value, json};
use switchboard_types::agent::{Answer, Elsewhere, Past};
use switchboard_types::source::PermissionMode;
use switchboard_types::{
    AgentSession, ApprovalId, Ask, LogLevel, Memory, OptionId, Outcome, Prompt, SessionId, Time, TurnName, Word,
};

use super::input::{Input, Stage};
use super::meaning::{Meaning, Question, decision};
use super::orders::{Method, Payload, session_path};
use super::session::{Making, Session, Tell, Telling, TellingState};
use super::taken::Taken;
use super::way::Way;
use super::{Engine, Known, Listing, Purpose};

/// Commands of one session that have not arrived yet.
const MAX_TELLINGS: usize = 64;

impl Engine {
    pub(super) fn host_asks(&mut self, now: Time, ask: Ask) {
        match ask {
            Ask::OpenSession { session, cwd: _, resume, past, elsewhere } => {
                self.open(now, session, resume, past, elsewhere.map(|elsewhere| *elsewhere).unwrap_or_default());
            }
            Ask::Prompt { session, name, prompt, recap } => self.prompt(now, session, name, &prompt, recap.as_deref()),
            Ask::Cancel { session, name } => self.cancel(now, session, &name),
            Ask::CloseSession { session } => self.close(session),
            Ask::ApprovalAnswer { session, approval, answer } => self.answer(now, session, &approval, &answer),
            Ask::SetOption { session, option, value } => self.set(now, session, &option, &value),
            Ask::Wish { session, request, wish } => self.wish(session, request, wish),
            // An engine runs its own tools and signs in by its token.
            Ask::ToolResult { .. } | Ask::ErrandDone { .. } | Ask::SignIn { .. } | Ask::Configure { .. } => {}
        }
    }

    fn open(
        &mut self,
        now: Time,
        id: SessionId,
        resume: Option<AgentSession>,
        past: Past,
        Elsewhere { setup, upstream, running, taken }: Elsewhere,
    ) {
        self.close(id);
        let upstream = upstream.filter(|_| resume.is_some());
        let mut session = Session {
            id,
            there: resume,
            setup,
            past,
            making: Making::Waiting,
            way: Way::new(now),
            taken: Taken::of(upstream),
            meaning: Meaning::default(),
            input: None,
            tellings: Vec::new(),
            alarm: None,
        };
        if let Some((name, prompt)) = running {
            let stage = match (taken, &session.there) {
                (true, _) => Stage::Taken,
                (false, Some(_)) => Stage::Resumed { at: None },
                // It cannot have been sent: there was nobody to send it to.
                (false, None) => Stage::Waiting,
            };
            session.meaning.prompted(&name);
            session.input = Some(Input::new(name, &prompt, None, stage));
        }
        self.sessions.insert(id, session);
        match self.known {
            Known::Nothing => self.ask_health(),
            Known::Asked => {}
            Known::Fit(_) => self.begin_session(now, id),
        }
    }

    /// The engine is known: the session is made there, or taken up.
    pub(super) fn begin_session(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.making == Making::Waiting) else {
            return;
        };
        match session.there.clone() {
            Some(there) => {
                session.making = Making::Open;
                session.way.wanted(now);
                self.say(Word::SessionOpened { session: id, agent_session: Some(there), memory: None });
            }
            None if self.listing == Listing::Done => self.create(id, None),
            None => {}
        }
    }

    /// Has a session made, with what it begins with if it must.
    pub(super) fn create(&mut self, id: SessionId, task: Option<&str>) {
        let Some(session) = self.sessions.get(&id) else { return };
        let setup = &session.setup;
        let permission = setup.permission.map(|mode| match mode {
            PermissionMode::Ask => "ask",
            PermissionMode::Auto => "auto",
        });
        let config = setup.config.as_deref().or(self.settings.config_path.as_deref());
        let fields = [
            ("config_path", config),
            ("workspace", self.settings.workspace.as_deref()),
            ("model", setup.model.as_deref()),
            ("permission_mode", permission),
            ("task", task),
        ];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        let body = Value::Object(given.collect::<Map<_, _>>()).to_string().into_bytes();
        let to = (Method::Post, "/v1/sessions".to_owned());
        let no = self.request(Some(id), to, Payload::Json(body), Purpose::Create(id));
        if let Some(session) = self.sessions.get_mut(&id) {
            session.making = Making::Asked(no);
        }
    }

    /// The session is there.
    pub(super) fn made(&mut self, now: Time, id: SessionId, there: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let there = AgentSession::from(there);
        (session.there, session.making) = (Some(there.clone()), Making::Open);
        session.way.wanted(now);
        let memory = (session.past == Past::Spoken).then_some(Memory::Summarized);
        self.say(Word::SessionOpened { session: id, agent_session: Some(there), memory });
    }

    fn close(&mut self, id: SessionId) {
        let Some(session) = self.sessions.remove(&id) else { return };
        if let Some(alarm) = session.alarm {
            self.alarms.remove(&(alarm, id));
        }
        if let Some(stream) = session.way.stream {
            self.close_stream(stream);
        }
    }

    fn prompt(&mut self, now: Time, id: SessionId, name: TurnName, prompt: &Prompt, recap: Option<&str>) {
        let naming = self.naming();
        let Some(session) = self.sessions.get_mut(&id) else {
            let message = "the engine has no such session; send the prompt again".to_owned();
            return self.say(Word::TurnFailed { session: id, message });
        };
        session.meaning.prompted(&name);
        let mut input = Input::new(name, prompt, recap, Stage::Waiting);
        input.naming = naming;
        session.input = Some(input);
        self.advance_input(now, id);
    }

    /// Sends what waits for its session, files first.
    pub(super) fn advance_input(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(input) = session.input.as_mut().filter(|input| input.stage == Stage::Waiting) else { return };
        match (&session.there, session.making) {
            (None, Making::WithPrompt) => {
                let task = input.content().to_owned();
                let left_out = std::mem::take(&mut input.uploads).len();
                if left_out > 0 {
                    let message = format!(
                        "this engine takes no files with the first prompt of a session; {left_out} were left out: send \
                         them with the next one"
                    );
                    self.say(Word::Log { session: id, level: LogLevel::Warn, message });
                }
                return self.create(id, Some(&task));
            }
            (None, _) => return,
            (Some(there), _) if !input.uploads.is_empty() => {
                let path = session_path(there.as_str(), "/attachments");
                let uploads = std::mem::take(&mut input.uploads);
                let no = self.request(Some(id), (Method::Post, path), Payload::Upload(uploads), Purpose::Upload(id));
                if let Some(input) = self.input_of(id) {
                    input.stage = Stage::Uploading(no);
                }
                return;
            }
            (Some(_), _) => {}
        }
        self.post(now, id);
    }

    /// Sends the prompt itself.
    pub(super) fn post(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        // A stream that rested because nothing was to come is wanted again.
        session.way.wanted(now);
        let (Some(there), Some(input)) = (&session.there, &session.input) else { return };
        let (path, body) = (session_path(there.as_str(), "/input"), input.body());
        let no = self.request(Some(id), (Method::Post, path), Payload::Json(body), Purpose::Input(id));
        if let Some(input) = self.input_of(id) {
            input.stage = Stage::Posting(no);
        }
    }

    pub(super) fn input_of(&mut self, id: SessionId) -> Option<&mut Input> {
        self.sessions.get_mut(&id)?.input.as_mut()
    }

    fn cancel(&mut self, now: Time, id: SessionId, name: &TurnName) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let unsent = session
            .input
            .as_ref()
            .is_some_and(|input| input.name() == name && matches!(input.stage, Stage::Waiting | Stage::Uploading(_)));
        if unsent {
            session.input = None;
            session.meaning.withdrawn();
            let (name, outcome) = (Some(name.clone()), Outcome::Cancelled);
            return self.say(Word::TurnDone { session: id, name, outcome, detail: None });
        }
        self.tell(now, id, Tell::Stop, &json!({ "command": "stop", "payload": {} }));
    }

    fn answer(&mut self, now: Time, id: SessionId, approval: &ApprovalId, answer: &Answer) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        // After a restart of the host the question itself is no longer known; the answer is the same.
        let question = session.meaning.question(approval).unwrap_or_else(Question::default);
        if let Some(body) = decision(approval, &question, answer) {
            self.tell(now, id, Tell::Decision, &body);
        }
    }

    fn set(&mut self, now: Time, id: SessionId, option: &OptionId, value: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match session.meaning.category(option).as_str() {
            "model" => {
                self.tell(now, id, Tell::Setting, &json!({ "command": "set_model", "payload": { "model": value } }))
            }
            "mode" => {
                self.tell(now, id, Tell::Setting, &json!({ "command": "set_mode", "payload": { "mode": value } }))
            }
            other => {
                let message = format!("an engine has no command that sets `{other}`; it knows `model` and `mode`");
                self.say(Word::Log { session: id, level: LogLevel::Warn, message });
            }
        }
    }

    /// Sends a command until it has arrived.
    fn tell(&mut self, now: Time, id: SessionId, what: Tell, body: &Value) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.tellings.len() < MAX_TELLINGS {
            let waits = what == Tell::Stop && session.is_sending();
            let state = if waits { TellingState::AfterInput } else { TellingState::Waits(now) };
            let body = body.to_string().into_bytes();
            session.tellings.push(Telling { what, body, tries: 0, state });
        }
        self.send_tellings(now, id);
    }

    pub(super) fn send_tellings(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !session.is_sending() {
            let waiting = session.tellings.iter_mut().filter(|telling| telling.state == TellingState::AfterInput);
            waiting.for_each(|telling| telling.state = TellingState::Waits(now));
        }
        let Some(there) = session.there.clone() else { return };
        let due = |telling: &Telling| matches!(telling.state, TellingState::Waits(at) if at <= now);
        let due: Vec<usize> =
            (0..session.tellings.len()).filter(|at| session.tellings.get(*at).is_some_and(due)).collect();
        for at in due {
            let body =
                self.sessions.get(&id).and_then(|session| session.tellings.get(at)).map(|telling| telling.body.clone());
            let path = session_path(there.as_str(), "/command");
            let payload = Payload::Json(body.unwrap_or_default());
            let no = self.request(Some(id), (Method::Post, path), payload, Purpose::Telling(id));
            if let Some(telling) = self.sessions.get_mut(&id).and_then(|session| session.tellings.get_mut(at)) {
                (telling.state, telling.tries) = (TellingState::Sent(no), telling.tries + 1);
            }
        }
    }
}
