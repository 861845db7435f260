//! The dialect `engine`: whatever an engine says or answers, what goes out is well formed, what is said is bounded, and time always
//! moves on.

use bytes::Bytes;
use switchboard_dialects::agent::Engine;
use switchboard_dialects::agent::engine::{
    EngineRequest, EngineSettings, Heard, Output, Payload, Response, StreamEnd, StreamNo, StreamOrder,
};
use switchboard_dialects::framing::SseEvent;
use switchboard_types::{Ask, Prompt, Said, SessionId, Time, TurnName, Word, WorkspaceRoot};

const SESSION: SessionId = SessionId(1);

/// One event's data a line. A line that begins with `!` is something else that happens: an answer, an end, time.
pub(crate) fn run(data: &[u8]) {
    let mut play =
        Play { engine: Engine::new(EngineSettings::default()), now: Time(1_000), requests: Vec::new(), stream: None };
    play.engine.begin();
    play.settle();
    play.answer(200, br#"{"protocol_version":"1.0"}"#);
    play.engine.ask(play.now, Ask::open(SESSION, WorkspaceRoot::from("/w")));
    play.settle();
    play.answer(201, br#"{"session_id":"e"}"#);
    for line in data.split(|byte| *byte == b'\n') {
        play.line(line);
        play.settle();
    }
}

struct Play {
    engine: Engine,
    now: Time,
    requests: Vec<EngineRequest>,
    stream: Option<StreamNo>,
}

impl Play {
    fn line(&mut self, line: &[u8]) {
        match line {
            [b'!', b'a', status, body @ ..] => self.answer(u16::from(*status) * 2 + 100, body),
            [b'!', b't', step, ..] => {
                self.now = self.now.after_ms(u64::from(*step) * 50);
                self.engine.tick(self.now);
            }
            [b'!', b'p', ..] => {
                let prompt = Prompt { text: "p".to_owned(), context: Vec::new() };
                let (name, recap) = (TurnName::from("t"), None);
                self.engine.ask(self.now, Ask::Prompt { session: SESSION, name, prompt, recap });
            }
            [b'!', b'o', ..] => self.hear(Heard::Opened),
            [b'!', b'c', ..] => self.hear(Heard::Ended(StreamEnd::Clean)),
            [b'!', b'b', ..] => self.hear(Heard::Ended(StreamEnd::Broken("b".to_owned()))),
            [b'!', b'r', body @ ..] => {
                let body = Bytes::copy_from_slice(body);
                self.hear(Heard::Ended(StreamEnd::Refused(Response { status: 409, body })));
            }
            data => {
                let data = Bytes::copy_from_slice(data);
                self.hear(Heard::Event(SseEvent { data, ..SseEvent::default() }));
            }
        }
    }

    fn hear(&mut self, heard: Heard) {
        if let Some(stream) = self.stream
            && let Err(noise) = self.engine.heard(self.now, stream, heard)
        {
            assert!(noise.len() < 4096, "noise of {} bytes", noise.len());
        }
    }

    fn answer(&mut self, status: u16, body: &[u8]) {
        if let Some(no) = self.requests.pop() {
            self.engine.answered(self.now, no, Ok(Response { status, body: Bytes::copy_from_slice(body) }));
        }
        self.settle();
    }

    fn settle(&mut self) {
        let Output { words, requests, streams } = self.engine.poll();
        words.iter().for_each(check);
        for request in requests {
            assert!(request.path.starts_with("/v1/") && request.path.is_ascii(), "{}", request.path);
            if let Payload::Json(body) = &request.payload {
                assert!(serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok(), "what goes out is no JSON");
            }
            self.requests.push(request.no);
        }
        for order in streams {
            match order {
                StreamOrder::Open { stream, .. } => self.stream = Some(stream),
                StreamOrder::Close { stream } => self.stream = self.stream.filter(|open| *open != stream),
            }
        }
        assert!(self.engine.due().is_none_or(|due| due > self.now), "something is due for ever");
    }
}

/// What it said can be shown and kept.
fn check(word: &Word) {
    let Word::Sourced { source, said, .. } = word else { return };
    assert!(
        source.rest.is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(&source.rest).is_ok(),
        "no JSON is kept"
    );
    if let Said::Text(text) | Said::Thought(text) = said {
        let literal = [b"\"", text.as_escaped(), b"\""].concat();
        assert!(serde_json::from_slice::<String>(&literal).is_ok(), "streamed text is no string");
    }
}
