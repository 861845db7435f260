//! The agent that the bench streams from: `plain` as an agent of the host, `lines` and `rpc` for the raw limit and the
//! peer. Says nothing that it is not asked for.

use std::fs::File;
use std::io::{self, BufRead as _, Write};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use switchboard_bench::load::Load;
use switchboard_bench::mold::Mold;

/// Prompts that are streamed side by side; more wait in the pipe.
const MAX_STREAMS: usize = 256;

/// Standard output without a buffer that would hold a message back; one write is never mixed with another.
#[derive(Clone)]
struct Out(Arc<Mutex<File>>);

impl Out {
    fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(Mutex::new(io::stdout().as_fd().try_clone_to_owned()?.into()))))
    }

    fn say(&mut self, line: &Value) -> io::Result<()> {
        self.write_all(format!("{line}\n").as_bytes())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-agent: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut out = Out::new().context("standard output")?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((vocabulary, [])) if vocabulary == "plain" => plain(&mut out),
        Some((vocabulary, load)) => {
            let mut mold = match vocabulary.as_str() {
                "lines" => Mold::plain("s1", "m1"),
                "rpc" => Mold::rpc(),
                other => bail!("there is no vocabulary `{other}`; there are plain, lines and rpc"),
            };
            let load: Load = load.join(" ").parse().map_err(anyhow::Error::msg)?;
            load.stream(&mut mold, &mut out).context("standard output")
        }
        None => bail!("usage: bench-agent plain | (lines | rpc) (flat COUNT | paced RATE COUNT)"),
    }
}

/// A prompt's text is the load; several sessions stream side by side.
fn plain(out: &mut Out) -> Result<()> {
    let mut opened = 0_u64;
    let mut streams: Vec<thread::JoinHandle<io::Result<()>>> = Vec::new();
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.context("standard input")?).context("what the host said")?;
        match asked["type"].as_str() {
            Some("new-session") => {
                opened += 1;
                let name = format!("s{opened}");
                out.say(&json!({"type": "session-created", "requestId": asked["requestId"], "sessionId": name}))?;
            }
            Some("process-prompt") => {
                streams.retain(|stream| !stream.is_finished());
                if streams.len() >= MAX_STREAMS {
                    bail!("more than {MAX_STREAMS} prompts at one time");
                }
                let out = out.clone();
                streams.push(thread::spawn(move || turn(&asked, out)));
            }
            // Sessions hold nothing, and a stream is short.
            _ => {}
        }
    }
    Ok(())
}

fn turn(asked: &Value, mut out: Out) -> io::Result<()> {
    let (session, turn) = (asked["sessionId"].as_str().unwrap_or(""), asked["messageId"].as_str().unwrap_or(""));
    match asked["text"].as_str().unwrap_or("").parse::<Load>() {
        // Locked for a block at a time, so that sessions take turns.
        Ok(load) => load.stream(&mut Mold::plain(session, turn), &mut out)?,
        Err(wrong) => return out.say(&json!({"type": "error", "sessionId": session, "message": wrong})),
    }
    out.say(&json!({"type": "response-complete", "sessionId": session, "messageId": turn}))
}
