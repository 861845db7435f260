//! Reads a streamed answer, whichever server gives it, in whatever pieces it comes. Says how it ended exactly once, and last. Keeps
//! no more than the limits below allow.
//!
//! Servers differ in all that is not written in one place, so both ways of streaming are read by the same reader: events and lines of
//! JSON are told apart line by line, and what is in them by its fields.

mod calls;
mod chunk;
mod feed;
mod thinking;

use serde_json::Value;

use self::calls::Calls;
use self::chunk::{Finish, Piece};
use self::feed::{Feed, Overflow};
use self::thinking::{Aloud, Thinking};
use super::refusal::{self, Complaint};
use super::text_calls::{Found, Reader};
use super::{Flavor, arguments};
use crate::said::{End, Said};
use crate::talk::{Calling, Used};
use crate::trouble::{Trouble, TroubleKind};

/// Bytes of a line of the stream, and of an event.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;
/// Bytes of a whole answer as it comes over the wire.
pub const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the arguments of one call.
pub const MAX_ARGUMENTS_BYTES: usize = 1024 * 1024;
/// Calls in one answer.
pub const MAX_CALLS: usize = 64;
/// The mark that may stand at the very beginning, and means nothing.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes that are shown of what makes no sense.
const SAMPLE_BYTES: usize = 200;

/// How the bytes of an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Close {
    /// As they should: there are no more.
    Clean,
    /// The link broke; why, for a person.
    Broken(String),
}

/// Reads one streamed answer.
#[derive(Debug)]
pub struct Answer {
    flavor: Flavor,
    feed: Feed,
    /// Whether nothing was read yet.
    first: bool,
    /// Whether the end was not said yet.
    open: bool,
    /// Whether there will be no more bytes.
    closing: bool,
    /// The lines of the event that is being read, where it has more than one.
    event: Held,
    /// Whether the event is called `error`.
    event_is_error: bool,
    /// Lines of JSON that is no event and ends on a later line.
    raw: Held,
    thinking: Thinking,
    reader: Option<Reader>,
    calls: Calls,
    refusal: String,
    used: Option<Used>,
    finish: Option<Finish>,
    /// Whether pieces of an answer have come; what then comes as a whole is a repetition.
    in_pieces: bool,
    /// Whether anything made sense.
    sense: bool,
    /// The first of what made none.
    noise: Option<String>,
}

/// Lines that belong together.
#[derive(Debug, Default)]
struct Held {
    lines: Vec<Vec<u8>>,
    bytes: usize,
}

impl Held {
    /// Whether there was room.
    fn push(&mut self, line: Vec<u8>) -> bool {
        // What a line costs besides its bytes counts too.
        self.bytes = self.bytes.saturating_add(line.len() + 32);
        self.lines.push(line);
        self.bytes <= MAX_LINE_BYTES
    }
}

impl Answer {
    /// A reader for one answer.
    #[must_use]
    pub fn new(flavor: Flavor, calling: Calling) -> Self {
        let reader = match calling {
            Calling::Native => None,
            Calling::Text => Some(Reader::default()),
        };
        Self {
            flavor,
            feed: Feed::default(),
            first: true,
            open: true,
            closing: false,
            event: Held::default(),
            event_is_error: false,
            raw: Held::default(),
            thinking: Thinking::default(),
            reader,
            calls: Calls::default(),
            refusal: String::new(),
            used: None,
            finish: None,
            in_pieces: false,
            sense: false,
            noise: None,
        }
    }

    /// The same, whose calls without a name of their own are numbered from here, so that no two of a conversation share one.
    #[must_use]
    pub fn numbered_from(mut self, first: u32) -> Self {
        self.calls.number_from(first);
        self
    }

