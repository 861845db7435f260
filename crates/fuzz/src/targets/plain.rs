//! The dialect `plain`: whatever an agent says, in whatever order, what goes back to it is JSON and what it said is bounded.

use bytes::Bytes;
use switchboard_dialects::agent::{AgentDialect, Plain};
use switchboard_types::{Ask, Prompt, SessionId, Time, TurnName, Word, WorkspaceRoot};
use switchboard_types::{ToolCode, ToolFailure};

/// One message a line. A line that begins with `!` is something that the host does meanwhile.
pub(crate) fn run(data: &[u8]) {
    let mut dialect = Plain::new();
    play(&mut dialect, data);
}

/// Plays a conversation, checks what both sides get, and gives what went out.
pub(crate) fn play(dialect: &mut dyn AgentDialect, data: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    dialect.begin(Time(0), &mut messages);
    dialect.ask(Time(0), open(0), &mut messages);
    for line in data.split(|byte| *byte == b'\n') {
        let mut said = Vec::new();
        match line.split_first() {
            Some((b'!', [choice, ..])) => {
                if let Some(ask) = ask(*choice) {
                    dialect.ask(Time(0), ask, &mut messages);
                    dialect.speak_for(&mut said);
                }
            }
            _ => {
                let frame = Bytes::copy_from_slice(line);
                if let Err(noise) = dialect.read(Time(0), &frame, &mut said) {
                    assert!(noise.reason.len() < 4096, "noise of {} bytes", noise.reason.len());
                }
                dialect.owed(&mut messages);
            }
        }
        check(&said);
    }
    dialect.farewell(&mut messages);
    for message in &messages {
        assert!(serde_json::from_slice::<serde::de::IgnoredAny>(message).is_ok(), "what goes out is no JSON");
    }
    messages
}

/// What it said can be shown and kept.
fn check(said: &[Word]) {
    for word in said {
        match word {
            Word::Text { text, .. } | Word::Thought { text, .. } | Word::Code { text, .. } => {
                let literal = [b"\"", text.as_escaped(), b"\""].concat();
                assert!(serde_json::from_slice::<String>(&literal).is_ok(), "streamed text is no string");
            }
            Word::Status { progress: Some(progress), .. } => assert!((0.0..=1.0).contains(progress)),
            _ => {}
        }
    }
}

fn open(session: u64) -> Ask {
    Ask::open(SessionId(session), WorkspaceRoot::from("/w"))
}

/// What the host may do meanwhile.
fn ask(choice: u8) -> Option<Ask> {
    let (session, name) = (SessionId(u64::from(choice >> 6)), TurnName::from("m"));
    Some(match choice % 8 {
        0 => open(session.0),
        1 => Ask::Prompt { session, name, prompt: Prompt { text: "p".to_owned(), context: Vec::new() }, recap: None },
        2 => Ask::Cancel { session, name },
        3 => Ask::CloseSession { session },
        4 => Ask::ToolResult { session, call: "c".into(), result: Ok(serde_json::json!({"a": 1})) },
        5 => {
            let failure = ToolFailure::new(ToolCode::Denied, "no");
            Ask::ToolResult { session, call: "c".into(), result: Err(failure) }
        }
        6 => Ask::Configure { config: serde_json::json!({"level": choice}) },
        _ => return None,
    })
}
