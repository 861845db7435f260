//! How many sessions' turns run at once, and how long a call of a tool may take, where people have set that. What is not set
//! changes nothing.

use serde_json::json;
use switchboard_core::Input;
use switchboard_types::limits::DEFAULT_CALL_MS;
use switchboard_types::{
    BatchMode, Body, Command, Outcome, RequestNo, SessionId, Settings, SettingsState, Status, Told, ToolCode, Word,
    WorkspaceRoot,
};

use super::making::open_far;
use super::tools::{named, tools};
use super::world::{ROOT, World};

/// A world with these tabs, of which so many may run at once.
fn world(most: u32, tabs: &[&str]) -> (World, usize, Vec<SessionId>) {
    let mut world = World::new();
    world.limit(Some(most));
    let view = world.view();
    let sessions = tabs.iter().map(|tab| world.open(view, tab)).collect();
    (world, view, sessions)
}

fn sent(world: &World) -> Vec<(SessionId, &str)> {
    world.prompted.iter().map(|(session, name)| (*session, name.as_str())).collect()
}

fn finish(world: &mut World, session: SessionId) {
    world.complete(session);
    world.settle();
}

#[test]
fn whoever_finds_no_room_waits_and_begins_when_a_turn_ends() {
    let (mut world, view, sessions) = world(2, &["a", "b", "c"]);
    for tab in ["a", "b", "c"] {
        world.prompt(view, tab, tab);
    }
    world.settle();
    let [a, b, c] = sessions[..] else { unreachable!() };
    assert_eq!(sent(&world), [(a, "a"), (b, "b")]);
    assert!(!world.bodies(c).contains(&Body::TurnStarted {}));
    finish(&mut world, b);
    assert_eq!(sent(&world), [(a, "a"), (b, "b"), (c, "c")]);
    finish(&mut world, a);
    finish(&mut world, c);
    world.assert_whole();
}

#[test]
fn a_session_with_many_prompts_lets_the_others_in_between_and_keeps_its_own_order() {
    let (mut world, view, sessions) = world(1, &["a", "b"]);
    let [a, b] = sessions[..] else { unreachable!() };
    for name in ["one", "two", "three"] {
        world.prompt(view, "a", name);
    }
    world.prompt(view, "b", "other");
    world.settle();
    for session in [a, b, a, a] {
        assert_eq!(world.running().into_iter().collect::<Vec<_>>(), [session]);
        finish(&mut world, session);
    }
    assert_eq!(sent(&world), [(a, "one"), (b, "other"), (a, "two"), (a, "three")]);
    world.assert_whole();
}

#[test]
fn who_waits_is_let_in_when_a_turn_fails_is_cancelled_or_its_session_is_closed_or_deleted() {
    let (mut world, view, sessions) = world(1, &["a", "b", "c", "d", "e"]);
    let [a, b, c, d, e] = sessions[..] else { unreachable!() };
    for tab in ["a", "b", "c", "d", "e"] {
        world.prompt(view, tab, tab);
    }
    world.settle();
    // One that waits and is cancelled holds nobody up.
    world.command(view, Command::Cancel { tab: "b".into(), name: "b".into() });
    world.settle();
    world.command(view, Command::CloseTab { tab: "a".into() });
    world.settle();
    assert_eq!(sent(&world), [(a, "a"), (c, "c")]);
    let ended = |body: &Body| matches!(body, Body::TurnEnded { outcome: Outcome::Cancelled, .. });
    assert!(world.bodies(b).iter().any(ended));
    world.command(view, Command::DeleteSession { session: c });
    world.settle();
    assert_eq!(sent(&world).last(), Some(&(d, "d")));
    let life = world.life();
    world.exit(life);
    world.settle();
    world.advance(60_000);
    world.settle();
    assert_eq!(sent(&world).last(), Some(&(e, "e")));
}

#[test]
fn a_disk_that_fails_takes_nobodys_room() {
    let (mut world, view, sessions) = world(1, &["a", "b"]);
    world.prompt(view, "a", "a");
    world.settle();
    world.prompt(view, "b", "b");
    world.settle();
    world.chunk(sessions[0], "lost");
    assert!(world.fail_commit());
    world.settle();
    assert_eq!(sent(&world), [(sessions[0], "a"), (sessions[1], "b")]);
}

