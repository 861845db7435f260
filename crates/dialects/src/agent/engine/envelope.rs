//! An engine's event as it stands in a stream: what is around it is read, what it says is kept as it came.

use std::borrow::Cow;

use bytes::Bytes;
use switchboard_types::source::MAX_SOURCE_NAME_BYTES;
use switchboard_types::{Source, SourceId, Text, Time};

use crate::framing::SseEvent;
use crate::json::{Fields, pairs};

/// Names of what a payload holds beside the text.
const MAX_MEMBERS: usize = 4096;
/// Beyond this a number is milliseconds and not seconds.
const SECONDS_UNTIL: f64 = 100_000_000_000.0;

/// An event of the engine.
#[derive(Debug)]
pub(super) struct Envelope {
    /// Its place there.
    pub(super) id: SourceId,
    /// Its number there.
    pub(super) seq: Option<u64>,
    /// The type.
    pub(super) name: String,
    turn: Option<u32>,
    at: Option<Time>,
    /// All of the event, as text.
    frame: Bytes,
    /// Where the payload stands in it; none if there is none.
    payload: Option<(usize, usize)>,
}

impl Envelope {
    /// Reads an event; the error says why it is none.
    pub(super) fn read(event: &SseEvent) -> Result<Self, String> {
        let frame = match std::str::from_utf8(&event.data) {
            Ok(_) => event.data.clone(),
            Err(_) => Bytes::from(String::from_utf8_lossy(&event.data).into_owned()),
        };
        let text = std::str::from_utf8(&frame).map_err(|error| error.to_string())?;
        let names = &["type", "id", "seq", "payload", "turn", "timestamp_ms", "timestamp"];
        let fields = Fields::read(text, names).map_err(|error| error.to_string())?;
        if let Some(fault) = fields.fault() {
            return Err(fault.to_string());
        }
        let string = |name| fields.optional_text(name).ok().flatten().filter(|text| !text.is_empty());
        let shown = |bytes: &Option<Bytes>| bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let seq = fields.raw("seq").and_then(|raw| raw.parse().ok());
        // A number is as good a name as a text.
        let own = string("id").or_else(|| fields.raw("id").filter(|raw| is_number(raw)).map(str::to_owned));
        let id = own.or_else(|| shown(&event.id)).or_else(|| seq.map(|seq: u64| seq.to_string()));
        let id = id.filter(|id| id.len() <= MAX_SOURCE_NAME_BYTES).ok_or("it has no `id`")?;
        let name = string("type").or_else(|| shown(&event.name)).ok_or("it has no `type`")?;
        let name = cut_bytes(name, MAX_SOURCE_NAME_BYTES);
        let turn = fields.raw("turn").and_then(|raw| raw.parse().ok()).filter(|turn| *turn > 0);
        let ms = fields.raw("timestamp_ms").and_then(|raw| raw.parse::<f64>().ok());
        let at = ms.or_else(|| fields.raw("timestamp").and_then(|raw| raw.parse::<f64>().ok())).and_then(time);
        let payload = fields.raw("payload").map(|raw| place_of(text, raw));
        Ok(Self { id: SourceId::from(id.as_str()), seq, name, turn, at, payload, frame })
    }

    /// What it says, as the text of an object.
    pub(super) fn payload(&self) -> Cow<'_, str> {
        let text = std::str::from_utf8(&self.frame).unwrap_or_default();
        match self.payload.and_then(|(from, to)| text.get(from..to)) {
            Some(raw) if raw.starts_with('{') => Cow::Borrowed(raw),
            Some(raw) => Cow::Owned(format!("{{\"payload\":{raw}}}")),
            None => Cow::Borrowed("{}"),
        }
    }

    /// The text that it streams, without a copy; none if there is none.
    pub(super) fn text(&self) -> Option<Text> {
        let text = std::str::from_utf8(&self.frame).ok()?;
        let (from, to) = self.payload?;
        let fields = Fields::read(text.get(from..to)?, &["text"]).ok()?;
        Text::from_literal(&self.frame, fields.raw("text")?)
    }

    /// Where it comes from, with all that it says.
    pub(super) fn source(&self) -> Source {
        self.source_with(self.payload().into_owned())
    }

    /// The same without the text, which stands elsewhere.
    pub(super) fn source_beside_text(&self) -> Source {
        self.source_with(without_text(&self.payload()))
    }

    fn source_with(&self, rest: String) -> Source {
        Source { id: self.id.clone(), seq: self.seq, name: self.name.clone(), rest, turn: self.turn, at: self.at }
    }
}

