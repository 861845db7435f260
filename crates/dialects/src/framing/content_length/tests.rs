//! Messages, noise and broken headers, in one piece and in many.

use proptest::prelude::*;

use super::*;

type Read = Vec<Result<Bytes, FrameError>>;

fn read(max: usize, pieces: &[&[u8]]) -> Read {
    let (mut frames, mut buffer, mut read) = (ContentLength::with_max(max), BytesMut::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        while let Some(frame) = frames.next(&mut buffer) {
            read.push(frame);
        }
        assert!(buffer.len() <= max.max(MAX_HEADER_BYTES), "the buffer holds {} bytes", buffer.len());
    }
    while let Some(rest) = frames.finish(&mut buffer) {
        read.push(rest);
    }
    assert!(buffer.is_empty());
    read
}

fn good(message: &'static str) -> Result<Bytes, FrameError> {
    Ok(Bytes::from_static(message.as_bytes()))
}

fn noise(sample: &'static str) -> Result<Bytes, FrameError> {
    Err(FrameError::Noise { size: sample.len(), sample: Bytes::from_static(sample.as_bytes()) })
}

fn bad(value: &'static str) -> Result<Bytes, FrameError> {
    Err(FrameError::BadLength { value: Bytes::from_static(value.as_bytes()) })
}

#[test]
fn messages_come_out_whole_with_other_headers_and_in_any_case() {
    let bytes: &[u8] = b"Content-Length: 2\r\n\r\n{}content-LENGTH:3\nContent-Type: a; charset=utf-8\n\nabc\
        Content-Type: x\r\nX-Content-Length: 9\r\nContent-Length:\t0 \r\n\r\n";
    assert_eq!(read(9, &[bytes]), vec![good("{}"), good("abc"), good("")]);
}

#[test]
fn a_message_may_hold_what_looks_like_a_header() {
    let inner = b"Content-Length: 99\r\n\r\n";
    let mut out = BytesMut::new();
    frame(inner, &mut out);
    assert_eq!(read(99, &[&out]), vec![Ok(Bytes::from_static(inner))]);
}

