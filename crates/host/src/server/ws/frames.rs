//! Server frames as bytes: unmasked, whole, text. A page of events is encoded once for all links that get it.

use std::sync::Arc;

use bytes::{BufMut as _, Bytes};
use switchboard_dialects::view::{Sharing, ViewDialect, ViewKind};
use switchboard_types::{Reject, Time, Told};

use crate::link::SharedPage;

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
/// The longest payload whose length fits into the second byte, and the longest that a control frame may have.
const MAX_SHORT: usize = 125;
const LEN_16: u8 = 126;
const LEN_64: u8 = 127;
/// What one event adds to its text, roughly: header, type, tab, index, names.
const EVENT_OVERHEAD_BYTES: usize = 128;

/// Adds one text frame.
pub(super) fn put_text(out: &mut Vec<u8>, json: &[u8]) {
    out.put_u8(TEXT);
    match (u8::try_from(json.len()), u16::try_from(json.len())) {
        (Ok(len), _) if json.len() <= MAX_SHORT => out.put_u8(len),
        (_, Ok(len)) => {
            out.put_u8(LEN_16);
            out.put_u16(len);
        }
        (_, Err(_)) => {
            out.put_u8(LEN_64);
            out.put_u64(json.len() as u64);
        }
    }
    out.put_slice(json);
}

/// Adds the frames of one thing told; how many they are.
pub(super) fn put_told(out: &mut Vec<u8>, now: Time, dialect: &mut dyn ViewDialect, told: &Told) -> u64 {
    let mut count = 0;
    dialect.write(now, told, &mut |json| {
        put_text(out, json);
        count += 1;
    });
    count
}

/// Adds the frames of a refusal of the message that came last; how many they are.
pub(super) fn put_refusal(out: &mut Vec<u8>, now: Time, dialect: &mut dyn ViewDialect, reject: &Reject) -> u64 {
    let mut count = 0;
    dialect.refuse(now, reject, &mut |json| {
        put_text(out, json);
        count += 1;
    });
    count
}

/// Adds the frames of what a dialect held back until now; how many they are.
pub(super) fn put_due(out: &mut Vec<u8>, now: Time, dialect: &mut dyn ViewDialect) -> u64 {
    let mut count = 0;
    dialect.tick(now, &mut |json| {
        put_text(out, json);
        count += 1;
    });
    count
}

/// The frames of a page. Where links of a dialect share, the first one encodes them for all others.
pub(super) fn of_page(shared: &SharedPage, now: Time, kind: ViewKind, dialect: &mut dyn ViewDialect) -> Bytes {
    let sharing = dialect.sharing();
    let mut encode = || {
        let told = Told::Events {
            tab: shared.tab.clone(),
            page: Arc::clone(&shared.page),
            names: shared.names.clone(),
            epoch: shared.epoch,
            home: shared.home,
        };
        let events = usize::try_from(shared.page.count()).unwrap_or(0);
        let mut out = Vec::with_capacity(shared.page.bytes() + events * EVENT_OVERHEAD_BYTES);
        put_told(&mut out, now, dialect, &told);
        Bytes::from(out)
    };
    match sharing {
        Sharing::Pages => shared.frames[kind as usize].get_or_init(&mut encode).clone(),
        Sharing::Nothing => encode(),
    }
}

/// What stands in text frames of ours, one after the other.
pub(super) fn texts(frames: &Bytes) -> Vec<Bytes> {
    let (mut rest, mut texts) = (frames.clone(), Vec::new());
    while let [TEXT, len, more @ ..] = rest.as_ref() {
        let (head, size) = match (*len, more) {
            (LEN_64, [a, b, c, d, e, f, g, h, ..]) => (10, u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h])),
            (LEN_16, [a, b, ..]) => (4, u64::from(u16::from_be_bytes([*a, *b]))),
            (short, _) => (2, u64::from(short)),
        };
        let end = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(head).min(rest.len());
        texts.push(rest.slice(head.min(end)..end));
        rest = rest.slice(end..);
    }
    texts
}

/// A close frame; a reason that is too long is left out.
pub(super) fn close(code: u16, reason: &str) -> Vec<u8> {
    let reason = if reason.len() + 2 <= MAX_SHORT { reason } else { "" };
    let mut out = vec![CLOSE, u8::try_from(reason.len() + 2).unwrap_or(2)];
    out.put_u16(code);
    out.put_slice(reason.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use tokio_tungstenite::tungstenite::Message;
    use tokio_tungstenite::tungstenite::protocol::{Role, WebSocket};

    use super::*;

    #[test]
    fn a_foreign_reader_reads_frames_of_every_length_as_they_were() {
        let texts: Vec<String> = [0, 1, 125, 126, 65_535, 65_536, 200_000].iter().map(|len| "x".repeat(*len)).collect();
        let mut out = Vec::new();
        texts.iter().for_each(|text| put_text(&mut out, text.as_bytes()));
        let mut socket = WebSocket::from_raw_socket(Cursor::new(out), Role::Client, None);
        let read: Vec<Message> = texts.iter().map(|_| socket.read().unwrap()).collect();
        assert_eq!(read, texts.into_iter().map(Message::text).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_framed_is_found_again() {
        let wanted: Vec<String> = [0, 1, 125, 126, 65_535, 65_536].iter().map(|len| "x".repeat(*len)).collect();
        let mut out = Vec::new();
        wanted.iter().for_each(|text| put_text(&mut out, text.as_bytes()));
        assert_eq!(texts(&Bytes::from(out)), wanted.into_iter().map(Bytes::from).collect::<Vec<_>>());
        assert_eq!(texts(&Bytes::from_static(&[TEXT, LEN_16, 0])), vec![Bytes::from_static(&[0])]);
    }

    #[test]
    fn a_foreign_reader_reads_the_close_frame() {
        let mut socket = WebSocket::from_raw_socket(Cursor::new(close(1009, "too long")), Role::Client, None);
        let Message::Close(Some(frame)) = socket.read().unwrap() else { panic!("no close frame") };
        assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1009, "too long"));
        assert_eq!(close(1001, &"x".repeat(200)), vec![CLOSE, 2, 3, 233]);
    }
}
