//! Tricks that have the host do something: call a tool, run a command, edit a file. Does nothing itself; the host asks you
//! first.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::turn::{News, Stopped, Turn};
use super::wire::{self, Said};

/// Calls so far.
static CALLS: AtomicU64 = AtomicU64::new(1);
/// What `demo: run` runs if nobody says.
const COMMAND: &str = "ls -la";
/// The file that `demo: edit` edits.
const FILE: &str = "switchboard-demo.md";
/// How the line begins that it changes.
const COUNTED: &str = "Edited so often: ";

/// Calls a tool and says what came back.
pub(super) fn tool(turn: &Turn) -> Result<(), Stopped> {
    turn.say("I call a tool. ")?;
    match call(turn, "list_files", json!({ "path": "." }))? {
        Ok(data) => turn.say(&format!("it worked: {data}")),
        Err(error) => turn.say(&format!("it failed: {error}")),
    }
}

/// Asks to run a command and says what it wrote.
pub(super) fn run(turn: &Turn, command: &str) -> Result<(), Stopped> {
    let command = if command.trim().is_empty() { COMMAND } else { command.trim() };
    turn.say(&format!("I would like to run this:\n\n```sh\n{command}\n```\n\n"))?;
    match call(turn, "run_terminal_command", json!({ "command": command }))? {
        Ok(data) => {
            let code = data.get("exitCode").unwrap_or(&Value::Null);
            let output = data.get("output").and_then(Value::as_str).unwrap_or_default();
            turn.say(&format!("It ended with {code} and wrote:\n\n```text\n{}\n```\n", output.trim_end()))
        }
        Err(error) => turn.say(&refused(&error)),
    }
}

/// Asks to write a file if it is not there, and to change a line of it.
pub(super) fn edit(turn: &Turn) -> Result<(), Stopped> {
    turn.say(&format!("I would like to change `{FILE}`. "))?;
    let text = match call(turn, "read_file", json!({ "path": FILE }))? {
        Ok(data) => data.get("content").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Err(_) => {
            let fresh = format!("# A file of the demo agent\n\nDelete it whenever you like.\n\n{COUNTED}0\n");
            let written = call(turn, "write_file", json!({ "path": FILE, "content": &fresh }))?;
            if let Err(error) = written {
                return turn.say(&refused(&error));
            }
            turn.say("It was not there, so I wrote it. ")?;
            fresh
        }
    };
    let Some(line) = text.lines().find(|line| line.starts_with(COUNTED)) else {
        return turn.say("Somebody has changed it so much that I do not know my line any more; I leave it alone.");
    };
    let times: u64 = line.strip_prefix(COUNTED).and_then(|times| times.trim().parse().ok()).unwrap_or(0);
    let parameters = json!({ "path": FILE, "oldText": line, "newText": format!("{COUNTED}{}", times + 1) });
    match call(turn, "edit_file", parameters)? {
        Ok(_) => turn.say(&format!("Now it says that it was edited {} times.", times + 1)),
        Err(error) => turn.say(&refused(&error)),
    }
}

/// Calls a tool of the host and waits for what comes of it, however long a person thinks about it.
fn call(turn: &Turn, tool_name: &str, parameters: Value) -> Result<Result<Value, Value>, Stopped> {
    turn.check()?;
    // No other call has this name, of this process or of one before it.
    let call_id = &format!("demo-{}-{}", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed));
    wire::say(&Said::ToolCall { session_id: turn.session(), call_id, tool_name, parameters });
    loop {
        match turn.listen()? {
            News::Tool { call, outcome } if call == *call_id => return Ok(outcome),
            News::Look | News::Tool { .. } | News::Approval { .. } => {}
        }
    }
}

fn refused(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("nobody says why");
    format!("It was not done: {message}.")
}
