//! The dialect in virtual time: an engine that is played by hand.

mod following;
mod prompting;
mod sessions;

use bytes::Bytes;
use serde_json::{Value, json};
use switchboard_types::agent::{Elsewhere, Past};
use switchboard_types::{
    AgentSession, Ask, Connection, ConnectionStatus, Prompt, Said, SessionId, SourceCursor, SourceId, Time, TurnName,
    Upstream, Word, WorkspaceRoot,
};

use super::*;
use crate::framing::SseEvent;

const S: SessionId = SessionId(7);

/// The first and the last number of what was lost, where they are known.
type Hole = (Option<u64>, Option<u64>);

/// An engine that answers what it is told to.
struct Stage {
    engine: Engine,
    now: Time,
    /// Everything that was said and not looked at.
    words: Vec<Word>,
    requests: Vec<Request>,
    streams: Vec<StreamOrder>,
    stream: Option<StreamNo>,
}

impl Stage {
    /// Nothing is known of the engine yet.
    fn new() -> Self {
        let settings = EngineSettings { agent: "engine".to_owned(), ..EngineSettings::default() };
        let mut stage = Self {
            engine: Engine::new(settings),
            now: Time(1_000_000),
            words: Vec::new(),
            requests: Vec::new(),
            streams: Vec::new(),
            stream: None,
        };
        stage.engine.begin();
        stage.take();
        stage
    }

    /// The engine has said what it is.
    fn known(features: &Value) -> Self {
        let mut stage = Self::new();
        let health = json!({"status":"ok","protocol_version":"1.0","engine_version":"9","features":features});
        stage.answer("/v1/health", 200, &health);
        stage.answer("/v1/sessions", 200, &json!({"sessions":[]}));
        stage.words.clear();
        stage
    }

    /// A session that is open and whose stream stands.
    fn open(features: &Value) -> Self {
        let mut stage = Self::known(features);
        stage.ask(open(None, Elsewhere::default()));
        stage.answer("/v1/sessions", 201, &json!({"session_id":"e1","status":"starting"}));
        stage.opened();
        stage.words.clear();
        stage
    }

    fn take(&mut self) {
        let Output { words, requests, streams } = self.engine.poll();
        self.words.extend(words);
        self.requests.extend(requests);
        for order in &streams {
            match order {
                StreamOrder::Open { stream, .. } => self.stream = Some(*stream),
                StreamOrder::Close { stream } => self.stream = self.stream.filter(|open| open != stream),
            }
        }
        self.streams.extend(streams);
    }

    fn ask(&mut self, ask: Ask) {
        self.engine.ask(self.now, ask);
        self.take();
    }

    /// Takes the request to this path.
    fn request(&mut self, path: &str) -> Request {
        let at = self.requests.iter().position(|request| request.path == path);
        let at = at.unwrap_or_else(|| panic!("no request to {path}, only {:?}", self.requests));
        self.requests.remove(at)
    }

    fn answer(&mut self, path: &str, status: u16, body: &Value) {
        let no = self.request(path).no;
        let response = Response { status, body: Bytes::from(body.to_string()) };
        self.engine.answered(self.now, no, Ok(response));
        self.take();
    }

    fn fail(&mut self, path: &str, sent: Sent) {
        let no = self.request(path).no;
        self.engine.answered(self.now, no, Err(Failure { sent, message: "no way".to_owned() }));
        self.take();
    }

    fn hear(&mut self, heard: Heard) {
        let stream = self.stream.expect("no stream is open");
        let _ = self.engine.heard(self.now, stream, heard);
        self.take();
    }

    fn opened(&mut self) {
        self.hear(Heard::Opened);
    }

    fn event(&mut self, seq: u64, name: &str, payload: &Value) {
        self.hear(Heard::Event(event(seq, name, payload)));
    }

    fn text(&mut self, seq: u64) {
        self.event(seq, "assistant_delta", &json!({"text": seq.to_string()}));
    }

    /// Lets time pass, alarm by alarm.
    fn pass(&mut self, ms: u64) {
        let until = self.now.after_ms(ms);
        while let Some(due) = self.engine.due().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.engine.tick(self.now);
            self.take();
        }
        self.now = until;
        self.engine.tick(self.now);
        self.take();
    }

    /// What was said since somebody last looked, without how the way is.
    fn said(&mut self) -> Vec<Word> {
        let words = std::mem::take(&mut self.words);
        words.into_iter().filter(|word| !matches!(word, Word::Connection { .. })).collect()
    }

    /// How the way was, in order.
    fn way(&mut self) -> Vec<Connection> {
        let words = std::mem::take(&mut self.words);
        let connection = |word| match word {
            Word::Connection { connection, .. } => Some(connection),
            _ => None,
        };
        words.into_iter().filter_map(connection).collect()
    }

    /// The numbers of what was taken, and what was lost.
    fn taken(&mut self) -> Vec<Result<u64, Hole>> {
        let seq = |word| match word {
            Word::Sourced { source, .. } => Some(Ok(source.seq.unwrap_or(0))),
            Word::Gap { from, to, .. } => Some(Err((from, to))),
            _ => None,
        };
        self.said().into_iter().filter_map(seq).collect()
    }

    /// The stream that was opened last, and from where.
    fn last_open(&self) -> (String, Option<String>) {
        let open = self.streams.iter().rev().find_map(|order| match order {
            StreamOrder::Open { path, last_id, .. } => Some((path.clone(), last_id.clone())),
            StreamOrder::Close { .. } => None,
        });
        open.expect("a stream was opened")
    }

    fn opens(&self) -> usize {
        self.streams.iter().filter(|order| matches!(order, StreamOrder::Open { .. })).count()
    }
}

fn event(seq: u64, name: &str, payload: &Value) -> SseEvent {
    let body =
        json!({"id": format!("u{seq}"), "seq": seq, "type": name, "payload": payload, "turn": 1, "timestamp_ms": 5});
    let id = Some(Bytes::from(seq.to_string()));
    SseEvent { last_id: id.clone(), id, name: None, data: Bytes::from(body.to_string()) }
}

fn open(resume: Option<&str>, elsewhere: Elsewhere) -> Ask {
    let past = if resume.is_some() { Past::Spoken } else { Past::Blank };
    let resume = resume.map(AgentSession::from);
    Ask::OpenSession { session: S, cwd: WorkspaceRoot::from("/w"), resume, past, elsewhere: Some(Box::new(elsewhere)) }
}

fn upstream(seq: u64) -> Upstream {
    let last = Some(SourceCursor { id: SourceId::from(format!("u{seq}").as_str()), seq: Some(seq) });
    Upstream { last, taken: Some(seq) }
}

fn prompt(name: &str, text: &str) -> Ask {
    let prompt = Prompt { text: text.to_owned(), context: Vec::new() };
    Ask::Prompt { session: S, name: TurnName::from(name), prompt, recap: None }
}

fn body_of(request: &Request) -> Value {
    match &request.payload {
        Payload::Json(body) => serde_json::from_slice(body).unwrap(),
        Payload::None | Payload::Upload(_) => Value::Null,
    }
}

fn statuses(way: &[Connection]) -> Vec<(ConnectionStatus, u32, bool)> {
    way.iter().map(|connection| (connection.status, connection.retries, connection.gap)).collect()
}

fn none() -> Value {
    json!({})
}

fn ours() -> Value {
    json!({"message_id": true})
}
