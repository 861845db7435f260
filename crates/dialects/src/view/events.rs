//! A session's events as server-sent events, for the HTTP door: one page of the log is one run of bytes, whoever reads it.
//! Only writes; what a caller asks for comes by requests of its own.

use switchboard_types::{Epoch, EventRef, Page, Seen, Seq, SessionId, TurnNames};

use crate::vocabulary::{self, name};

/// The version of the vocabulary and of the envelope around it.
pub const PROTOCOL_VERSION: &str = "1.0";
/// What one event adds to its text, roughly.
const EVENT_OVERHEAD_BYTES: usize = 224;

/// An event's id outside: the life of its log and its place in it.
#[must_use]
pub fn event_id(epoch: Epoch, seq: Seq) -> String {
    format!("{:016x}:{seq}", epoch.0)
}

/// The place that an id stands for; none if it is none of ours.
#[must_use]
pub fn seen(id: &str) -> Option<Seen> {
    let (epoch, seq) = id.split_once(':')?;
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !plain(epoch) || !plain(seq) {
        return None;
    }
    let epoch = Epoch(u64::from_str_radix(epoch, 16).ok()?);
    Some(Seen { seq: Seq(seq.parse().ok()?), epoch: Some(epoch) })
}

/// Writes all events of a page.
pub fn put_page(out: &mut Vec<u8>, session: SessionId, epoch: Epoch, page: &Page, names: &TurnNames) {
    let count = usize::try_from(page.count()).unwrap_or(0);
    out.reserve(page.bytes() + count * EVENT_OVERHEAD_BYTES);
    let mut writer = Writer::new(session, epoch);
    page.events().for_each(|event| writer.put(out, &event, names));
}