fn is_number(raw: &str) -> bool {
    raw.starts_with(|first: char| first.is_ascii_digit() || first == '-')
}

fn time(number: f64) -> Option<Time> {
    let ms = if number < SECONDS_UNTIL { number * 1000.0 } else { number };
    (ms.is_finite() && ms >= 0.0).then_some(Time(ms as u64))
}

/// Where a part of a text stands in it.
fn place_of(text: &str, part: &str) -> (usize, usize) {
    let from = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    (from, from + part.len())
}

/// An object without its `text`; empty if nothing else is in it.
fn without_text(object: &str) -> String {
    if let Some(rest) = cut_out(object) {
        return rest;
    }
    let Some(Ok(mut members)) = pairs(object, MAX_MEMBERS) else { return String::new() };
    members.remove("text");
    let put = |(name, value): (&String, &&str)| format!("{}:{value}", serde_json::Value::String(name.clone()));
    let members: Vec<String> = members.iter().map(put).collect();
    if members.is_empty() { String::new() } else { format!("{{{}}}", members.join(",")) }
}

/// The short way: the member is cut out where it stands. None where it is not written plainly.
fn cut_out(object: &str) -> Option<String> {
    let fields = Fields::read(object, &["text"]).ok().filter(|fields| fields.fault().is_none())?;
    let (from, to) = place_of(object, fields.raw("text")?);
    let before = object.get(..from)?.trim_end().strip_suffix(':')?.trim_end().strip_suffix("\"text\"")?.trim_end();
    let after = object.get(to..)?.trim_start();
    match (before.strip_suffix(','), after.strip_prefix(',')) {
        (Some(before), _) => Some(format!("{before}{after}")),
        (None, Some(after)) => Some(format!("{before}{after}")),
        (None, None) => Some(String::new()),
    }
}

fn cut_bytes(mut text: String, max: usize) -> String {
    if text.len() > max {
        let at = (0..=max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(at);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(data: &str) -> Result<Envelope, String> {
        let (id, data) = (Some(Bytes::from_static(b"7")), Bytes::copy_from_slice(data.as_bytes()));
        Envelope::read(&SseEvent { last_id: id.clone(), id, name: None, data })
    }

    #[test]
    fn the_body_names_the_event_and_what_it_says_is_kept_as_it_came() {
        let data =
            r#"{"id":"u-1","seq":3,"type":"x","turn":2,"timestamp_ms":1700000000000,"payload":{"b":1, "a":[ ]}}"#;
        let read = envelope(data).unwrap();
        let at = Some(Time(1_700_000_000_000));
        let (id, name, rest) = (SourceId::from("u-1"), "x".to_owned(), r#"{"b":1, "a":[ ]}"#.to_owned());
        assert_eq!(read.source(), Source { id, seq: Some(3), name, rest, turn: Some(2), at });
    }

    #[test]
    fn without_an_id_in_the_body_the_stream_names_it() {
        let read = envelope(r#"{"type":"x","timestamp":1700000000.5}"#).unwrap();
        assert_eq!((read.id.as_str(), read.at), ("7", Some(Time(1_700_000_000_500))));
        assert_eq!(read.payload(), "{}");
        assert_eq!(envelope(r#"{"id":12,"type":"x"}"#).unwrap().id.as_str(), "12");
    }

    #[test]
    fn what_is_no_event_is_said_to_be_none() {
        for (data, reason) in [("[]", "object"), ("nonsense", "object"), ("{}", "type"), (r#"{"type":1}"#, "type")] {
            let error = envelope(data).unwrap_err();
            assert!(error.contains(reason), "{data}: {error}");
        }
    }

    #[test]
    fn the_text_is_taken_out_and_the_rest_stays() {
        for (payload, rest) in [
            (r#"{"text":"a"}"#, ""),
            (r#"{ "text" : "a" }"#, ""),
            (r#"{"text":"a","message_id":"m"}"#, r#"{"message_id":"m"}"#),
            (r#"{"message_id":"m","text":"a\"}"}"#, r#"{"message_id":"m"}"#),
            (r#"{"x":{"text":1},"text":"a","y":2}"#, r#"{"x":{"text":1},"y":2}"#),
            (r#"{"\u0074ext":"a","y":2}"#, r#"{"y":2}"#),
        ] {
            let read = envelope(&format!(r#"{{"type":"t","payload":{payload}}}"#)).unwrap();
            assert!(read.text().is_some(), "{payload}");
            assert_eq!(read.source_beside_text().rest, rest, "{payload}");
        }
    }
}
