//! The reader of event streams against a naive one, at every cut of the bytes.

use proptest::prelude::*;

use super::*;

type Read = (Vec<SseItem>, Option<SseError>);

fn read(max: usize, pieces: &[&[u8]]) -> Read {
    let (mut sse, mut buffer, mut items, mut fault) = (Sse::with_max(max), BytesMut::new(), Vec::new(), None);
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match sse.next(&mut buffer) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => break,
                Err(error) => assert_eq!(fault.replace(error), None, "a stream breaks once"),
            }
        }
        assert!(buffer.len() <= max.max(3), "the buffer holds {} bytes", buffer.len());
    }
    (items, fault)
}

fn good(bytes: &[u8]) -> Vec<SseItem> {
    let (items, fault) = read(MAX_FRAME_BYTES, &[bytes]);
    assert_eq!(fault, None);
    items
}

fn event(id: Option<&'static str>, last: Option<&'static str>, data: &'static str) -> SseItem {
    let text = |text: &'static str| Bytes::from_static(text.as_bytes());
    SseItem::Event(SseEvent { id: id.map(text), last_id: last.map(text), name: None, data: text(data) })
}

/// What the standard says, with all of the stream at hand and no care for anything else.
fn naive(bytes: &[u8]) -> Vec<SseItem> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut before = 0;
    for byte in bytes {
        match (*byte, before) {
            (b'\n', b'\r') => {}
            (b'\r' | b'\n', _) => lines.push(Vec::new()),
            (other, _) => lines.last_mut().unwrap().push(other),
        }
        before = *byte;
    }
    lines.pop();
    let (mut items, mut last) = (Vec::new(), None);
    let (mut own, mut name, mut data): (Option<Bytes>, Option<Bytes>, Vec<Bytes>) = (None, None, Vec::new());
    for line in lines {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let field = parts.next().unwrap().to_vec();
        let value = parts.next();
        let value = value.map(|value| value.strip_prefix(b" ").unwrap_or(value)).unwrap_or_default();
        let value = Bytes::copy_from_slice(value);
        match (line.is_empty(), &field[..]) {
            (true, _) => {
                let (id, name) = (own.take(), name.take());
                if !data.is_empty() {
                    let data = Bytes::from(std::mem::take(&mut data).join(&b'\n'));
                    items.push(SseItem::Event(SseEvent { id, last_id: last.clone(), name, data }));
                }
            }
            (false, b"") => items.push(SseItem::Comment),
            (false, b"data") => data.push(value),
            (false, b"event") => name = (!value.is_empty()).then_some(value),
            (false, b"id") if !value.contains(&0) => {
                own = (!value.is_empty()).then_some(value);
                last = own.clone();
            }
            (false, b"retry") => {
                let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
                let ms = String::from_utf8_lossy(&value).parse::<u64>().unwrap_or(u64::MAX);
                items.extend(digits.then_some(SseItem::Retry(ms.min(MAX_RETRY_MS))));
            }
            (false, _) => {}
        }
    }
    items
}

/// Streams with everything in them that can be read wrongly.
const STREAMS: &[&[u8]] = &[
    b"id: 1\ndata: {\"a\":1}\n\nid: 2\ndata: two\n\n",
    b"\xef\xbb\xbfid: 1\r\ndata: x\r\n\r\n: beat\r\n\r\ndata: y\r\n\r\n",
    b"id: 1\rdata: x\r\rid\rdata: without\r\r",
    b"data: one\r\ndata:two\rdata\ndata:  four\n\n",
    b"data\n\ndata:\n\ndata\ndata\n\n",
    b"event: add\ndata: 1\n\nevent\ndata: 2\n\nevent: never\n\ndata: 3\n\n",
    b"retry: 250\nretry: 99999999999999999999\nretry: 1s\nretry:\nretry\n\n",
    b"id: a\0b\ndata: kept\n\nid: 7\n\ndata: after an id alone\n\n",
    b":\n: x\n:data: y\n\nunknown: z\n data: not data\ndata : neither\n\n",
    b"data: caf\xc3\xa9\n\ndata: \xff\xfe broken\n\n\xef\xbb\xbfdata: mark in the middle\n\n",
    b"\n\r\n\r\rdata: x\n\r\n\rdata: y\n\ndata: never ended",
];

/// Bytes that mean something to the reader.
const TOKENS: &[&[u8]] = &[
    b"data",
    b"data: ",
    b"id: ",
    b"id",
    b"event: ",
    b"retry: ",
    b"12",
    b":",
    b" ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\0",
    BYTE_ORDER_MARK,
    b"\xef",
    b"x",
];

