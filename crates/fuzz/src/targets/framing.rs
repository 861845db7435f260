//! Framings: how the bytes are cut changes nothing, no more is kept than the limit says, and nothing is made up.

use bytes::{Bytes, BytesMut};
use switchboard_dialects::framing::content_length::MAX_HEADER_BYTES;
use switchboard_dialects::framing::{Framing, FramingError, FramingKind, encode};

/// The limits that are tried; the first byte chooses.
const LIMITS: [usize; 4] = [0, 7, 64, 100_000];

type Read = Vec<Result<Bytes, FramingError>>;

pub(crate) fn lines(data: &[u8]) {
    run(FramingKind::Lines, data);
}

pub(crate) fn content_length(data: &[u8]) {
    run(FramingKind::ContentLength, data);
}

pub(crate) fn native(data: &[u8]) {
    run(FramingKind::Native, data);
}

/// The first byte chooses the limit, the second how the rest is cut.
fn run(kind: FramingKind, data: &[u8]) {
    let [limit, cut, bytes @ ..] = data else { return };
    let max = LIMITS[usize::from(*limit) % LIMITS.len()];
    let step = usize::from(*cut).max(1);
    let whole = read(kind, max, &[bytes]);
    let cut: Vec<&[u8]> = bytes.chunks(step).collect();
    assert_eq!(whole, read(kind, max, &cut), "how the bytes are cut has changed what they say");
    again(kind, max, &whole);
}

/// Reads to the end.
fn read(kind: FramingKind, max: usize, pieces: &[&[u8]]) -> Read {
    let (mut framing, mut buffer, mut found) = (Framing::with_max(kind, max), BytesMut::new(), Vec::new());
    let (mut fed, mut given) = (0, 0);
    for piece in pieces {
        buffer.extend_from_slice(piece);
        fed += piece.len();
        while let Some(next) = framing.next(&mut buffer).transpose() {
            check(&next, max);
            given += next.as_ref().map_or(0, Bytes::len);
            found.push(next);
        }
        assert!(buffer.len() <= max + MAX_HEADER_BYTES + 4, "{} bytes wait for a message", buffer.len());
    }
    while let Some(next) = framing.finish(&mut buffer).transpose() {
        check(&next, max);
        given += next.as_ref().map_or(0, Bytes::len);
        found.push(next);
    }
    assert!(buffer.is_empty() && given <= fed, "{given} bytes came out of {fed}");
    let fatal = found.iter().position(|next| next.as_ref().is_err_and(FramingError::is_fatal));
    assert!(fatal.is_none_or(|at| at + 1 == found.len()), "something follows an error that nothing can follow");
    found
}

fn check(next: &Result<Bytes, FramingError>, max: usize) {
    match next {
        Ok(message) => assert!(message.len() <= max, "{} bytes are over {max}", message.len()),
        Err(error) => assert!(error.to_string().len() < 16 * 1024, "an error that nobody can read"),
    }
}

/// What was read can be written, and is read again.
fn again(kind: FramingKind, max: usize, found: &Read) {
    let messages: Vec<&Bytes> = found.iter().flatten().collect();
    let mut out = BytesMut::new();
    for message in &messages {
        if encode(kind, message, &mut out).is_err() {
            return;
        }
    }
    let read: Vec<Bytes> = read(kind, max, &[&out]).into_iter().map(|next| next.unwrap_or_default()).collect();
    // A line cannot hold an end of line, so one that ended in several is written with one.
    if kind != FramingKind::Lines {
        assert_eq!(read.iter().collect::<Vec<_>>(), messages);
    }
}
