//! Invariant 3 (durable before visible): nothing is shown or asked before it is on the disk, and a failed commit says so.

use switchboard_types::Status;
use switchboard_types::{Ask, Body, Command, Outcome, RejectCode};

use super::world::{World, open_tab};

#[test]
fn invariant_3_nothing_is_shown_before_the_commit() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let seen = world.views[view].seen("tab").len();
    world.chunk(session, "not yet");
    assert_eq!(world.views[view].seen("tab").len(), seen);
    assert!(world.commit());
    assert_eq!(world.views[view].seen("tab").len(), seen + 1);
}

#[test]
fn invariant_3_no_ask_leaves_before_the_event_that_causes_it() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    let life = world.life();
    assert_eq!(world.lives[&life].asks, vec![]);
    world.commit();
    assert!(matches!(world.lives[&life].asks.as_slice(), [Ask::Prompt { .. }]));
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    assert_eq!(world.lives[&life].asks.len(), 1);
    world.commit();
    assert_eq!(world.lives[&life].asks.last(), Some(&Ask::Cancel { session, name: "one".into() }));
}

#[test]
fn invariant_3_the_agent_session_is_asked_for_when_the_tab_is_durable() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.agents_open();
    let life = world.life();
    assert_eq!(world.lives[&life].asks, vec![], "the process may start, but is asked nothing");
    world.commit();
    assert_eq!(world.lives[&life].wanted(), vec![world.session_of("tab")]);
}

#[test]
fn invariant_3_a_failed_commit_closes_the_session_to_writes_and_says_so() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let kept = world.log(session).len();
    world.chunk(session, "lost");
    world.fail_commit();
    assert_eq!(world.views[view].refused.last().unwrap().code, RejectCode::Internal);
    world.settle();
    assert_eq!(world.log(session).len(), kept, "nothing more is written");
    let life = world.life();
    assert_eq!(world.lives[&life].asks.last(), Some(&Ask::CloseSession { session }), "the agent is told to stop");
}

#[test]
fn a_session_that_was_closed_to_writes_goes_on_with_the_next_prompt() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.chunk(session, "lost");
    world.fail_commit();
    world.prompt(view, "tab", "two");
    world.settle();
    let bodies = world.bodies(session);
    let failed = |body: &Body| matches!(body, Body::TurnEnded { outcome: Outcome::Failed, detail: Some(d) } if d.code == "storage_failed");
    assert_eq!(bodies.iter().filter(|body| failed(body)).count(), 1);
    assert_eq!(world.host.state(session).unwrap().status(), Status::Running);
    world.chunk(session, "kept");
    world.complete(session);
    world.settle();
    world.assert_whole();
}

#[test]
fn a_failed_commit_of_one_session_leaves_the_others_alone() {
    let (mut world, view, first) = World::with_tab();
    let second = world.open(view, "other");
    world.prompt(view, "tab", "one");
    world.prompt(view, "other", "two");
    world.settle();
    world.chunk(first, "lost");
    world.fail_commit();
    world.chunk(second, "kept");
    world.settle();
    assert_eq!(world.views[view].seen("other"), world.log(second));
    assert!(world.bodies(second).iter().any(|body| matches!(body, Body::Text { .. })));
}

#[test]
fn a_tab_whose_first_event_could_not_be_kept_does_not_exist() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.fail_commit();
    assert_eq!(world.views[view].refused[0].code, RejectCode::Internal);
    assert_eq!(world.host.open_tabs().count(), 0);
    world.open(view, "tab");
    world.assert_whole();
}

#[test]
fn a_close_that_could_not_be_kept_has_not_happened() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.fail_commit();
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.session_of("tab"), session);
    assert_eq!(world.host.state(session).unwrap().status(), Status::Running);
    world.assert_whole();
}

#[test]
fn commits_in_flight_when_one_fails_leave_no_hole() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.chunk(session, "first");
    world.chunk(session, "second");
    world.chunk(session, "third");
    world.fail_commit();
    world.settle();
    world.prompt(view, "tab", "two");
    world.settle();
    world.assert_whole();
}
