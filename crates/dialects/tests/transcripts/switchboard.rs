//! The transcripts of the dialect `switchboard`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_dialects::view::{Switchboard, switchboard};
use switchboard_types::{
    AgentInfo, AgentName, AgentOffer, AgentState, Body, Command, Containment, Epoch, HistoryPlace, PageBuilder,
    ProcessPer, Reject, RejectCode, Rule, Seen, Seq, SessionId, SessionSummary, Status, TabId, Time, Told, Trust,
    TurnId, TurnNames, Visibility, WorkspaceRoot, WorkspaceSummary,
};

use crate::file::{assert_all_shown, object, play};

#[test]
fn every_transcript_is_what_the_dialect_does() {
    let given = |read: Result<Command, Reject>| match read {
        Ok(command) => commanded(&command),
        Err(reject) => rejected(&reject),
    };
    play("switchboard", || Box::new(Switchboard::new()), given, told);
}

#[test]
fn every_message_type_of_the_schema_has_a_transcript() {
    assert_all_shown("switchboard", &switchboard::schema(), 10);
}

#[test]
fn the_typescript_names_every_message() {
    let (schema, text) = (switchboard::schema(), switchboard::typescript());
    for direction in ["viewToHost", "hostToView"] {
        for shape in schema[direction]["oneOf"].as_array().unwrap() {
            let name = shape["properties"]["type"]["const"].as_str().unwrap();
            assert!(text.contains(&format!("{{ \"type\": \"{name}\"")), "{name}");
        }
    }
    assert!(!text.contains("bigint"), "JSON numbers are numbers in a browser");
}

fn rejected(reject: &Reject) -> Value {
    object([
        ("reject", Some(json!(reject.code))),
        ("message", Some(json!(reject.message))),
        ("tab", reject.tab.as_ref().map(|tab| json!(tab))),
        ("turn", reject.turn.as_ref().map(|name| json!(name))),
    ])
}

fn seen(seen: &Seen) -> Value {
    json!([seen.seq, seen.epoch])
}

fn commanded(command: &Command) -> Value {
    match command {
        Command::Watch { seen: all } => {
            let all: Vec<_> = all.iter().map(|(tab, one)| json!([tab, seen(one)])).collect();
            json!({"command": "watch", "seen": all})
        }
        Command::OpenTab { tab, agent, workspace, seen: one } => object([
            ("command", Some(json!("openTab"))),
            ("tab", Some(json!(tab))),
            ("agent", agent.as_ref().map(|agent| json!(agent))),
            ("workspace", workspace.as_ref().map(|workspace| json!(workspace))),
            ("seen", Some(seen(one))),
        ]),
        Command::OpenSession { tab, session, seen: one } => {
            json!({"command": "openSession", "tab": tab, "session": session, "seen": seen(one)})
        }
        Command::LeaveTab { tab } => json!({"command": "leaveTab", "tab": tab}),
        Command::Prompt { tab, name, prompt } => {
            json!({"command": "prompt", "tab": tab, "name": name, "prompt": prompt})
        }
        Command::Cancel { tab, name } => json!({"command": "cancel", "tab": tab, "name": name}),
        Command::CloseTab { tab } => json!({"command": "closeTab", "tab": tab}),
        Command::Visibility(visibility) => {
            json!({"command": "visibility", "visible": *visibility == Visibility::Visible})
        }
        Command::Decide { tab, approval, decision, command, option } => object([
            ("command", Some(json!("decide"))),
            ("tab", Some(json!(tab))),
            ("approval", Some(json!(approval))),
            ("decision", Some(json!(decision))),
            ("edited", command.as_ref().map(|command| json!(command))),
            ("option", option.as_ref().map(|option| json!(option))),
        ]),
        Command::SetPolicy { tab, change } => json!({"command": "setPolicy", "tab": tab, "change": change}),
        Command::WatchRules {} => json!({"command": "watchRules"}),
        Command::RemoveRule { rule } => json!({"command": "removeRule", "rule": rule}),
        Command::SetOption { tab, option, value } => {
            json!({"command": "setOption", "tab": tab, "option": option, "value": value})
        }
        Command::SignIn { tab, method } => json!({"command": "signIn", "tab": tab, "method": method}),
        Command::AddAgent { name } => json!({"command": "addAgent", "name": name}),
        Command::RestartAgent { tab } => json!({"command": "restartAgent", "tab": tab}),
        Command::Trust { root, trust } => {
            json!({"command": "trust", "root": root, "trusted": *trust == Trust::Trusted})
        }
        Command::History { before, limit } => {
            let before = before.map(|place| json!([place.updated, place.session]));
            object([("command", Some(json!("history"))), ("before", before), ("limit", Some(json!(limit)))])
        }
        Command::DeleteSession { session } => json!({"command": "deleteSession", "session": session}),
        Command::Ping { number } => json!({"command": "ping", "number": number}),
        Command::Ready { .. }
        | Command::Ack { .. }
        | Command::ListTools { .. }
        | Command::CallTools { .. }
        | Command::CancelCall { .. }
        | Command::ListCalls { .. }
        | Command::LendTools { .. }
        | Command::LentResult { .. }
        | Command::WatchApprovals { .. }
        | Command::Session { .. }
        | Command::Answer { .. } => panic!("the dialect has no word for this: {command:?}"),
    }
}