#[test]
fn an_id_a_name_and_lines_make_an_event() {
    assert_eq!(
        good(b"event: add\nid: 5\ndata: one\ndata: two\n\ndata: three\n\n"),
        vec![
            SseItem::Event(SseEvent {
                id: Some(Bytes::from_static(b"5")),
                last_id: Some(Bytes::from_static(b"5")),
                name: Some(Bytes::from_static(b"add")),
                data: Bytes::from_static(b"one\ntwo"),
            }),
            event(None, Some("5"), "three"),
        ]
    );
}

#[test]
fn an_id_that_comes_alone_is_kept_for_its_data() {
    let (items, _) = read(99, &[b"id: 41\n", b"data: {}\n", b"\n"]);
    assert_eq!(items, vec![event(Some("41"), Some("41"), "{}")]);
}

#[test]
fn an_id_with_a_nul_is_ignored_and_an_empty_one_takes_the_last_back() {
    assert_eq!(
        good(b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid:\ndata: c\n\n"),
        vec![event(Some("1"), Some("1"), "a"), event(None, Some("1"), "b"), event(None, None, "c")]
    );
}

#[test]
fn comments_are_told_and_the_time_to_wait_is_bounded() {
    assert_eq!(
        good(b": beat\n:\nretry: 100\nretry: 999999999999999999999999\nretry: -1\n"),
        vec![SseItem::Comment, SseItem::Comment, SseItem::Retry(100), SseItem::Retry(MAX_RETRY_MS)]
    );
}

#[test]
fn a_line_that_ends_in_a_return_waits_for_nothing() {
    let (items, _) = read(99, &[b"data: x\r\r"]);
    assert_eq!(items, vec![event(None, None, "x")]);
}

#[test]
fn data_of_one_line_shares_the_bytes_that_were_read() {
    let (mut sse, mut buffer) = (Sse::new(), BytesMut::from(&b"data: shared\n\n"[..]));
    let from = buffer.as_ptr() as usize;
    let Ok(Some(SseItem::Event(event))) = sse.next(&mut buffer) else { panic!("no event") };
    assert_eq!(event.data.as_ptr() as usize, from + b"data: ".len());
}

#[test]
fn what_is_over_the_limit_ends_the_stream_after_all_that_came_before() {
    let before = event(None, None, "x");
    let line = read(9, &[b"data: x\n\n", b"0123456789", b"\ndata: y\n\n"]);
    assert_eq!(line, (vec![before.clone()], Some(SseError::LineTooLong { max: 9 })));
    let large = read(9, &[b"data: x\n\ndata: 123\ndata: 456\ndata: 789\n\ndata: y\n\n"]);
    assert_eq!(large, (vec![before], Some(SseError::EventTooLong { max: 9 })));
    assert_eq!(read(9, &[b"data:1234\n\n"]).1, None);
}

#[test]
fn every_stream_is_read_as_the_standard_says_at_every_cut() {
    for stream in STREAMS {
        let expected = naive(stream);
        assert_eq!(good(stream), expected, "{:?}", String::from_utf8_lossy(stream));
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(read(MAX_FRAME_BYTES, &pieces).0, expected, "cut at {first} and {second}");
            }
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(read(MAX_FRAME_BYTES, &bytes).0, expected);
    }
}

proptest! {
    #[test]
    fn any_bytes_at_any_cuts_are_read_as_the_naive_reader_reads_them(
        parts in proptest::collection::vec(prop_oneof![
            proptest::sample::select(TOKENS).prop_map(<[u8]>::to_vec),
            proptest::collection::vec(any::<u8>(), 0..4),
        ], 0..60),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        max in prop_oneof![Just(MAX_FRAME_BYTES), 0_usize..24],
    ) {
        let bytes = parts.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut pieces, mut from) = (Vec::new(), 0);
        for cut in cuts {
            pieces.push(&bytes[from..cut]);
            from = cut;
        }
        pieces.push(&bytes[from..]);
        let whole = read(max, &[&bytes]);
        prop_assert_eq!(&read(max, &pieces), &whole);
        let expected = naive(&bytes);
        match whole.1 {
            None => prop_assert_eq!(&whole.0, &expected),
            Some(_) => prop_assert_eq!(&whole.0[..], &expected[..whole.0.len()]),
        }
    }
}
