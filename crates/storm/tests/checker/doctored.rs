//! A log that is right and a journal that is right, for tests to doctor.

use serde_json::{Value, json};
use switchboard_storm::check::{Body, Log, Record, Shown, TurnRow};

pub(crate) const TAB: &str = "tab";

fn json_record(seq: u64, turn: u32, body: Value) -> Record {
    Record { seq, at: 1000 + seq, turn, body: Body::Json(body) }
}

fn text(seq: u64, turn: u32, text: &str) -> Record {
    Record { seq, at: 1000 + seq, turn, body: Body::Text(text.to_owned()) }
}

/// Two turns: one that counted to three, one that was cancelled after its first word.
pub(crate) fn log() -> Log {
    let queued = |name: &str, text: &str, position: u32| json!({"type": "promptQueued", "name": name, "prompt": {"text": text}, "position": position});
    let started = || json!({"type": "turnStarted"});
    let records = vec![
        json_record(1, 0, json!({"type": "sessionOpened", "agent": "demo", "workspace": "/w"})),
        json_record(2, 1, queued("m1", "demo: fast 3", 0)),
        json_record(3, 1, started()),
        text(4, 1, "1 "),
        text(5, 1, "2 "),
        text(6, 1, "3 "),
        json_record(7, 1, json!({"type": "turnEnded", "outcome": "completed"})),
        json_record(8, 2, queued("m2", "tell 9", 0)),
        json_record(9, 2, started()),
        text(10, 2, "m2/1 "),
        json_record(11, 2, json!({"type": "cancelAsked"})),
        json_record(12, 2, json!({"type": "turnEnded", "outcome": "cancelled"})),
    ];
    let row = |turn, name: &str, queued| TurnRow { turn, name: name.to_owned(), queued, phase: 2 };
    let turns = vec![row(1, "m1", 2), row(2, "m2", 8)];
    Log { session: 1, epoch: 5, tab: Some(TAB.to_owned()), records, turns }
}

/// What a view is shown of that log: everything but the wish to cancel.
pub(crate) fn journal() -> Vec<Shown> {
    let messages = [
        json!({"type": "tab-opened", "tabId": TAB, "index": 1}),
        json!({"type": "prompt-queued", "tabId": TAB, "index": 2, "messageId": "m1", "text": "demo: fast 3", "position": 0}),
        json!({"type": "prompt-started", "tabId": TAB, "index": 3, "messageId": "m1"}),
        json!({"type": "response-chunk", "tabId": TAB, "index": 4, "messageId": "m1", "chunk": "1 "}),
        json!({"type": "response-chunk", "tabId": TAB, "index": 5, "messageId": "m1", "chunk": "2 "}),
        json!({"type": "response-chunk", "tabId": TAB, "index": 6, "messageId": "m1", "chunk": "3 "}),
        json!({"type": "response-complete", "tabId": TAB, "index": 7, "messageId": "m1", "reason": "completed"}),
        json!({"type": "prompt-queued", "tabId": TAB, "index": 8, "messageId": "m2", "text": "tell 9", "position": 0}),
        json!({"type": "prompt-started", "tabId": TAB, "index": 9, "messageId": "m2"}),
        json!({"type": "response-chunk", "tabId": TAB, "index": 10, "messageId": "m2", "chunk": "m2/1 "}),
        json!({"type": "response-complete", "tabId": TAB, "index": 12, "messageId": "m2", "reason": "cancelled"}),
    ];
    messages.iter().map(shown).collect()
}

pub(crate) fn shown(message: &Value) -> Shown {
    Shown { index: message["index"].as_u64().unwrap(), raw: message.to_string() }
}