#[derive(Deserialize)]
#[serde(tag = "told", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Saying {
    Overview,
    Events { tab: TabId, first: Seq, events: Vec<Written> },
    Gap { tab: TabId, from: Seq, to: Seq },
    Reset { tab: TabId },
    Session { tab: Option<TabId> },
    SessionGone { session: SessionId },
    Workspace,
    History { more: bool },
    Refused { message: String, tab: Option<TabId>, turn: Option<String> },
    Rules { rules: Vec<Rule> },
    Containment { containment: Containment },
    Pong { number: u64 },
}

#[derive(Deserialize)]
struct Written {
    turn: Option<TurnId>,
    body: Body,
}

fn told(from: &Value) -> Told {
    match Saying::deserialize(from).unwrap() {
        Saying::Overview => Told::Overview {
            home: Some(WorkspaceRoot::from("/w")),
            workspaces: vec![workspace()],
            sessions: vec![session(Some("t".into()))],
        },
        Saying::Events { tab, first, events } => {
            let mut page = PageBuilder::new(first);
            for (at, event) in events.iter().enumerate() {
                page.push(Time(1_000 + at as u64), event.turn, &event.body);
            }
            let page = Arc::new(page.take().unwrap());
            Told::Events { tab, page, names: TurnNames::new(Vec::new()), epoch: Epoch(0xab), home: Default::default() }
        }
        Saying::Gap { tab, from, to } => Told::Gap { tab, from, to },
        Saying::Reset { tab } => Told::Reset { tab },
        Saying::Session { tab } => Told::Session(session(tab)),
        Saying::SessionGone { session } => Told::SessionGone { session },
        Saying::Workspace => Told::Workspace(workspace()),
        Saying::History { more } => Told::History {
            sessions: vec![session(None)],
            next: more.then_some(HistoryPlace { updated: Time(2_000), session: SessionId(3) }),
        },
        Saying::Refused { message, tab, turn } => {
            let turn = turn.map(|turn| turn.as_str().into());
            Told::Refused(Reject { code: RejectCode::WorkspaceUntrusted, message, tab, turn, window: None })
        }
        Saying::Rules { rules } => Told::Rules { rules },
        Saying::Containment { containment } => Told::Containment(containment),
        Saying::Pong { number } => Told::Pong { number },
    }
}

fn session(tab: Option<TabId>) -> SessionSummary {
    SessionSummary {
        session: SessionId(3),
        epoch: Epoch(u64::MAX),
        tab,
        title: "A title".to_owned(),
        agent: AgentName::from("demo"),
        workspace: WorkspaceRoot::from("/w"),
        status: Status::AwaitingApproval,
        agent_state: AgentState::Ready,
        connection: None,
        queued: 2,
        approvals: 1,
        ended: None,
        policy: Default::default(),
        created: Time(1_000),
        updated: Time(2_000),
    }
}

fn workspace() -> WorkspaceSummary {
    WorkspaceSummary {
        root: WorkspaceRoot::from("/w"),
        trust: Trust::Untrusted,
        agents: vec![AgentInfo {
            name: "small".into(),
            kind: "plain".to_owned(),
            process: ProcessPer::Shared,
            home: Default::default(),
        }],
        default_agent: AgentName::from("small"),
        offers: vec![AgentOffer {
            name: "gemini".into(),
            title: "Gemini CLI".to_owned(),
            command: "gemini --acp".to_owned(),
        }],
    }
}
