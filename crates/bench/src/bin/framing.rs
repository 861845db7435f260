//! One way of finding messages in bytes and seeing whom they are for, run so often that instructions can be counted from
//! outside. Prints how long it took. Does no I/O meanwhile.

use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use bytes::{Bytes, BytesMut};
use serde::Serialize;
use switchboard_bench::mold::Mold;
use switchboard_dialects::agent::{AgentDialect as _, Plain};
use switchboard_dialects::framing::lines::Lines;
use switchboard_dialects::framing::{ContentLength, content_length};
use switchboard_dialects::jsonrpc::{Envelope, Reader, write};
use switchboard_types::{Ask, SessionId, Time, Word};

/// Messages that are made; the ways go through them as often as it takes.
const MADE: u64 = 1000;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [way, count] = words.as_slice() else {
        bail!("usage: bench-framing (stream|scan|ours|rpc|lsp-server|copy|write) COUNT")
    };
    let count: u64 = count.parse().context("COUNT")?;
    if way == "stream" {
        let bytes = stream(&Mold::rpc(), count);
        return std::io::stdout().lock().write_all(&bytes).context("standard output");
    }
    // The same few messages again and again, so that making them counts for nothing.
    let (mold, times) = (if way == "ours" { Mold::plain("s1", "m1") } else { Mold::rpc() }, count / MADE);
    let bytes = stream(&mold, MADE);
    ensure!(count.is_multiple_of(MADE), "COUNT must be a multiple of {MADE}");
    let start = Instant::now();
    let found = match way.as_str() {
        "scan" => (0..times).map(|_| scan(&bytes)).sum(),
        "ours" => ours(&bytes, times)?,
        "rpc" => rpc(&bytes, times)?,
        "copy" => copy(&bytes, times),
        "write" => write_all(times)?,
        "lsp-server" => (0..times).map(|_| lsp(&bytes)).sum::<u64>(),
        other => bail!("there is no way `{other}`"),
    };
    let seconds = start.elapsed().as_secs_f64();
    ensure!(found == count, "{found} messages were found where {count} are");
    println!("{}", serde_json::json!({ "seconds": seconds, "perSecond": count as f64 / seconds }));
    Ok(())
}

fn stream(mold: &Mold, count: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(()) = mold.flat(count, |block| {
        bytes.extend_from_slice(block);
        Ok::<(), std::convert::Infallible>(())
    });
    bytes
}

/// The limit: finds the length, copies the body.
fn scan(mut bytes: &[u8]) -> u64 {
    let mut found = 0;
    while let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") {
        let head = bytes.get(..end).unwrap_or_default();
        let digits = head.strip_prefix(b"Content-Length: ").unwrap_or_default();
        let len = digits.iter().fold(0, |len, digit| len * 10 + usize::from(digit.wrapping_sub(b'0')));
        let Some(body) = bytes.get(end + 4..end + 4 + len) else { break };
        black_box(body.to_vec());
        bytes = bytes.get(end + 4 + len..).unwrap_or_default();
        found += 1;
    }
    found
}

/// Ours: framing and dialect, up to the word for a session, as a pipe's reads bring the bytes.
fn ours(bytes: &[u8], times: u64) -> Result<u64> {
    const READ_BYTES: usize = 64 * 1024;
    /// A larger copy is one instruction a byte to whoever counts them, and the kernel's work anyway.
    const COPY_BYTES: usize = 1024;
    let (mut dialect, now, mut said) = (Plain::new(), Time(1), Vec::new());
    open(&mut dialect, now, &mut said)?;
    let (mut lines, mut buffer, mut found) = (Lines::new(), BytesMut::new(), 0);
    for _ in 0..times {
        for piece in bytes.chunks(READ_BYTES) {
            buffer.reserve(piece.len());
            piece.chunks(COPY_BYTES).for_each(|copy| buffer.extend_from_slice(copy));
            while let Some(line) = lines.next(&mut buffer) {
                dialect.read(now, &line?, &mut said)?;
            }
            found += said.iter().filter(|word| matches!(word, Word::Text { .. })).count() as u64;
            black_box(&said);
            said.clear();
        }
    }
    Ok(found)
}

/// Ours: content-length frames, each read up to its method and its params as they lie in it.
fn rpc(bytes: &[u8], times: u64) -> Result<u64> {
    const READ_BYTES: usize = 64 * 1024;
    const COPY_BYTES: usize = 1024;
    let (mut frames, mut reader) = (ContentLength::new(), Reader::new());
    let (mut buffer, mut found) = (BytesMut::new(), 0);
    for _ in 0..times {
        for piece in bytes.chunks(READ_BYTES) {
            buffer.reserve(piece.len());
            piece.chunks(COPY_BYTES).for_each(|copy| buffer.extend_from_slice(copy));
            while let Some(frame) = frames.next(&mut buffer) {
                let frame = frame?;
                let Envelope::Notification { method, params } = reader.read(&frame)?.envelope else { continue };
                found += u64::from(method == "$/partialResult" && params.is_some());
                black_box((method, params));
            }
        }
    }
    Ok(found)
}

/// The limit of writing: frames that are ready are copied.
fn copy(bytes: &[u8], times: u64) -> u64 {
    let (mut out, each) = (BytesMut::new(), bytes.len() / MADE as usize);
    for _ in 0..times {
        out.clear();
        bytes.chunks(each).for_each(|frame| out.extend_from_slice(frame));
        black_box(&out);
    }
    times * MADE
}

/// The params of the same notification.
#[derive(Serialize)]
struct Piece<'a> {
    turn: &'a str,
    chunk: &'a str,
}

/// Ours: a notification is written and framed.
fn write_all(times: u64) -> Result<u64> {
    let (mut out, chunk) = (BytesMut::new(), "the answer goes on word by word, as answers do ".repeat(3));
    for _ in 0..times {
        out.clear();
        for _ in 0..MADE {
            let piece = Piece { turn: "m1", chunk: black_box(chunk.get(..128).unwrap_or_default()) };
            content_length::frame(&write::notification("$/partialResult", &piece)?, &mut out);
        }
        black_box(&out);
    }
    Ok(times * MADE)
}

/// Opens the session that the messages are for.
fn open(dialect: &mut Plain, now: Time, said: &mut Vec<Word>) -> Result<()> {
    let mut asked = Vec::new();
    dialect.ask(now, Ask::open(SessionId(1), "/".into()), &mut asked);
    let asked: serde_json::Value = serde_json::from_slice(asked.first().context("no ask")?)?;
    let answer =
        serde_json::json!({"type": "session-created", "requestId": asked["requestId"], "sessionId": "s1"}).to_string();
    dialect.read(now, &Bytes::from(answer), said)?;
    said.clear();
    Ok(())
}

fn lsp(mut bytes: &[u8]) -> u64 {
    let mut found = 0;
    while let Ok(Some(message)) = lsp_server::Message::read(&mut bytes) {
        black_box(message);
        found += 1;
    }
    found
}
