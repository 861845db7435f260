//! `switchboard agent`: the built-in agent, an ACP agent on standard input and output. The loop itself is pure and lives in
//! `switchboard-agent`; here is what it touches: the client, the model's server, files, commands, its own memory on the disk.
//!
//! | module | owns |
//! | --- | --- |
//! | `start` | what it is started with: address, model, token, folders |
//! | `stdio` | lines in, lines out |
//! | `desk` | the one task: requests of the client, sessions, who owes whom an answer |
//! | `session` | one session: its worker, its prompts, what is being done for it |
//! | `far` | the model's server: what it has, and its answers as they stream |
//! | `deeds` | what a model wants done, through the client or by itself |
//! | `peer` | requests to the client, from whatever task |
//! | `shelf` | sessions on the disk |
//! | `show`, `replay` | what the client is told, while it happens and again |
//! | `prompt` | a prompt's blocks as the model gets them |
//! | `place`, `instructions` | the workspace's folder, and what it says to agents |
//!
//! Absent: rules of the loop, prompts for models, how a server wants to be asked.

mod deeds;
mod desk;
mod far;
mod instructions;
mod peer;
mod place;
mod prompt;
mod replay;
mod session;
mod shelf;
mod show;
mod start;
mod stdio;

pub use start::{Options, OptionsError, TOKEN, Wanted, WithInstructions, base_url_of_ollama};

/// Serves the client on standard input and output until it hangs up.
pub async fn run(options: Options) {
    let (lines, hear) = tokio::sync::mpsc::channel(stdio::MAX_LINES);
    let (say, written) = tokio::sync::mpsc::channel(stdio::MAX_LINES);
    tokio::spawn(stdio::read(tokio::io::stdin(), lines));
    let writing = tokio::spawn(stdio::write(tokio::io::stdout(), written));
    desk::Desk::new(options, say).serve(hear).await;
    // What is still to be written goes out; a client that does not read is not waited for.
    let _ = tokio::time::timeout(stdio::LAST_WORDS, writing).await;
}
