//! Tricks that behave: pace, volume, approvals, the environment, Unicode. Each ends by itself or when stopped.

use std::time::Duration;

use super::turn::{News, Stopped, Turn};
use super::wire::{self, Said};

/// Bytes of lines gathered before they are written.
const WRITE_BYTES: usize = 64 * 1024;
/// Text of one chunk of a flood.
const FLOOD_CHUNK_BYTES: usize = 64 * 1024;
/// From word to word when it is slow.
const SLOW_PACE: Duration = Duration::from_millis(250);

/// One word after the other, each after a pause.
pub(super) fn slow(turn: &Turn, words: usize) -> Result<(), Stopped> {
    for number in 1..=words {
        turn.say(&format!("word-{number} "))?;
        turn.pause(SLOW_PACE)?;
    }
    Ok(())
}

/// Many small chunks as fast as they can be written: `1 `, `2 `, `3 `, …
pub(super) fn fast(turn: &Turn, chunks: usize) -> Result<(), Stopped> {
    let mut lines = Vec::with_capacity(2 * WRITE_BYTES);
    for number in 1..=chunks {
        wire::append(&mut lines, &turn.chunk(&format!("{number} ")));
        if lines.len() >= WRITE_BYTES || number == chunks {
            turn.check()?;
            wire::write(&lines);
            lines.clear();
        }
    }
    Ok(())
}

/// A text letter by letter as fast as they can be written, so that whoever shows it has to show every half of it.
pub(super) fn spell(turn: &Turn, text: &str) -> Result<(), Stopped> {
    let mut lines = Vec::with_capacity(2 * WRITE_BYTES);
    for letter in text.chars() {
        wire::append(&mut lines, &turn.chunk(letter.encode_utf8(&mut [0; 4])));
        if lines.len() >= WRITE_BYTES {
            turn.check()?;
            wire::write(&lines);
            lines.clear();
        }
    }
    turn.check()?;
    wire::write(&lines);
    Ok(())
}

/// Large chunks as fast as they can be written.
pub(super) fn flood(turn: &Turn, megabytes: usize) -> Result<(), Stopped> {
    let chunk = "0123456789abcde\n".repeat(FLOOD_CHUNK_BYTES / 16);
    let mut line = Vec::new();
    wire::append(&mut line, &turn.chunk(&chunk));
    for _ in 0..megabytes * (1024 * 1024 / FLOOD_CHUNK_BYTES) {
        turn.check()?;
        wire::write(&line);
    }
    Ok(())
}

/// Asks for a person's consent and says what was decided. Runs nothing.
pub(super) fn approve(turn: &Turn) -> Result<(), Stopped> {
    let approval_id = "demo-approval-1";
    turn.say("I would like to run a command. ")?;
    wire::say(&Said::ApprovalRequest {
        session_id: turn.session(),
        approval_id,
        kind: "command",
        title: "List the files of the workspace",
        command: "ls -la",
        cwd: &turn.cwd,
        severity: "low",
        reason: "The demo agent asks before it pretends to run a command.",
    });
    loop {
        match turn.listen()? {
            News::Approval { approval, decision } if approval == approval_id => {
                return turn.say(&format!("You decided: {decision}. Nothing was run; this is a demo."));
            }
            News::Look | News::Tool { .. } | News::Approval { .. } => {}
        }
    }
}

/// The names, not the values, of its environment.
pub(super) fn env(turn: &Turn) -> Result<(), Stopped> {
    let mut names: Vec<_> = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.sort();
    turn.say(&names.join("\n"))
}

/// Text that is easily broken: each chunk is one character, some of which only make sense with their neighbours.
pub(super) fn unicode(turn: &Turn) -> Result<(), Stopped> {
    let text =
        "é ü 漢字 🦀 👩‍👩‍👧‍👦 🇩🇪 e\u{301} עברית العربية \u{202e}abc\u{202c} \u{2028}\u{feff} \u{0}\u{7f} \"quoted\" \\ done ";
    let mut lines = Vec::new();
    for character in text.chars() {
        wire::append(&mut lines, &turn.chunk(character.encode_utf8(&mut [0; 4])));
    }
    wire::append(&mut lines, &turn.chunk("LONE"));
    // Half of a surrogate pair cannot be said by a serializer, but anybody can write it.
    let lines = String::from_utf8_lossy(&lines).replace("\"LONE\"", "\"lone \\ud800 and a pair \\ud83e\\udd80\"");
    turn.check()?;
    wire::write(lines.as_bytes());
    Ok(())
}
