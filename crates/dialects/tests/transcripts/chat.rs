//! The transcripts of the dialect `chat`, those in `testdata/chat`.

use serde_json::{Value, json};
use switchboard_dialects::view::{Chat, ViewDialect, chat};
use switchboard_types::{
    Chore, Command, FollowFrom, LibraryRequest, LinkId, Reject, SessionRequest, SettingsRequest, SettingsScope, Time,
};

use crate::chat_told::told;
use crate::file::{Line, assert_all_shown, object, transcripts};

const LINK: LinkId = LinkId(7);

#[test]
fn every_transcript_is_what_the_dialect_does() {
    for (path, lines) in transcripts("chat") {
        let mut dialect = Chat::new();
        assert_eq!(dialect.begin(LINK), Some(Command::Watch { seen: Vec::new() }));
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}", path.display(), at + 1);
            let now = Time(line.at);
            match line.dir.as_deref() {
                Some("->") => {
                    let (gives, sends) = hears(&mut dialect, now, line);
                    assert_eq!(Some(gives), line.gives, "{place}");
                    assert_eq!(sends, line.sends(), "{place}");
                }
                Some("<-") => {
                    let told = told(line.from.as_ref().expect("a line with `<-` needs from"));
                    let said = said(|message| match &told {
                        Some(told) => dialect.write(now, told, message),
                        None => dialect.tick(now, message),
                    });
                    assert_eq!(said, line.messages(), "{place}");
                }
                other => assert_eq!(other, None, "{place}"),
            }
            let asks: Vec<Value> = std::iter::from_fn(|| dialect.asks()).map(|command| commanded(&command)).collect();
            assert_eq!(asks, line.asks, "{place}");
        }
    }
}

#[test]
fn every_message_of_both_directions_has_a_transcript() {
    assert_all_shown("chat", &chat::schema(), 23);
}

fn said(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<String> {
    let mut messages = Vec::new();
    write(&mut |message| messages.push(String::from_utf8(message.to_vec()).unwrap()));
    messages
}

/// What a message gives; what is said to it at once, refusals and the rest.
fn hears(dialect: &mut Chat, now: Time, line: &Line) -> (Value, Vec<String>) {
    let read = dialect.read(now, &line.incoming());
    let sends = match &read {
        Ok(_) if dialect.due() == Some(Time(0)) => said(|message| dialect.tick(now, message)),
        Ok(_) => Vec::new(),
        Err(reject) => said(|message| dialect.refuse(now, reject, message)),
    };
    let gives = match read {
        Ok(command) => commanded(&command),
        Err(Reject { code, message, .. }) => json!({"reject": code, "message": message}),
    };
    (gives, sends)
}

fn commanded(command: &Command) -> Value {
    match command {
        Command::Session { request, what } => {
            let mut said = asked(what);
            said["command"] = "session".into();
            said["request"] = json!(request);
            said
        }
        Command::Answer { request, session, approval, decision, command } => object([
            ("command", Some(json!("answer"))),
            ("request", Some(json!(request))),
            ("session", Some(json!(session))),
            ("approval", Some(json!(approval))),
            ("decision", Some(json!(decision))),
            ("edited", command.as_ref().map(|command| json!(command))),
        ]),
        Command::CallTools { request, calls, .. } => {
            let [call] = calls.as_slice() else { panic!("{calls:?}") };
            json!({"command": "call", "request": request, "tool": call.tool, "parameters": call.parameters, "session": call.session})
        }
        Command::Chore { request, what } => {
            json!({"command": "chore", "request": request, "what": chore(what)})
        }
        Command::WatchSettings {} => json!({"command": "watchSettings"}),
        Command::Ping { .. } => json!({"command": "nothing"}),
        other => panic!("the dialect has no word for this: {other:?}"),
    }
}

fn chore(what: &Chore) -> Value {
    match what {
        Chore::Library(LibraryRequest::Search(query)) => json!({"search": query.text, "order": query.order}),
        Chore::Library(LibraryRequest::Upkeep {}) => json!("upkeep"),
        Chore::Library(LibraryRequest::Rebuild {}) => json!("rebuild"),
        Chore::Settings(SettingsRequest::Save { scope: SettingsScope::User, change, .. }) => json!({"save": change}),
        Chore::Settings(SettingsRequest::SaveToken { token, base_url }) => {
            json!({"token": token.0, "baseUrl": base_url})
        }
        Chore::Settings(SettingsRequest::Test { base_url }) => json!({"test": base_url}),
        other => panic!("the dialect has no word for this: {other:?}"),
    }
}

fn asked(what: &SessionRequest) -> Value {
    match what {
        SessionRequest::Create { agent: None, workspace: None, task: None, .. } => json!({"what": "create"}),
        SessionRequest::List { before, limit } => object([
            ("what", Some(json!("list"))),
            ("limit", Some(json!(limit))),
            ("before", before.map(|place| json!([place.updated, place.session]))),
        ]),
        SessionRequest::Follow { session, from } => {
            let from = match from {
                FollowFrom::Start => json!("start"),
                FollowFrom::After(seen) => json!([seen.seq, seen.epoch]),
                other => panic!("the dialect has no word for this: {other:?}"),
            };
            json!({"what": "follow", "session": session, "from": from})
        }
        SessionRequest::Leave { session } => json!({"what": "leave", "session": session}),
        SessionRequest::Send { session, name, prompt, .. } => {
            json!({"what": "send", "session": session, "name": name, "prompt": prompt})
        }
        SessionRequest::Stop { session } => json!({"what": "stop", "session": session}),
        SessionRequest::Set { session, category, value } => {
            json!({"what": "set", "session": session, "category": category, "value": value})
        }
        SessionRequest::SetPolicy { session, change } => {
            json!({"what": "setPolicy", "session": session, "change": change})
        }
        SessionRequest::Delete { session } => json!({"what": "delete", "session": session}),
        SessionRequest::Files { session, what } => {
            json!({"what": "files", "session": session, "files": format!("{what:?}")})
        }
        other => panic!("the dialect has no word for this: {other:?}"),
    }
}
