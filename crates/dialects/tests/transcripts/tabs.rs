//! The transcripts of the dialect `tabs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_dialects::view::{Tabs, tabs};
use switchboard_types::{
    Body, Command, Epoch, Page, PageBuilder, Reject, RejectCode, Seq, TabId, TabSummary, Time, Told, TurnId, TurnName,
    TurnNames, Visibility,
};

use crate::file::{assert_all_shown, object, play, transcripts};

const CODES: [(&str, RejectCode); 8] = [
    ("bad_json", RejectCode::BadJson),
    ("bad_message", RejectCode::BadMessage),
    ("unknown_type", RejectCode::UnknownType),
    ("unknown_tab", RejectCode::UnknownTab),
    ("too_large", RejectCode::TooLarge),
    ("workspace_untrusted", RejectCode::WorkspaceUntrusted),
    ("agent_unavailable", RejectCode::AgentUnavailable),
    ("internal", RejectCode::Internal),
];

#[test]
fn every_transcript_is_what_the_dialect_does() {
    let given = |read: Result<Command, Reject>| match read {
        Ok(command) => commanded(&command),
        Err(reject) => rejected(&reject),
    };
    play("tabs", || Box::new(Tabs::new()), given, told);
}

#[test]
fn every_message_type_of_the_schema_has_a_transcript() {
    assert_all_shown("tabs", &tabs::schema(), 9);
}

#[test]
fn every_way_to_refuse_a_message_has_a_transcript() {
    let lines: Vec<_> = transcripts("tabs").into_iter().flat_map(|(_, lines)| lines).collect();
    for code in ["bad_json", "bad_message", "unknown_type", "too_large"] {
        let shown = lines.iter().any(|line| line.gives.as_ref().is_some_and(|gives| gives["reject"] == code));
        assert!(shown, "no transcript that is refused as {code}");
    }
    for (code, _) in CODES {
        let shown = lines.iter().any(|line| line.from.as_ref().is_some_and(|from| from["code"] == code));
        assert!(shown, "no transcript in which the host says {code}");
    }
}

fn rejected(reject: &Reject) -> Value {
    let code = CODES.iter().find(|(_, code)| *code == reject.code).unwrap().0;
    object([
        ("reject", Some(json!(code))),
        ("message", Some(json!(reject.message))),
        ("tabId", reject.tab.as_ref().map(|tab| json!(tab))),
        ("messageId", reject.turn.as_ref().map(|name| json!(name))),
    ])
}

fn commanded(command: &Command) -> Value {
    match command {
        Command::Ready { seen } => {
            let seen: Vec<_> = seen.iter().map(|(tab, seen)| (tab, seen.seq)).collect();
            json!({"command": "ready", "seen": seen})
        }
        Command::OpenTab { tab, agent, workspace, seen } => object([
            ("command", Some(json!("openTab"))),
            ("tab", Some(json!(tab))),
            ("agent", agent.as_ref().map(|agent| json!(agent))),
            ("workspace", workspace.as_ref().map(|workspace| json!(workspace))),
            ("seen", Some(json!(seen.seq))),
        ]),
        Command::Prompt { tab, name, prompt } => {
            json!({"command": "prompt", "tab": tab, "name": name, "prompt": prompt})
        }
        Command::Cancel { tab, name } => json!({"command": "cancel", "tab": tab, "name": name}),
        Command::CloseTab { tab } => json!({"command": "closeTab", "tab": tab}),
        Command::Visibility(visibility) => {
            json!({"command": "visibility", "visible": *visibility == Visibility::Visible})
        }
        Command::Ack { tab, seq } => json!({"command": "ack", "tab": tab, "seq": seq}),
        Command::Decide { tab, approval, decision, command, option } => object([
            ("command", Some(json!("decide"))),
            ("tab", Some(json!(tab))),
            ("approval", Some(json!(approval))),
            ("decision", Some(json!(decision))),
            ("edited", command.as_ref().map(|command| json!(command))),
            ("option", option.as_ref().map(|option| json!(option))),
        ]),
        Command::RestartAgent { tab } => json!({"command": "restartAgent", "tab": tab}),
        Command::Watch { .. }
        | Command::OpenSession { .. }
        | Command::LeaveTab { .. }
        | Command::Trust { .. }
        | Command::History { .. }
        | Command::DeleteSession { .. }
        | Command::SetOption { .. }
        | Command::SignIn { .. }
        | Command::AddAgent { .. }
        | Command::Session { .. }
        | Command::Ping { .. }
        | Command::ListTools { .. }
        | Command::CallTools { .. }
        | Command::CancelCall { .. }
        | Command::ListCalls { .. }
        | Command::LendTools { .. }
        | Command::LentResult { .. }
        | Command::WatchApprovals { .. }
        | Command::Answer { .. }
        | Command::SetPolicy { .. }
        | Command::WatchRules { .. }
        | Command::RemoveRule { .. }
        | Command::Chore { .. }
        | Command::WatchSettings {} => panic!("the dialect has no word for this: {command:?}"),
    }
}

#[derive(Deserialize)]
#[serde(tag = "told", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Saying {
    Tabs { tabs: Vec<Tab> },
    Events { tab: TabId, first: Seq, turns: BTreeMap<String, TurnName>, events: Vec<Written> },
    Gap { tab: TabId, from: Seq, to: Seq },
    Reset { tab: TabId },
    Refused { code: String, message: String, tab_id: Option<TabId>, message_id: Option<TurnName> },
}

#[derive(Deserialize)]
struct Tab {
    tab: TabId,
    title: String,
    head: Seq,
}

#[derive(Deserialize)]
struct Written {
    turn: Option<TurnId>,
    body: Option<Body>,
}

fn told(from: &Value) -> Told {
    match Saying::deserialize(from).unwrap() {
        Saying::Tabs { tabs } => {
            let summary = |tab: Tab| TabSummary { tab: tab.tab, title: tab.title, head: tab.head };
            Told::Tabs { tabs: tabs.into_iter().map(summary).collect() }
        }
        Saying::Events { tab, first, turns, events } => {
            let name = |(turn, name): (String, TurnName)| (TurnId(turn.parse().unwrap()), name);
            let names: Vec<_> = turns.into_iter().map(name).collect();
            Told::Events {
                tab,
                page: Arc::new(page(first, &events)),
                names: TurnNames::new(names),
                epoch: Epoch(7),
                home: Default::default(),
            }
        }
        Saying::Gap { tab, from, to } => Told::Gap { tab, from, to },
        Saying::Reset { tab } => Told::Reset { tab },
        Saying::Refused { code, message, tab_id, message_id } => {
            let code = CODES.iter().find(|(name, _)| *name == code).unwrap().1;
            Told::Refused(Reject { code, message, tab: tab_id, turn: message_id, window: None })
        }
    }
}

fn page(first: Seq, events: &[Written]) -> Page {
    let (mut records, mut last) = (BytesMut::new(), Seq(first.0 - 1));
    for event in events {
        last = last.next();
        match &event.body {
            Some(body) => {
                let mut builder = PageBuilder::new(last);
                builder.push(Time(0), event.turn, body);
                records.put_slice(builder.take().unwrap().records());
            }
            None => {
                // A record of a kind that this version does not have.
                records.put_u32_le(13 + 2);
                records.put_slice(&[0; 12]);
                records.put_slice(&[99, b'?', b'?']);
            }
        }
    }
    Page::new(first, last, records.freeze()).unwrap()
}
