//! The dialect `engine`: Switchboard as the caller of an engine over HTTP and SSE. A pure state machine: what is to be asked and
//! which streams are to be opened comes out as plain data, what became of it goes in with the time.
//!
//! | module | owns |
//! | --- | --- |
//! | `orders` | requests, answers and streams, as data |
//! | `envelope`, `field` | an event as it stands in a stream; fields of foreign JSON |
//! | `meaning` | what an event means in our words |
//! | `taken` | how far the engine's log was taken: what is next, known or missing |
//! | `way` | when a stream is opened again, and what a person is told of it |
//! | `following` | what is heard on streams |
//! | `input` | a prompt on its way, at most once |
//! | `asking` | what the host asks |
//! | `answers` | what came of requests |
//! | `wishes` | files and orders that only the engine can do |
//!
//! Absent: addresses, tokens, sockets, the clock.

mod answers;
mod asking;
mod envelope;
mod field;
mod following;
mod input;
mod meaning;
mod orders;
mod session;
mod taken;
mod way;
mod wishes;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use switchboard_types::{AgentRequest, Ask, SessionId, Time, Word};

pub use orders::{
    AnswerTo, EngineRequest, Failure, Heard, Method, Output, Payload, Request, Response, Sent, StreamEnd, StreamNo,
    StreamOrder, Upload,
};

use input::Naming;
use session::Session;
use wishes::WishKind;

/// What is known of an engine before it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineSettings {
    /// What the configuration calls it.
    pub agent: String,
    /// Its own configuration for new sessions, by its path there.
    pub config_path: Option<String>,
    /// The folder there in which new sessions work.
    pub workspace: Option<String>,
}

/// One engine, seen from one life of it here.
#[derive(Debug)]
pub struct Engine {
    settings: EngineSettings,
    known: Known,
    listing: Listing,
    sessions: BTreeMap<SessionId, Session>,
    asked: BTreeMap<EngineRequest, Purpose>,
    streams: BTreeMap<StreamNo, SessionId>,
    alarms: BTreeSet<(Time, SessionId)>,
    next: u64,
    out: Output,
}

/// What the engine has said of itself.
#[derive(Debug)]
enum Known {
    Nothing,
    Asked,
    Fit(Naming),
}

/// Whether the engine was asked for its sessions. None is made there before it has answered, or its answer might have one of
/// ours in it that has no name here yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listing {
    Wanted,
    Asked,
    Done,
}

/// What a request is for.
#[derive(Debug)]
enum Purpose {
    Health,
    List,
    Create(SessionId),
    Upload(SessionId),
    Input(SessionId),
    Status(SessionId),
    Telling(SessionId),
    Wish { session: SessionId, request: AgentRequest, kind: WishKind },
}

impl Engine {
    /// An engine that was asked nothing yet.
    #[must_use]
    pub fn new(settings: EngineSettings) -> Self {
        Self {
            settings,
            known: Known::Nothing,
            listing: Listing::Wanted,
            sessions: BTreeMap::new(),
            asked: BTreeMap::new(),
            streams: BTreeMap::new(),
            alarms: BTreeSet::new(),
            next: 1,
            out: Output::default(),
        }
    }

    /// What is asked before anything else.
    pub fn begin(&mut self) {
        self.ask_health();
    }

    /// The host asks for something.
    pub fn ask(&mut self, now: Time, ask: Ask) {
        let session = ask.session();
        self.host_asks(now, ask);
        if let Some(session) = session {
            self.settle(now, session);
        }
    }

    /// Something was heard on a stream; why it means nothing, if it does.
    pub fn heard(&mut self, now: Time, stream: StreamNo, heard: Heard) -> Result<(), String> {
        let Some(session) = self.streams.get(&stream).copied() else { return Ok(()) };
        let meant = self.follow(now, session, stream, heard);
        self.settle(now, session);
        meant
    }

    /// A request was answered, or was not.
    pub fn answered(&mut self, now: Time, no: EngineRequest, answer: Result<Response, Failure>) {
        let Some(purpose) = self.asked.remove(&no) else { return };
        for session in self.take_answer(now, no, purpose, answer) {
            self.settle(now, session);
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Time) {
        while let Some((at, session)) = self.alarms.first().copied().filter(|(at, _)| *at <= now) {
            self.alarms.remove(&(at, session));
            if let Some(session) = self.sessions.get_mut(&session) {
                session.alarm = None;
            }
            self.ring(now, session);
            self.settle(now, session);
        }
    }

    /// When time must pass at the latest.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.alarms.first().map(|(at, _)| *at)
    }

    /// What is to be done now.
    pub fn poll(&mut self) -> Output {
        std::mem::take(&mut self.out)
    }

    /// Sets the alarm and tells how the way is, after anything has happened to a session.
    fn settle(&mut self, now: Time, id: SessionId) {
        self.watch_input(now, id);
        self.send_tellings(now, id);
        self.open_if_due(now, id);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.making == session::Making::Open
            && session.there.is_some()
            && let Some(connection) = session.way.news()
        {
            self.out.words.push(Word::Connection { session: id, connection });
        }
        // One that rings too early finds nothing to do; so it is not set again for each event. What is due already was done.
        let due = session.due().map(|due| due.max(now.after_ms(1)));
        if let Some(due) = due
            && session.alarm.is_none_or(|alarm| due < alarm)
        {
            if let Some(alarm) = session.alarm.replace(due) {
                self.alarms.remove(&(alarm, id));
            }
            self.alarms.insert((due, id));
        }
    }

    fn say(&mut self, word: Word) {
        self.out.words.push(word);
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    fn request(
        &mut self,
        session: Option<SessionId>,
        (method, path): (Method, String),
        payload: Payload,
        purpose: Purpose,
    ) -> EngineRequest {
        let no = EngineRequest(self.number());
        self.asked.insert(no, purpose);
        self.out.requests.push(Request { no, session, method, path, payload, answer: AnswerTo::Dialect });
        no
    }

    fn ask_health(&mut self) {
        self.known = Known::Asked;
        self.request(None, (Method::Get, "/v1/health".to_owned()), Payload::None, Purpose::Health);
    }

    fn naming(&self) -> Naming {
        match self.known {
            Known::Fit(naming) => naming,
            Known::Nothing | Known::Asked => Naming::Its,
        }
    }
}