    /// Reads on. How the bytes are cut changes nothing.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Said> {
        let (mut rest, mut said) = (bytes, Vec::new());
        while self.open {
            match self.feed.next(&mut rest) {
                Ok(Some(line)) => self.line(line, &mut said),
                Ok(None) => break,
                Err(overflow) => self.fail(garbage(overflow.words()), &mut said),
            }
        }
        said
    }

    /// There are no more bytes. Gives what was held back, and the end, if it was not said before.
    pub fn end(&mut self, close: Close) -> Vec<Said> {
        let mut said = Vec::new();
        if !self.open {
            return said;
        }
        self.closing = true;
        if let Some(line) = self.feed.rest() {
            self.line(line, &mut said);
        }
        self.event_ends(&mut said);
        self.raw_ends(&mut said);
        if self.open {
            match (self.how_it_ended(close), self.finish.take()) {
                (Some(trouble), None) => self.fail(trouble, &mut said),
                (_, finish) => self.conclude(finish, &mut said),
            }
        }
        said
    }

    /// What is wrong with an answer that was closed before it said that it has ended.
    fn how_it_ended(&self, close: Close) -> Option<Trouble> {
        match close {
            Close::Broken(why) => Some(broken_off(&format!(" ({})", refusal::clean(&why, SAMPLE_BYTES)))),
            Close::Clean if !self.sense => Some(match &self.noise {
                Some(noise) => garbage(format!(
                    "The server's answer is none of a model: {noise}. Is the base address that of a model server?"
                )),
                None => broken_off(": it closed without a word"),
            }),
            // Ollama always says when it is done. Of the others some never do; they are believed if what came is whole.
            Close::Clean => match self.flavor {
                Flavor::Ollama => Some(broken_off("")),
                Flavor::OpenAi => self.calls.has_broken().then(|| broken_off(" in a call of a tool")),
            },
        }
    }

    fn line(&mut self, line: Vec<u8>, said: &mut Vec<Said>) {
        let line = match line.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.first) {
            Some(rest) => rest.to_vec(),
            None => line,
        };
        self.first = false;
        if line.is_empty() {
            return self.event_ends(said);
        }
        if !self.raw.lines.is_empty() {
            return self.hold_raw(line, said);
        }
        match field(&line) {
            (b"data", value) => self.data(value, said),
            (b"event", value) => self.event_is_error = value == b"error",
            // An older llama.cpp's word for what went wrong in mid-stream.
            (b"error", value) => self.payload(value, true, said),
            (b"" | b"id" | b"retry", _) => {}
            _ => match line.trim_ascii_start().first() {
                Some(b'{' | b'[') => match arguments::json(&line) {
                    Some(value) => self.value(&value, false, said),
                    None => self.hold_raw(line, said),
                },
                _ => self.noise(&line),
            },
        }
    }

    fn data(&mut self, value: &[u8], said: &mut Vec<Said>) {
        if self.event.lines.is_empty() {
            // Nearly always an event is one line. It is not waited for its end: some servers leave out the empty line.
            if self.understood(value, said) {
                return;
            }
        }
        if !self.event.push(value.to_vec()) {
            self.fail(garbage(Overflow::Line.words()), said);
        }
    }

    /// Whether this line says something by itself.
    fn understood(&mut self, value: &[u8], said: &mut Vec<Said>) -> bool {
        let value = value.trim_ascii();
        if value.is_empty() {
            return true;
        }
        if value == b"[DONE]" {
            let finish = self.finish.take();
            self.conclude(finish, said);
            return true;
        }
        match arguments::json(value) {
            Some(json @ (Value::Object(_) | Value::Array(_))) => {
                let is_error = std::mem::take(&mut self.event_is_error);
                self.value(&json, is_error, said);
                true
            }
            _ => false,
        }
    }

    /// An empty line: what was held of an event is whole.
    fn event_ends(&mut self, said: &mut Vec<Said>) {
        let (lines, is_error) = (std::mem::take(&mut self.event).lines, std::mem::take(&mut self.event_is_error));
        if lines.is_empty() {
            return;
        }
        let whole = lines.join(&b'\n');
        if is_error || arguments::json(&whole).is_some_and(|value| value.is_object()) {
            return self.payload(&whole, is_error, said);
        }
        for line in lines {
            if self.open && !self.understood(&line, said) {
                self.senseless(&line, said);
            }
        }
    }

    fn hold_raw(&mut self, line: Vec<u8>, said: &mut Vec<Said>) {
        if !self.raw.push(line) {
            self.fail(garbage(Overflow::Line.words()), said);
        }
    }

    /// JSON over several lines is read when all of it is there.
    fn raw_ends(&mut self, said: &mut Vec<Said>) {
        let lines = std::mem::take(&mut self.raw).lines;
        if let Some(value) = arguments::json(&lines.join(&b'\n')) {
            return self.value(&value, false, said);
        }
        for line in lines {
            match arguments::json(&line) {
                Some(value) if self.open => self.value(&value, false, said),
                None if self.open => self.senseless(&line, said),
                _ => return,
            }
        }
    }

    fn payload(&mut self, bytes: &[u8], is_error: bool, said: &mut Vec<Said>) {
        match arguments::json(bytes) {
            Some(value) => self.value(&value, is_error, said),
            None if is_error => self.fail(Complaint::text(bytes).trouble(), said),
            None => self.senseless(bytes, said),
        }
    }

    /// Something that should say something, and does not.
    fn senseless(&mut self, bytes: &[u8], said: &mut Vec<Said>) {
        if self.closing {
            // The last line was cut off. If the model had finished before, nothing is lost.
            if self.finish.is_none() {
                self.fail(broken_off(" within a piece of it"), said);
            }
            return;
        }
        let sample = refusal::clean(&String::from_utf8_lossy(bytes), SAMPLE_BYTES);
        self.fail(
            garbage(format!("The server sent something that is no JSON in the middle of its answer: {sample}")),
            said,
        );
    }

    fn noise(&mut self, bytes: &[u8]) {
        if self.noise.is_none() {
            let sample = refusal::plain(&String::from_utf8_lossy(bytes));
            self.noise = Some(refusal::clean(&sample, SAMPLE_BYTES)).filter(|sample| !sample.is_empty());
        }
    }

    fn value(&mut self, value: &Value, is_error: bool, said: &mut Vec<Said>) {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            if is_error {
                return self.fail(Complaint::of(value).trouble(), said);
            }
            match chunk::read(value, self.in_pieces) {
                Some(pieces) => self.sense = pieces.into_iter().fold(true, |_, piece| self.piece(piece, said)),
                None => self.noise(value.to_string().as_bytes()),
            }
        }
    }

    fn piece(&mut self, piece: Piece, said: &mut Vec<Said>) -> bool {
        if !self.open {
            return true;
        }
        match piece {
            Piece::InPieces => self.in_pieces = true,
            Piece::Text(text) => self.aloud(&text, said),
            Piece::Thought(text) if text.is_empty() => {}
            Piece::Thought(text) => said.push(Said::Thought(text)),
            Piece::Call(call) => {
                if let Err(why) = self.calls.add(call) {
                    self.fail(garbage(why), said);
                }
            }
            Piece::Refusal(text) => self.refusal.push_str(&text),
            Piece::Used(used) => self.used = Some(used),
            Piece::Finish(finish) => {
                if self.finish.is_none() || finish != Finish::Done {
                    self.finish = Some(finish);
                }
            }
            Piece::Over => {
                let finish = self.finish.take();
                self.conclude(finish, said);
            }
            Piece::Error(complaint) => self.fail(complaint.trouble(), said),
        }
        true
    }

    fn aloud(&mut self, text: &str, said: &mut Vec<Said>) {
        for each in self.thinking.read(text) {
            self.told(each, said);
        }
    }

    fn told(&mut self, aloud: Aloud, said: &mut Vec<Said>) {
        match aloud {
            Aloud::Thought(text) => said.push(Said::Thought(text)),
            Aloud::Text(text) => match &mut self.reader {
                None => said.push(Said::Text(text)),
                Some(reader) => {
                    let found = reader.read(&text);
                    self.found(found, said);
                }
            },
        }
    }

    fn found(&mut self, found: Vec<Found>, said: &mut Vec<Said>) {
        for each in found {
            match each {
                Found::Text(text) => said.push(Said::Text(text)),
                Found::Call { name, arguments } => match self.calls.number(name, arguments) {
                    Ok(call) => said.push(Said::Call(call)),
                    Err(why) if self.open => return self.fail(garbage(why), said),
                    Err(_) => return,
                },
            }
        }
    }

    /// The answer has ended by itself.
    fn conclude(&mut self, finish: Option<Finish>, said: &mut Vec<Said>) {
        if let Some(Finish::Failed(trouble)) = finish {
            return self.fail(trouble, said);
        }
        for each in self.thinking.end() {
            self.told(each, said);
        }
        if let Some(reader) = &mut self.reader {
            let found = reader.end();
            self.found(found, said);
        }
        if !self.open {
            return;
        }
        said.extend(self.calls.take().into_iter().map(Said::Call));
        let end = match finish {
            _ if !self.refusal.is_empty() => End::Refused(refusal::clean(&self.refusal, 2000)),
            Some(Finish::Filtered) => End::Refused("The server's filter has stopped the answer.".to_owned()),
            Some(Finish::Cut) => End::Cut,
            Some(Finish::Done | Finish::Failed(_)) | None => End::Done,
        };
        self.close(end, said);
    }

    /// The answer has failed. What was said before is kept; calls that were not said yet are not wanted any more.
    fn fail(&mut self, trouble: Trouble, said: &mut Vec<Said>) {
        if !self.open {
            return;
        }
        self.open = false;
        for each in self.thinking.end() {
            self.told(each, said);
        }
        if let Some(reader) = &mut self.reader {
            said.extend(reader.give_up().map(Said::Text));
        }
        self.close(End::Failed(trouble), said);
    }

    fn close(&mut self, end: End, said: &mut Vec<Said>) {
        self.open = false;
        said.extend(self.used.take().map(Said::Used));
        said.push(Said::End(end));
        // Nothing is read any more, so nothing need be kept.
        (self.feed, self.calls, self.event, self.raw) = Default::default();
    }
}

/// The name of an event stream's field, and its value. A comment has an empty name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = line.iter().take(8).position(|byte| *byte == b':') else {
        return (line, b"");
    };
    let (name, value) = line.split_at(colon);
    let value = value.get(1..).unwrap_or_default();
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

fn garbage(message: String) -> Trouble {
    Trouble { kind: TroubleKind::Garbage, message, retry_after_ms: None }
}

fn broken_off(how: &str) -> Trouble {
    let message = format!("The server broke its answer off{how}. What came before is kept.");
    Trouble { kind: TroubleKind::BrokenOff, message, retry_after_ms: None }
}