#[test]
fn noise_is_skipped_and_reported_before_the_message_that_follows_it() {
    let cases: [(&[u8], Read); 6] = [
        (b"warming up\nContent-Length: 1\r\n\r\na", vec![noise("warming up\n"), good("a")]),
        (b"Content-Length: 1\r\n\r\naoops Content-Length: 1\r\n\r\nb", vec![good("a"), noise("oops "), good("b")]),
        // Blank lines between messages are nothing to speak of.
        (b"\r\n\nContent-Length: 1\r\n\r\na\r\n", vec![good("a")]),
        // A header without a length is none.
        (b"Note: x\n\nContent-Length: 1\n\na", vec![noise("Note: x\n"), good("a")]),
        (
            b"Content-Length: 7\nTraceback\nContent-Length: 1\n\na",
            vec![noise("Content-Length: 7\nTraceback\n"), good("a")],
        ),
        (b"just noise", vec![noise("just noise")]),
    ];
    for (bytes, wanted) in cases {
        assert_eq!(read(9, &[bytes]), wanted, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_flood_of_noise_costs_no_memory_and_hides_no_message() {
    let mut bytes = vec![b'x'; 3 * MAX_HEADER_BYTES + 7];
    let size = bytes.len();
    bytes.extend_from_slice(b"Content-Length: 1\r\n\r\na");
    let pieces: Vec<&[u8]> = bytes.chunks(1000).collect();
    let wanted = vec![Err(FrameError::Noise { size, sample: Bytes::from(vec![b'x'; SAMPLE_BYTES]) }), good("a")];
    assert_eq!(read(9, &pieces), wanted);
    assert_eq!(read(9, &[&bytes]), wanted);
}

#[test]
fn a_length_that_cannot_be_right_ends_the_stream() {
    let cases: [(&[u8], Read); 8] = [
        (b"Content-Length: \r\n\r\na", vec![bad("")]),
        (b"Content-Length: -1\r\n\r\na", vec![bad("-1")]),
        (b"oops\nContent-Length: -1\r\n\r\na", vec![noise("oops\n"), bad("-1")]),
        (b"Content-Length: 1x\r\n\r\na", vec![bad("1x")]),
        (b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nabContent-Length: 1\r\n\r\na", vec![bad("2")]),
        (b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na", vec![good("a")]),
        (b"Content-Length: 10\r\n\r\n0123456789", vec![Err(FrameError::TooLong { size: 10, max: 9 })]),
        (b"Content-Length: 99999999999999999999\r\n\r\n", vec![Err(FrameError::TooLong { size: u64::MAX, max: 9 })]),
    ];
    for (bytes, wanted) in cases {
        assert_eq!(read(9, &[bytes]), wanted, "{:?}", String::from_utf8_lossy(bytes));
        assert!(wanted.last().is_some_and(|last| last.as_ref().err().is_none_or(FrameError::is_fatal)));
    }
}

#[test]
fn a_header_without_an_end_ends_the_stream() {
    let mut lines = b"Content-Length: 1\r\n".to_vec();
    while lines.len() <= MAX_HEADER_BYTES {
        lines.extend_from_slice(b"X-More: and more\r\n");
    }
    assert_eq!(read(9, &[&lines]), vec![Err(FrameError::HeaderTooLong)]);
    let mut long = b"Content-Length: 1\r\nX: ".to_vec();
    long.resize(2 * MAX_HEADER_BYTES, b'x');
    assert_eq!(read(9, &[&long]), vec![Err(FrameError::HeaderTooLong)]);
    let mut value = b"Content-Length: ".to_vec();
    value.resize(2 * MAX_HEADER_BYTES, b'1');
    assert!(matches!(read(9, &[&value])[..], [Err(FrameError::BadLength { .. })]));
}

#[test]
fn a_message_that_the_stream_cuts_off_is_told() {
    assert_eq!(read(9, &[b"Content-Length: 5\r\n\r\nab"]), vec![Err(FrameError::CutOff { found: 2, size: 5 })]);
}

#[test]
fn a_message_shares_the_bytes_of_the_buffer() {
    let mut buffer = BytesMut::from(&b"Content-Length: 4\r\n\r\nbodyrest"[..]);
    let body = buffer.as_ptr().wrapping_add(21);
    let message = ContentLength::new().next(&mut buffer).unwrap().unwrap();
    assert_eq!((message.as_ptr(), &message[..]), (body, &b"body"[..]));
}

/// Bytes that are often headers, sometimes almost.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => (0_usize..12).prop_map(|length| format!("Content-Length: {length}\r\n\r\n").into_bytes()),
        2 => Just(b"content-length:3\n".to_vec()),
        1 => Just(b"X-Content-Length: 3\n".to_vec()),
        1 => Just(b"Content-Length: x\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just(vec![b'z'; MAX_HEADER_BYTES / 3]),
        1 => Just(vec![b' '; MAX_HEADER_BYTES / 2]),
        1 => Just(b"X: 1\n".to_vec()),
        2 => "[a-z:\\-\n]{0,12}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_messages_and_errors(
        bytes in stream(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
        max in 0_usize..12,
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut pieces, mut from) = (Vec::new(), 0);
        for cut in cuts {
            pieces.push(&bytes[from..cut]);
            from = cut;
        }
        pieces.push(&bytes[from..]);
        prop_assert_eq!(read(max, &pieces), read(max, &[&bytes[..]]));
    }

    #[test]
    fn what_is_framed_is_read_again(messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..10)) {
        let mut out = BytesMut::new();
        messages.iter().for_each(|message| frame(message, &mut out));
        let sent: Read = messages.into_iter().map(|message| Ok(Bytes::from(message))).collect();
        prop_assert_eq!(read(1024, &[&out[..]]), sent);
    }
}
