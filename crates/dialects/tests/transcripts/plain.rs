//! The transcripts of the dialect `plain`.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_dialects::agent::{AgentDialect, Plain, plain};
use switchboard_types::ToolFailure;
use switchboard_types::{
    Answer, ApprovalId, Ask, CallId, Prompt, Resolution, SessionId, Time, TurnName, Word, WorkspaceRoot,
};

use crate::file::{Line, object, shown_types, transcripts};

#[test]
fn every_transcript_is_what_the_dialect_does() {
    for (path, lines) in transcripts("plain") {
        let mut dialect = Plain::new();
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}", path.display(), at + 1);
            match line.dir.as_deref() {
                Some("->") => hears(&mut dialect, line, &place),
                Some("<-") => {
                    let mut messages = Vec::new();
                    let ask = asked(line.from.as_ref().expect("a line with `<-` needs from"));
                    dialect.ask(Time(0), ask, &mut messages);
                    assert_eq!(texts(messages), line.messages(), "{place}");
                }
                other => assert_eq!(other, None, "{place}"),
            }
        }
    }
}

#[test]
fn every_message_type_has_a_transcript() {
    let shown = shown_types("plain");
    let said = plain::AGENT_SAYS.map(|name| ("->", name)).into_iter();
    for (dir, name) in said.chain(plain::HOST_SAYS.map(|name| ("<-", name))) {
        assert!(shown.contains(&(dir.to_owned(), name.to_owned())), "no transcript with {dir} {name}");
    }
}

#[test]
fn what_the_agent_may_say_is_what_the_dialect_knows() {
    let mut known: Vec<_> =
        shown_types("plain").into_iter().filter(|(dir, _)| dir == "->").map(|(_, name)| name).collect();
    known.retain(|name| name != "mood");
    let mut said = plain::AGENT_SAYS.to_vec();
    said.sort_unstable();
    assert_eq!(known, said);
}

fn hears(dialect: &mut Plain, line: &Line, place: &str) {
    let (mut said, mut sends) = (Vec::new(), Vec::new());
    let read = dialect.read(Time(0), &Bytes::from(line.incoming()), &mut said);
    dialect.owed(&mut sends);
    let gives: Vec<Value> = said.iter().map(spoken).collect();
    assert_eq!(Value::from(gives), line.gives.clone().unwrap_or(json!([])), "{place}");
    assert_eq!(read.err().map(|noise| noise.reason), line.noise, "{place}");
    assert_eq!(texts(sends), line.sends(), "{place}");
}

pub(crate) fn texts(messages: Vec<Vec<u8>>) -> Vec<String> {
    messages.into_iter().map(|message| String::from_utf8(message).unwrap()).collect()
}

/// A word as the transcripts have it.
pub(crate) fn spoken(word: &Word) -> Value {
    let named = |kind: &str, session: &SessionId, name: &Option<TurnName>, text: Option<Value>| {
        object([
            ("word", Some(json!(kind))),
            ("session", Some(json!(session))),
            ("name", name.as_ref().map(|name| json!(name))),
            ("text", text),
        ])
    };
    match word {
        Word::SessionOpened { session, .. } => json!({"word": "sessionOpened", "session": session}),
        Word::OpenFailed { session, message } => json!({"word": "openFailed", "session": session, "message": message}),
        Word::Text { session, name, text } => named("text", session, name, Some(json!(text))),
        Word::Thought { session, name, text } => named("thought", session, name, Some(json!(text))),
        Word::Plan { session, entries } => json!({"word": "plan", "session": session, "entries": entries}),
        Word::TurnUsed { session, tokens, cost } => object([
            ("word", Some(json!("turnUsed"))),
            ("session", Some(json!(session))),
            ("tokens", Some(json!(tokens))),
            ("cost", cost.as_ref().map(|cost| json!(cost))),
        ]),
        Word::Status { session, message, progress } => object([
            ("word", Some(json!("status"))),
            ("session", Some(json!(session))),
            ("message", Some(json!(message))),
            ("progress", progress.map(|progress| json!(progress))),
        ]),
        Word::TurnDone { session, name, .. } => named("turnDone", session, name, None),
        Word::TurnFailed { session, message } => json!({"word": "turnFailed", "session": session, "message": message}),
        Word::ToolCall { session, call, tool, parameters } => {
            json!({"word": "toolCall", "session": session, "call": call, "tool": tool, "parameters": parameters})
        }
        Word::ApprovalWanted { session, approval } => {
            json!({"word": "approvalWanted", "session": session, "approval": approval})
        }
        Word::SessionEnded { session, reason } => object([
            ("word", Some(json!("sessionEnded"))),
            ("session", Some(json!(session))),
            ("reason", reason.as_ref().map(|reason| json!(reason))),
        ]),
        Word::Unknown { session, name, raw } => {
            json!({"word": "unknown", "session": session, "name": name, "raw": raw})
        }
        Word::Trouble { message } => json!({"word": "trouble", "message": message}),
        other => panic!("{other:?} is no word of this dialect"),
    }
}

#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", deny_unknown_fields)]
enum Asking {
    OpenSession { session: SessionId, cwd: WorkspaceRoot },
    Prompt { session: SessionId, name: TurnName, prompt: Prompt },
    Cancel { session: SessionId, name: TurnName },
    CloseSession { session: SessionId },
    ToolResult { session: SessionId, call: CallId, data: Option<Value>, error: Option<Failure> },
    ApprovalAnswer { session: SessionId, approval: ApprovalId, resolution: Resolution },
}

#[derive(Deserialize)]
struct Failure {
    code: String,
    message: String,
}

fn asked(from: &Value) -> Ask {
    match Asking::deserialize(from).unwrap() {
        Asking::OpenSession { session, cwd } => Ask::open(session, cwd),
        Asking::Prompt { session, name, prompt } => Ask::Prompt { session, name, prompt, recap: None },
        Asking::Cancel { session, name } => Ask::Cancel { session, name },
        Asking::CloseSession { session } => Ask::CloseSession { session },
        Asking::ToolResult { session, call, data, error } => {
            let failed = error.map(|failure| ToolFailure::new(code(&failure.code), failure.message));
            Ask::ToolResult { session, call, result: failed.map_or(Ok(data.unwrap_or_default()), Err) }
        }
        Asking::ApprovalAnswer { session, approval, resolution } => {
            Ask::ApprovalAnswer { session, approval, answer: Answer::Decided { resolution, option: None } }
        }
    }
}

fn code(word: &str) -> switchboard_types::ToolCode {
    serde_json::from_value(word.into()).unwrap()
}