/// Writes that the log no longer holds these events; what follows comes after the last of them.
pub fn put_gap(out: &mut Vec<u8>, session: SessionId, epoch: Epoch, (from, to): (Seq, Seq), now: u64) {
    let writer = Writer::new(session, epoch);
    writer.head(out, to);
    out.extend_from_slice(br#","type":""#);
    out.extend_from_slice(name::STREAM_GAP.as_bytes());
    out.extend_from_slice(&writer.session);
    out.extend_from_slice(br#","turn":null,"timestamp_ms":"#);
    number(out, now);
    out.extend_from_slice(VERSION_AND_PAYLOAD);
    out.extend_from_slice(br#"{"from":"#);
    number(out, from.0);
    out.extend_from_slice(br#","to":"#);
    number(out, to.0);
    out.extend_from_slice(br#","message":"these events of the log are lost; what remains follows"}}"#);
    out.extend_from_slice(b"\n\n");
}

/// Writes a line that says nothing to programs. Line breaks within it would end it.
pub fn put_comment(out: &mut Vec<u8>, comment: &str) {
    out.extend_from_slice(b": ");
    out.extend(comment.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')));
    out.extend_from_slice(b"\n\n");
}

const VERSION_AND_PAYLOAD: &[u8] = br#","protocol_version":"1.0","payload":"#;

/// What stays the same from event to event.
struct Writer {
    epoch: String,
    session: Vec<u8>,
    payload: Vec<u8>,
}

impl Writer {
    fn new(session: SessionId, epoch: Epoch) -> Self {
        let session = format!(r#"","session_id":"{session}""#).into_bytes();
        Self { epoch: format!("{:016x}:", epoch.0), session, payload: Vec::new() }
    }

    fn put(&mut self, out: &mut Vec<u8>, event: &EventRef<'_>, names: &TurnNames) {
        self.payload.clear();
        // What an event is called is known when what it says is written, but stands before it.
        let kind = vocabulary::put(&mut self.payload, event, names);
        self.head(out, event.seq);
        out.extend_from_slice(br#","type":"#);
        put_name(out, kind);
        out.extend_from_slice(&self.session);
        out.extend_from_slice(br#","turn":"#);
        match event.turn {
            Some(turn) => number(out, u64::from(turn.0)),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(br#","timestamp_ms":"#);
        number(out, event.at.0);
        out.extend_from_slice(VERSION_AND_PAYLOAD);
        out.extend_from_slice(&self.payload);
        out.extend_from_slice(b"}\n\n");
    }

    /// The id, twice, and the number.
    fn head(&self, out: &mut Vec<u8>, seq: Seq) {
        out.extend_from_slice(b"id: ");
        self.id(out, seq);
        out.extend_from_slice(b"\ndata: {\"id\":\"");
        self.id(out, seq);
        out.extend_from_slice(br#"","seq":"#);
        number(out, seq.0);
    }

    fn id(&self, out: &mut Vec<u8>, seq: Seq) {
        out.extend_from_slice(self.epoch.as_bytes());
        number(out, seq.0);
    }
}

/// A name as a JSON string up to its closing quote, which what follows it begins with.
fn put_name(out: &mut Vec<u8>, name: &str) {
    // A string always has a JSON text, and a vector takes all of it.
    let _ = serde_json::to_writer(&mut *out, name);
    out.pop();
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use switchboard_types::{Body, PageBuilder, Source, SourceId, Time, TurnId, TurnName};

    use super::*;

    fn events(text: &str) -> Vec<(String, Value)> {
        let blocks = text.split_terminator("\n\n");
        let event = |block: &str| {
            let (id, data) = block.split_once('\n').unwrap();
            let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            (id.strip_prefix("id: ").unwrap().to_owned(), data)
        };
        blocks.map(event).collect()
    }

    #[test]
    fn every_event_is_one_block_with_its_id_and_the_whole_envelope() {
        let mut page = PageBuilder::new(Seq(9));
        page.push(Time(5), Some(TurnId(1)), &Body::Text { text: "line\nbreak".into() });
        page.push(Time(6), None, &Body::SessionReopened {});
        let odd = Source {
            id: SourceId::from("x"),
            seq: None,
            name: "odd \"name\"\n".to_owned(),
            rest: "{\n\"a\":1}".to_owned(),
            turn: None,
            at: None,
        };
        let kept = Body::Unknown { name: String::new(), raw: String::new() };
        page.push_from(Time(7), Some(TurnId(2)), &kept, Some(&odd));
        let names = TurnNames::new([(TurnId(1), TurnName::from("m1"))]);
        let mut out = Vec::new();
        put_page(&mut out, SessionId(3), Epoch(0xab), &page.take().unwrap(), &names);
        put_gap(&mut out, SessionId(3), Epoch(0xab), (Seq(12), Seq(14)), 8);
        let envelope = |seq: u64, kind: &str, turn: Option<u32>, at: u64, payload: Value| {
            let id = format!("00000000000000ab:{seq}");
            let event = json!({
                "id": id, "seq": seq, "type": kind, "session_id": "3", "turn": turn, "timestamp_ms": at,
                "protocol_version": PROTOCOL_VERSION, "payload": payload,
            });
            (id, event)
        };
        let lost = "these events of the log are lost; what remains follows";
        assert_eq!(
            events(&String::from_utf8(out).unwrap()),
            [
                envelope(9, "assistant_delta", Some(1), 5, json!({ "message_id": "m1", "text": "line\nbreak" })),
                envelope(10, "switchboard.session_reopened", None, 6, json!({})),
                envelope(11, "odd \"name\"\n", Some(2), 7, json!({ "a": 1 })),
                envelope(14, "stream.gap", None, 8, json!({ "from": 12, "to": 14, "message": lost })),
            ]
        );
    }

    #[test]
    fn an_id_leads_back_to_its_place_and_nothing_else_does() {
        let place = Seen { seq: Seq(70), epoch: Some(Epoch(u64::MAX)) };
        assert_eq!(seen(&event_id(Epoch(u64::MAX), Seq(70))), Some(place));
        for foreign in ["", ":", "1", "a:", ":1", "x:1", "1:x", "1:-1", "+1:1", "1:+1", "10000000000000000:1", "1:2:3"]
        {
            assert_eq!(seen(foreign), None, "{foreign}");
        }
        assert_eq!(seen("1:a"), None);
    }

    #[test]
    fn a_comment_is_one_line_whatever_it_says() {
        let mut out = Vec::new();
        put_comment(&mut out, "the host\r\ndata: stops");
        assert_eq!(out, b": the hostdata: stops\n\n");
    }
}
