//! An engine of the bench: sessions over HTTP, whose events stream from memory as fast as they are taken. Remembers nothing
//! that was sent, and thinks nothing.
//!
//! Prints `{"port": N}` when it listens. An input `flat N` streams N pieces of an answer to whoever follows the session. The
//! door `/bare` answers like a stream with one event, and is the limit of coming back. The end of standard input ends it.

use std::collections::HashMap;
use std::io::{self, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use switchboard_bench::http::{answer, read};
use switchboard_bench::stream::{BARE_EVENT, Numbered, STREAM_HEAD};

/// How long an input waits for somebody who follows.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes that are written at once.
const BLOCK_BYTES: usize = 64 * 1024;

#[derive(Default)]
struct Sessions {
    all: Mutex<HashMap<String, Session>>,
    followed: Condvar,
}

#[derive(Default)]
struct Session {
    seq: u64,
    turn: u32,
    followers: Vec<TcpStream>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-engine: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").context("listen")?;
    println!("{}", json!({ "port": listener.local_addr()?.port() }));
    let sessions = Arc::new(Sessions::default());
    thread::spawn(move || {
        for peer in listener.incoming().flatten() {
            let sessions = Arc::clone(&sessions);
            // A peer that leaves is no matter.
            thread::spawn(move || drop(serve(&sessions, peer)));
        }
    });
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}

fn serve(sessions: &Sessions, peer: TcpStream) -> Result<()> {
    peer.set_nodelay(true)?;
    let mut reader = BufReader::new(peer.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        let parts: Vec<&str> = request.path.split('?').next().unwrap_or_default().split('/').skip(1).collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["bare"]) => {
                (&peer).write_all(STREAM_HEAD.as_bytes())?;
                (&peer).write_all(BARE_EVENT.as_bytes())?;
            }
            ("GET", ["v1", "sessions", id, "events"]) => {
                (&peer).write_all(STREAM_HEAD.as_bytes())?;
                sessions.lock().entry((*id).to_owned()).or_default().followers.push(peer.try_clone()?);
                sessions.followed.notify_all();
            }
            ("POST", ["v1", "sessions", id, "input"]) => {
                answer(&peer, "202 Accepted", &json!({"turn_id": "1", "queued": false}))?;
                let input: Value = serde_json::from_slice(&request.body)?;
                stream(sessions, id, &input)?;
            }
            ("POST", ["v1", "sessions", _, "command"]) => {
                answer(&peer, "202 Accepted", &json!({"status": "accepted"}))?;
            }
            ("POST", ["v1", "sessions"]) => {
                let mut all = sessions.lock();
                let id = format!("s{}", all.len() + 1);
                all.insert(id.clone(), Session::default());
                answer(&peer, "201 Created", &json!({"session_id": id, "status": "running"}))?;
            }
            ("GET", ["v1", "sessions"]) => answer(&peer, "200 OK", &json!({"sessions": []}))?,
            ("GET", ["v1", "sessions", id]) => {
                answer(&peer, "200 OK", &json!({"session_id": id, "status": "running"}))?;
            }
            ("DELETE", ["v1", "sessions", _]) => (&peer).write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?,
            ("GET", ["v1", "health"]) => {
                let features = json!({"message_id": true});
                let health = json!({
                    "status": "ok", "protocol_version": "1.0", "engine_version": "bench", "features": features,
                });
                answer(&peer, "200 OK", &health)?;
            }
            _ => answer(&peer, "404 Not Found", &json!({"code": "not_found", "message": "there is no such door"}))?,
        }
    }
    Ok(())
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Streams a whole turn to whoever follows.
fn stream(sessions: &Sessions, id: &str, input: &Value) -> Result<()> {
    let text = input["content"].as_str().unwrap_or_default();
    let count = text.strip_prefix("flat ").and_then(|count| count.parse::<u64>().ok()).unwrap_or(1);
    let name = input["message_id"].as_str().unwrap_or("m1");
    let nobody = |all: &mut HashMap<String, Session>| all.get(id).is_none_or(|session| session.followers.is_empty());
    let waited = sessions.followed.wait_timeout_while(sessions.lock(), PATIENCE, nobody);
    let (mut all, waited) = waited.unwrap_or_else(PoisonError::into_inner);
    if waited.timed_out() {
        bail!("nobody follows {id}");
    }
    let session = all.entry(id.to_owned()).or_default();
    session.turn += 1;
    let mut events = Numbered { session: id.to_owned(), turn: session.turn, seq: session.seq, block: Vec::new() };
    events.push("user_message", &json!({"message_id": name, "text": text}).to_string());
    events.push("turn_start", "{}");
    for _ in 0..count {
        events.push_delta(name);
        if events.block.len() >= BLOCK_BYTES {
            session.followers.retain_mut(|follower| follower.write_all(&events.block).is_ok());
            events.block.clear();
        }
    }
    events.push("run_finished", &json!({"message_id": name, "reason": "completed", "eventCount": count}).to_string());
    session.followers.retain_mut(|follower| follower.write_all(&events.block).is_ok());
    session.seq = events.seq;
    Ok(())
}