#[test]
fn a_limit_that_changes_holds_at_once_and_ends_nothing() {
    let (mut world, view, sessions) = world(1, &["a", "b", "c"]);
    let [a, b, c] = sessions[..] else { unreachable!() };
    for tab in ["a", "b", "c"] {
        world.prompt(view, tab, tab);
    }
    world.settle();
    assert_eq!(sent(&world), [(a, "a")]);
    world.limit(None);
    world.settle();
    assert_eq!(sent(&world), [(a, "a"), (b, "b"), (c, "c")]);
    world.limit(Some(1));
    for name in ["a2", "b2"] {
        world.prompt(view, &name[..1], name);
    }
    world.settle();
    assert_eq!(world.running().len(), 3, "what runs goes on");
    finish(&mut world, a);
    finish(&mut world, b);
    assert_eq!(world.prompted.len(), 3, "one still runs");
    finish(&mut world, c);
    assert_eq!(sent(&world).last(), Some(&(a, "a2")));
}

#[test]
fn an_agent_elsewhere_is_not_counted_and_waits_for_nobody() {
    let mut world = World::new();
    world.trust();
    world.limit(Some(1));
    let view = world.view();
    world.command(view, open_far("far"));
    world.settle();
    let (far, near) = (world.session_of("far"), world.open(view, "near"));
    let other = world.open(view, "other");
    for tab in ["far", "near", "other"] {
        world.prompt(view, tab, tab);
        world.settle();
    }
    assert_eq!(sent(&world), [(far, "far"), (near, "near")]);
    let life = *world.lives.iter().find(|(_, life)| life.running.contains_key(&near)).unwrap().0;
    world.words(life, vec![Word::turn_done(near, None)]);
    world.settle();
    assert_eq!(sent(&world).last(), Some(&(other, "other")));
}

#[test]
fn a_workspaces_own_limit_holds_there_and_cannot_lift_the_users() {
    let mut world = World::new();
    let view = world.view();
    let (a, _b) = (world.open(view, "a"), world.open(view, "b"));
    let set = |world: &mut World, user: u32, own: u32| {
        let most = |most| Settings { max_active_sessions: Some(most), ..Settings::default() };
        let workspaces = vec![(WorkspaceRoot::from(ROOT), most(own))];
        let all = SettingsState { user: most(user), workspaces, ..SettingsState::default() };
        world.handle(Input::Settings(Box::new(all)));
    };
    set(&mut world, 5, 1);
    world.prompt(view, "a", "a");
    world.prompt(view, "b", "b");
    world.settle();
    assert_eq!(sent(&world), [(a, "a")]);
    set(&mut world, 1, 9);
    world.settle();
    assert_eq!(sent(&world), [(a, "a")]);
    set(&mut world, 2, 9);
    world.settle();
    assert_eq!(world.prompted.len(), 2);
}

#[test]
fn who_waits_starts_no_process_and_is_shown_as_queued() {
    let mut world = World::new();
    world.trust();
    world.limit(Some(1));
    let view = world.view();
    world.command(view, Command::Watch { seen: Vec::new() });
    for tab in ["a", "b"] {
        world.command(view, super::making::open_own(tab));
        world.settle();
    }
    // Both processes are gone before there is anything to do.
    for life in world.lives.keys().copied().collect::<Vec<_>>() {
        world.exit(life);
    }
    world.settle();
    world.advance(61_000);
    world.settle();
    let before = world.lives.len();
    world.prompt(view, "a", "a");
    world.prompt(view, "b", "b");
    world.settle();
    assert_eq!(world.lives.len(), before + 1, "one process for one turn");
    assert_eq!(world.views[view].sessions[&world.session_of("b")].status, Status::Queued);
    world.assert_whole();
}

#[test]
fn a_call_may_take_as_long_as_people_have_set_unless_it_says_otherwise() {
    let mut world = World::new();
    let view = world.view();
    world.handle(Input::Tools(tools()));
    let user = Settings { tool_timeout: Some(500), ..Settings::default() };
    world.handle(Input::Settings(Box::new(SettingsState { user, ..SettingsState::default() })));
    let code = |world: &World, request: u64| {
        let answer = world.views[view].answers.iter().find_map(|told| match told {
            Told::ToolsCalled { request: RequestNo(of), outcomes: Ok(outcomes) } if *of == request => {
                outcomes[0].result.as_ref().err().map(|failure| failure.code)
            }
            _ => None,
        });
        answer
    };
    let call = |world: &mut World, request: u64, timeout_ms: Option<u64>| {
        let slow = named(&format!("call {request}"), "say", json!({ "say": "slow" }));
        let calls = vec![switchboard_types::ToolRequest { timeout_ms, ..slow }];
        world.command(view, Command::CallTools { request: RequestNo(request), calls, mode: BatchMode::Parallel });
        world.settle();
    };
    call(&mut world, 1, None);
    call(&mut world, 2, Some(DEFAULT_CALL_MS));
    world.advance(500);
    world.settle();
    assert_eq!((code(&world, 1), code(&world, 2)), (Some(ToolCode::Timeout), None));
    world.advance(DEFAULT_CALL_MS);
    world.settle();
    assert_eq!(code(&world, 2), Some(ToolCode::Timeout));
}
