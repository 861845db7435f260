//! What is asked: the words of the command line, or standard input. Bounded, since a message is.

use std::io::{self, IsTerminal, Read};

use switchboard_types::limits::MAX_FRAME_BYTES;

use crate::cli::exit::Failure;

/// Room for what stands around the prompt in a message.
const AROUND_BYTES: usize = 4096;

/// The prompt; from standard input if it is `-`, or if nothing is said and the input is no terminal.
pub(super) fn read(words: &[String]) -> Result<String, Failure> {
    let prompt = match words {
        [] if io::stdin().is_terminal() => {
            return Err(Failure::usage("there is nothing to ask; say it after `run`, or send it through a pipe"));
        }
        [] => input()?,
        [dash] if dash == "-" => input()?,
        words => words.join(" "),
    };
    if prompt.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty"));
    }
    // In JSON some characters take more room than in the prompt.
    let length = serde_json::to_string(&prompt).map_or(usize::MAX, |json| json.len());
    if length > MAX_FRAME_BYTES - AROUND_BYTES {
        return Err(Failure::usage(format!("the prompt is too large; a message has at most {MAX_FRAME_BYTES} bytes")));
    }
    Ok(prompt)
}

fn input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_FRAME_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::failed(format!("standard input cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| Failure::usage("the prompt is not UTF-8"))
}
