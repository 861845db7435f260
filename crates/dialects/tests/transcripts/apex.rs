//! The transcripts of the dialect `apex`.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_dialects::agent::apex::{self, Apex, Setting};
use switchboard_dialects::agent::{AgentDialect, Noise};
use switchboard_types::ToolFailure;
use switchboard_types::agent::Past;
use switchboard_types::{Ask, CallId, Prompt, SessionId, Time, TurnName, Word, WorkspaceRoot};

use crate::file::{Line, object, shown_types, transcripts};
use crate::plain::texts;

fn dialect() -> Apex {
    let config = json!({ "level": 1 });
    Apex::new(Setting { config, platform: "linux".to_owned(), host_version: "0.1.0".to_owned() })
}

#[test]
fn every_transcript_is_what_the_dialect_does() {
    for (path, lines) in transcripts("apex") {
        let mut dialect = dialect();
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}", path.display(), at + 1);
            match line.dir.as_deref() {
                Some("->") => hears(&mut dialect, line, &place),
                Some("<-") => says(&mut dialect, line, &place),
                other => assert_eq!(other, None, "{place}"),
            }
        }
    }
}

#[test]
fn every_method_has_a_transcript() {
    let shown = shown_types("apex");
    let said = apex::AGENT_SAYS.map(|name| ("->", name)).into_iter();
    for (dir, name) in said.chain(apex::HOST_SAYS.map(|name| ("<-", name))) {
        assert!(shown.contains(&(dir.to_owned(), name.to_owned())), "no transcript with {dir} {name}");
    }
}

fn hears(dialect: &mut Apex, line: &Line, place: &str) {
    let (mut said, mut sends) = (Vec::new(), Vec::new());
    let read = dialect.read(Time(0), &Bytes::from(line.incoming()), &mut said);
    dialect.owed(&mut sends);
    check(line, &said, read, place);
    assert_eq!(texts(sends), line.sends(), "{place}");
}

fn says(dialect: &mut Apex, line: &Line, place: &str) {
    let (mut said, mut messages) = (Vec::new(), Vec::new());
    match asked(line.from.as_ref().expect("a line with `<-` needs from")) {
        Some(ask) => dialect.ask(Time(0), ask, &mut messages),
        None => dialect.farewell(&mut messages),
    }
    dialect.speak_for(&mut said);
    check(line, &said, Ok(()), place);
    assert_eq!(texts(messages), line.messages(), "{place}");
}

fn check(line: &Line, said: &[Word], read: Result<(), Noise>, place: &str) {
    let gives: Vec<Value> = said.iter().map(spoken).collect();
    assert_eq!(Value::from(gives), line.gives.clone().unwrap_or(json!([])), "{place}");
    assert_eq!(read.err().map(|noise| noise.reason), line.noise, "{place}");
}

fn spoken(word: &Word) -> Value {
    match word {
        Word::SessionOpened { session, memory, .. } => object([
            ("word", Some(json!("sessionOpened"))),
            ("session", Some(json!(session))),
            ("memory", memory.map(|memory| json!(memory))),
        ]),
        Word::Code { session, name, text } => json!({"word": "code", "session": session, "name": name, "text": text}),
        Word::Log { session, level, message } => {
            json!({"word": "log", "session": session, "level": level, "message": message})
        }
        Word::TurnDone { session, name, outcome, detail } => object([
            ("word", Some(json!("turnDone"))),
            ("session", Some(json!(session))),
            ("name", name.as_ref().map(|name| json!(name))),
            ("outcome", Some(json!(outcome))),
            ("detail", detail.as_ref().map(|detail| json!(detail))),
        ]),
        other => crate::plain::spoken(other),
    }
}

#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", deny_unknown_fields)]
enum Asking {
    OpenSession { session: SessionId, cwd: WorkspaceRoot, past: Option<bool> },
    Prompt { session: SessionId, name: TurnName, prompt: Prompt, recap: Option<String> },
    Cancel { session: SessionId, name: TurnName },
    CloseSession { session: SessionId },
    ToolResult { session: SessionId, call: CallId, data: Option<Value>, error: Option<Failure> },
    Configure { config: Value },
    Farewell {},
}

#[derive(Deserialize)]
struct Failure {
    code: String,
    message: String,
}

/// What is asked; none for the farewell.
fn asked(from: &Value) -> Option<Ask> {
    Some(match Asking::deserialize(from).unwrap() {
        Asking::OpenSession { session, cwd, past } => {
            let past = if past == Some(true) { Past::Spoken } else { Past::Blank };
            Ask::OpenSession { session, cwd, resume: None, past, elsewhere: None }
        }
        Asking::Prompt { session, name, prompt, recap } => Ask::Prompt { session, name, prompt, recap },
        Asking::Cancel { session, name } => Ask::Cancel { session, name },
        Asking::CloseSession { session } => Ask::CloseSession { session },
        Asking::ToolResult { session, call, data, error } => {
            let failed = error.map(|failure| ToolFailure::new(code(&failure.code), failure.message));
            Ask::ToolResult { session, call, result: failed.map_or(Ok(data.unwrap_or_default()), Err) }
        }
        Asking::Configure { config } => Ask::Configure { config },
        Asking::Farewell {} => return None,
    })
}

fn code(word: &str) -> switchboard_types::ToolCode {
    serde_json::from_value(word.into()).unwrap()
}
