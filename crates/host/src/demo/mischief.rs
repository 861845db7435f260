//! Tricks that misbehave, so that a host can be tried: noise, endless lines, silence and sudden ends. Harms nobody else.

use std::process;
use std::thread;

use super::trick::After;
use super::turn::{Stopped, Turn};
use super::wire::{self, Said};

/// How the process exits when it is told to crash.
const CRASH_CODE: i32 = 3;

/// One chunk in one line of so many megabytes, which comes in pieces.
pub(super) fn long(turn: &Turn, megabytes: usize) -> Result<(), Stopped> {
    let mut line = Vec::new();
    wire::append(&mut line, &turn.chunk("LONG"));
    let line = String::from_utf8_lossy(&line).into_owned();
    let (head, tail) = line.split_once("LONG").unwrap_or((&line, ""));
    let megabyte = "x".repeat(1024 * 1024);
    // A line that was begun must be ended, or the next words would be lost in it; so no check in here.
    let middle = std::iter::repeat_n(megabyte.as_bytes(), megabytes);
    wire::write_pieces(std::iter::once(head.as_bytes()).chain(middle).chain([tail.as_bytes()]));
    turn.say("That was a long line.")
}

/// All sorts of noise, then a proper answer.
pub(super) fn garbage(turn: &Turn) -> Result<(), Stopped> {
    turn.check()?;
    wire::write(b"this is no JSON\n\n   \n");
    wire::write(b"\x00\x01\xff\xfe\x80\x1b[31mred\x1b[0m\n");
    wire::write(b"{\"type\":\"response-chunk\",\"sessionId\":\n");
    wire::write(b"[1,2,3]\n\"text\"\nnull\n{}\n{\"type\":42}\n{\"type\":\"response-chunk\"}\n");
    wire::write(b"{\"type\":\"response-chunk\",\"sessionId\":\"nobody\",\"chunk\":\"for nobody\"}\n");
    wire::write(b"{\"type\":\"response-complete\",\"sessionId\":\"nobody\"}\n");
    wire::write(format!("{}\n", "[".repeat(10_000)).as_bytes());
    wire::write(format!("{}\n", "z".repeat(1024 * 1024)).as_bytes());
    eprintln!("noise on the error output \u{1b}[31mtoo");
    turn.say("After all the noise, an answer.")
}

/// Says that the turn failed.
pub(super) fn error(turn: &Turn) -> Result<After, Stopped> {
    turn.say("I try, but ")?;
    let message = "the demo agent was asked to fail";
    wire::say(&Said::Error { request_id: None, session_id: Some(turn.session()), message });
    Ok(After::Nothing)
}

/// Never answers, whatever is asked.
pub(super) fn hang() -> ! {
    loop {
        thread::park();
    }
}

/// Says so many chunks, then dies.
pub(super) fn crash(turn: &Turn, chunks: usize) -> Result<(), Stopped> {
    for number in 1..=chunks {
        turn.say(&format!("{number} "))?;
    }
    eprintln!("demo agent: I was told to crash");
    process::exit(CRASH_CODE)
}

/// Begins a line and exits.
pub(super) fn half(turn: &Turn) -> Result<(), Stopped> {
    turn.say("The next line is ")?;
    wire::write(b"{\"type\":\"response-chunk\",\"sessionId\":\"");
    process::exit(0)
}

/// Exits as if all were well.
pub(super) fn exit() -> ! {
    process::exit(0)
}
