//! Views of the dialect `chat` over a real WebSocket: every message of both directions, held against the schemas that the program
//! itself prints, and the mistakes that such a view and its host can make.

mod comings;
mod conversation;
mod cost;
mod deletions;
mod kinds;
mod lists;
mod questions;
mod settings;
mod switches;

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::host::{Host, Place};
use super::view::View;

/// An agent that calls the tool which its prompt names, and says what came of it.
const CALLER: &str = r#"exec python3 -u -c '
import json, sys
def say(**said): print(json.dumps(said), flush=True)
count, asked = 0, {}
for line in sys.stdin:
    got = json.loads(line)
    if got["type"] == "new-session":
        count += 1
        say(type="session-created", requestId=got["requestId"], sessionId="s%d" % count)
    elif got["type"] == "process-prompt":
        wanted = json.loads(got["text"])
        asked[got["sessionId"]] = got["messageId"]
        say(type="tool-call", sessionId=got["sessionId"], callId="k" + got["messageId"], toolName=wanted["tool"], parameters=wanted["parameters"])
    elif got["type"] == "tool-result":
        name = asked[got["sessionId"]]
        said = "done" if got["success"] else "refused"
        say(type="response-chunk", sessionId=got["sessionId"], messageId=name, chunk=said)
        say(type="response-complete", sessionId=got["sessionId"], messageId=name)
'
"#;

/// What `switchboard schema --dialect chat` says, by type.
struct Published {
    to_host: Validator,
    to_view: BTreeMap<String, Validator>,
}

impl Published {
    fn by(place: &Place) -> Self {
        let out = place.command(&["schema", "--dialect", "chat", "--json"]).output().unwrap();
        let schema: Value = serde_json::from_slice(&out.stdout).unwrap();
        let whole = |shape: &Value| {
            let mut whole = shape.clone();
            whole["$defs"] = schema["hostToView"]["$defs"].clone();
            (
                shape["properties"]["type"]["const"].as_str().unwrap().to_owned(),
                jsonschema::validator_for(&whole).unwrap(),
            )
        };
        let to_view = schema["hostToView"]["oneOf"].as_array().unwrap().iter().map(whole).collect();
        Self { to_host: jsonschema::validator_for(&schema["viewToHost"]).unwrap(), to_view }
    }
}

/// A view that knows what it said.
struct Screen {
    view: View,
    schema: Published,
    said: BTreeSet<String>,
    /// The session that was loaded last.
    session: String,
}

impl Screen {
    /// A link that has said nothing yet.
    async fn open(place: &Place, host: &Host) -> Self {
        let view = View::connect_in("chat", host.address(), host.token()).await;
        Self { view, schema: Published::by(place), said: BTreeSet::new(), session: String::new() }
    }

    /// A link with a session.
    async fn start(place: &Place, host: &Host) -> Self {
        let mut screen = Self::open(place, host).await;
        screen.ready(json!({})).await;
        screen
    }

    /// Says `ready` and waits for all of its answer.
    async fn ready(&mut self, mut more: Value) {
        more["type"] = "ready".into();
        self.say(more).await;
        self.loaded().await;
    }

    async fn say(&mut self, message: Value) {
        assert!(self.schema.to_host.is_valid(&message), "{message}");
        self.said.insert(message["type"].as_str().unwrap().to_owned());
        self.view.send(message).await;
    }

    async fn prompt(&mut self, text: &str) {
        self.say(json!({"type": "sendMessage", "text": text, "context": []})).await;
    }

    /// Waits for a session to be loaded, with all that comes of it; the messages.
    async fn loaded(&mut self) -> Value {
        let loaded = self.wait("loadSessionMessages").await;
        self.session = loaded["sessionId"].as_str().unwrap().to_owned();
        self.wait_where("its state", |message| {
            message["type"] == "generationStarted" || message["type"] == "generationStopped"
        })
        .await;
        loaded["messages"].clone()
    }

    async fn load(&mut self, session: &str) -> Value {
        self.say(json!({"type": "loadSession", "sessionId": session})).await;
        self.loaded().await
    }

    async fn new_chat(&mut self) {
        self.say(json!({"type": "newChat"})).await;
        self.loaded().await;
    }

    async fn wait(&mut self, kind: &str) -> Value {
        self.view.wait_type(kind).await
    }

    async fn wait_where(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        self.view.wait_for(what, holds).await
    }

    /// Waits until a session's last status is this one, whenever it was told.
    async fn has_status(&mut self, session: &str, status: &str) {
        let last = |told: &[Value]| {
            let of = |one: &&Value| one["type"] == "updateSessionStatus" && one["sessionId"] == session;
            told.iter().rfind(of).is_some_and(|one| one["status"] == status)
        };
        while !last(&self.view.told) {
            assert!(self.view.next().await.is_some(), "the link ended: {:#?}", self.view.told);
        }
    }

    /// A prompt and all of its answer.
    async fn answer(&mut self, text: &str) -> String {
        self.prompt(text).await;
        let answer = self.wait("finalMessage").await["content"].as_str().unwrap().to_owned();
        self.wait("generationStopped").await;
        answer
    }

    /// Everything that was sent to this link so far has arrived when this has.
    async fn sync(&mut self) -> Value {
        self.say(json!({"type": "loadMoreSessions", "offset": 1_000_000})).await;
        self.wait("appendSessions").await
    }

    fn told(&self, kind: &str) -> Vec<Value> {
        self.view.told.iter().filter(|message| message["type"] == kind).cloned().collect()
    }

    /// Holds everything that was told against the schemas; each of these (`> ready` was said, `< init` was told) was among it.
    fn covers(&self, names: &[&str]) {
        for message in &self.view.told {
            let kind = message["type"].as_str().unwrap();
            let check = self.schema.to_view.get(kind).unwrap_or_else(|| panic!("no shape for {message}"));
            assert!(check.is_valid(message), "{message}: {:?}", check.validate(message));
        }
        for name in names {
            let (way, kind) = name.split_once(' ').unwrap();
            let found = if way == ">" { self.said.contains(kind) } else { !self.told(kind).is_empty() };
            assert!(found, "{name} was not seen: {:?}", self.said);
        }
    }
}

fn kinds(told: &[Value]) -> Vec<&str> {
    told.iter().map(|message| message["type"].as_str().unwrap()).collect()
}
