//! A model's server of the bench: chat completions that stream from memory as fast as they are taken. Thinks nothing.
//!
//! Prints `{"port": N}` when it listens. A prompt whose last line is `flat N` is answered by N tokens, whatever else by one. The
//! end of standard input ends it.

use std::io::{self, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use switchboard_bench::http::{answer, read};
use switchboard_bench::tokens::{self, MODEL};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-model: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").context("listen")?;
    println!("{}", json!({ "port": listener.local_addr()?.port() }));
    thread::spawn(move || {
        for peer in listener.incoming().flatten() {
            // A peer that leaves is no matter.
            thread::spawn(move || drop(serve(peer)));
        }
    });
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}

fn serve(mut peer: TcpStream) -> Result<()> {
    peer.set_nodelay(true)?;
    let mut reader = BufReader::new(peer.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/v1/models") => {
                answer(&peer, "200 OK", &json!({"object": "list", "data": [{"id": MODEL, "object": "model"}]}))?;
            }
            ("POST", "/v1/chat/completions") => {
                let asked: Value = serde_json::from_slice(&request.body)?;
                tokens::stream(wanted(&asked), request.body.len(), &mut peer)?;
                // The end of the link is the end of the answer, so that nothing is counted or chunked.
                return Ok(());
            }
            _ => answer(&peer, "404 Not Found", &json!({"error": {"message": "there is no such door"}}))?,
        }
        peer.flush()?;
    }
    Ok(())
}

/// How many tokens the last prompt asks for.
fn wanted(asked: &Value) -> u64 {
    let last = asked["messages"].as_array().into_iter().flatten().rev().find(|one| one["role"] == "user");
    let content = last.map(|one| &one["content"]);
    let text = match content {
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part["text"].as_str()).next_back(),
        Some(text) => text.as_str(),
        None => None,
    };
    let line = text.and_then(|text| text.lines().next_back()).unwrap_or_default();
    line.strip_prefix("flat ").and_then(|count| count.trim().parse().ok()).unwrap_or(1)
}
