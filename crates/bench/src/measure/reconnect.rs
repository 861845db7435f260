//! Streams of `/v1` that are cut all at once and come back with the last id that they have seen: the time until all of them
//! stand again and have the next event. The limit is the same connects, requests and one event from a bare socket.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::engine::authorized;
use super::{Bench, Findings, progress};
use crate::process::Program;
use crate::row::{Row, Unit};
use crate::stream::Counter;
use crate::subject::{Durability, Kind, Subject};

const PATIENCE: Duration = Duration::from_secs(120);
/// Events that the session has before it is followed.
const EVENTS: u64 = 100;

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let count = bench.extent.pick(50, 1000);
    let mut row = Row::new(format!("{count} streams back after a cut"), Unit::Millis);
    let subject = Subject::start(Kind::Ours(Durability::Full), &bench.places)?;
    let (port, bearer) = (subject.port(), format!("Authorization: Bearer {}\r\n", subject.token()));
    let made = authorized(port, "POST", "/v1/sessions", &bearer, &json!({"agent": "load"}))?;
    let session = made["session_id"].as_str().with_context(|| format!("no session in {made}"))?.to_owned();
    let path = format!("/v1/sessions/{session}");
    let input = json!({"content": format!("flat {EVENTS}")});
    authorized(port, "POST", &format!("{path}/input"), &bearer, &input)?;
    let id = nth_id(port, &format!("{path}/events?replay=true"), &bearer, EVENTS / 2)?;
    let ask = format!("{bearer}Last-Event-ID: {id}\r\n");
    let program = Program::start(&mut Command::new(bench.places.program("bench-engine")), &bench.places.log())?;
    let bare = program.ready["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("no port")?;
    for round in 0..bench.rounds {
        progress(&format!("reconnect, round {}", round + 1));
        for (figures, port, path, headers) in [
            (&mut row.ours, port, format!("{path}/events"), ask.as_str()),
            (&mut row.limit, bare, "/bare".to_owned(), ""),
        ] {
            let (streams, _) = standing(port, &path, headers, count)?;
            // The cut: all of them at once.
            drop(streams);
            let (_streams, took) = standing(port, &path, headers, count)?;
            figures.push(took);
        }
    }
    Ok(Findings { rows: vec![row], ..Findings::default() })
}

/// Opens so many streams and waits until each has got an event; milliseconds from the first to the last.
fn standing(port: u16, path: &str, headers: &str, count: usize) -> Result<(Vec<TcpStream>, f64)> {
    let start = Instant::now();
    let mut streams = (0..count).map(|_| follow(port, path, headers)).collect::<Result<Vec<_>>>()?;
    for stream in &mut streams {
        read_until(stream, |counter, _| counter.deltas > 0)?;
    }
    Ok((streams, start.elapsed().as_secs_f64() * 1e3))
}

fn follow(port: u16, path: &str, headers: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n{headers}\r\n");
    stream.write_all(head.as_bytes())?;
    Ok(stream)
}

/// Reads until enough has come; all that was read.
fn read_until(stream: &mut TcpStream, enough: impl Fn(&Counter, &[u8]) -> bool) -> Result<Vec<u8>> {
    let (mut counter, mut all, mut buffer) = (Counter::default(), Vec::new(), vec![0; 16 * 1024]);
    while !enough(&counter, &all) {
        let got = stream.read(&mut buffer)?;
        let bytes = buffer.get(..got).unwrap_or_default();
        all.extend_from_slice(bytes);
        counter.take(bytes);
        if got == 0 || (counter.deltas == 0 && !all.starts_with(b"HTTP/1.1 2")) {
            bail!("no stream but {}", String::from_utf8_lossy(&all));
        }
    }
    Ok(all)
}

/// The id of an event in the middle, where the turn is over.
fn nth_id(port: u16, path: &str, headers: &str, nth: u64) -> Result<String> {
    let mut stream = follow(port, path, headers)?;
    let over = |counter: &Counter, _: &[u8]| counter.deltas >= EVENTS;
    let text = String::from_utf8_lossy(&read_until(&mut stream, over)?).into_owned();
    let ids = text.lines().filter_map(|line| line.strip_prefix("id:")).map(str::trim);
    ids.skip(usize::try_from(nth)?).map(str::to_owned).next().context("no ids")
}
