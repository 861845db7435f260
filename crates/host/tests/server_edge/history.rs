//! What the command line asks a running host about what is stored, page by page, and the deletion of a session.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_host::link::ViewInput;
use switchboard_host::store::Store;
use switchboard_types::limits::{MAX_HISTORY_ROWS, READ_PAGE_BYTES};
use switchboard_types::{
    Body, Change, Commit, Entry, Epoch, PageBuilder, Seq, SessionId, SessionRow, Ticket, Time, WorkspaceRow,
};

use crate::http::Answer;
use crate::world::{TOKEN, World};

fn row(session: u64) -> SessionRow {
    SessionRow {
        session: SessionId(session),
        epoch: Epoch(1),
        workspace: "/w".into(),
        agent: "demo".into(),
        title: format!("title {session}"),
        tab: (session == 1).then(|| "t".into()),
        agent_session: None,
        keeps: switchboard_types::SessionKeeps::default(),
        created: Time(1),
        updated: Time(1000 + session),
    }
}

/// A world with so many sessions, the first of which has a log of more than one page.
async fn world(sessions: u64) -> World {
    let world = World::new().await;
    let mut page = PageBuilder::new(Seq(1));
    let text = "x".repeat(1000);
    for _ in 0..READ_PAGE_BYTES / 1000 + 10 {
        page.push(Time(7), None, &Body::Text { text: text.as_str().into() });
    }
    let mut changes: Vec<Change> = (1..=sessions).map(row).map(Change::Session).collect();
    changes.push(Change::Workspace(WorkspaceRow { root: "/w".into(), trusted: Some(Time(5)) }));
    let entries = vec![Entry { session: SessionId(1), page: Arc::new(page.take().unwrap()), changes }];
    world.store.commit(Commit { ticket: Ticket(1), entries, changes: Vec::new() });
    world
}

async fn get(world: &World, target: &str) -> Answer {
    world.get(target).with("Authorization", &format!("Bearer {TOKEN}")).send(world.address).await
}

async fn get_json(world: &World, target: &str) -> Value {
    let answer = get(world, target).await;
    assert_eq!(answer.status, 200, "{target}: {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

#[tokio::test]
async fn sessions_come_in_parts_the_last_used_first() {
    let count = MAX_HISTORY_ROWS as u64 + 3;
    let world = world(count).await;
    let part = get_json(&world, "/control/sessions").await;
    let sessions = part["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &part["more"]), (MAX_HISTORY_ROWS, &json!(true)));
    let newest = json!({
        "id": count, "title": format!("title {count}"), "agent": "demo", "workspace": "/w", "open": false,
        "created_ms": 1, "updated_ms": 1000 + count,
    });
    assert_eq!(sessions[0], newest);
    let last = &sessions[MAX_HISTORY_ROWS - 1];
    let next = format!("/control/sessions?updated_ms={}&id={}", last["updated_ms"], last["id"]);
    let rest = get_json(&world, &next).await;
    let ids: Vec<&Value> = rest["sessions"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!((ids, &rest["more"]), (vec![&json!(3), &json!(2), &json!(1)], &json!(false)));
    assert_eq!(get_json(&world, "/control/session?id=1").await["open"], json!(true));
    assert_eq!(get_json(&world, "/control/workspaces").await, json!([{"root": "/w", "trusted_ms": 5}]));
}

#[tokio::test]
async fn a_log_comes_in_bounded_parts_until_it_ends() {
    let world = world(1).await;
    let (mut seqs, mut after, mut parts) = (Vec::new(), 0, 0);
    loop {
        let answer = get(&world, &format!("/control/log?id=1&after={after}")).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-ndjson")));
        let lines: Vec<Value> = answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let Some(last) = lines.last() else { break };
        after = last["seq"].as_u64().unwrap();
        assert!(answer.body.len() < 2 * READ_PAGE_BYTES);
        seqs.extend(lines.iter().map(|line| line["seq"].as_u64().unwrap()));
        parts += 1;
    }
    assert_eq!(seqs, (1..=(READ_PAGE_BYTES / 1000 + 10) as u64).collect::<Vec<_>>());
    assert!(parts > 1);
}

#[tokio::test]
async fn a_deletion_reaches_the_host_and_is_answered_when_it_says_so() {
    let mut world = world(2).await;
    for (outcome, status) in [(Ok(()), 200), (Err("the disk is full; make room".to_owned()), 500)] {
        let asked = tokio::spawn(world.post("/control/delete", r#"{"id": 2}"#).send(world.address));
        let ViewInput::Delete { session, answer } = world.input().await else { panic!("no deletion") };
        assert_eq!(session, SessionId(2));
        answer.send(outcome).unwrap();
        assert_eq!(asked.await.unwrap().status, status);
    }
}

#[tokio::test]
async fn what_is_not_there_or_not_asked_rightly_is_said() {
    let mut world = world(1).await;
    let cases = [
        ("/control/session?id=9", 404, "not_found"),
        ("/control/log?id=9", 404, "not_found"),
        ("/control/log?id=x", 400, "bad_message"),
        ("/control/log", 400, "bad_message"),
        ("/control/session?id=1&more=2", 400, "bad_message"),
        ("/control/sessions?id=1", 400, "bad_message"),
    ];
    for (target, status, code) in cases {
        let answer = get(&world, target).await;
        let said: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!((answer.status, said["code"].as_str()), (status, Some(code)), "{target}");
    }
    let gone = world.post("/control/delete", r#"{"id": 9}"#).send(world.address).await;
    assert_eq!(gone.status, 404);
    assert!(world.inputs.try_recv().is_err(), "nothing reaches the host");
}
