//! What a restart means: nothing that was shown is lost, no prompt is sent twice, what waited waits for a view.

use switchboard_core::Input;
use switchboard_types::Status;
use switchboard_types::{Body, Outcome, Seq, SessionId};

use super::world::World;

fn fails_as(world: &World, session: SessionId, code: &str) -> usize {
    let failed = |body: &Body| matches!(body, Body::TurnEnded { outcome: Outcome::Failed, detail: Some(detail) } if detail.code == code);
    world.bodies(session).iter().filter(|body| failed(body)).count()
}

#[test]
fn a_turn_that_ran_when_the_host_died_fails_and_is_not_sent_again() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.chunk(session, "half an ans");
    world.settle();
    world.restart();
    world.settle();
    world.reconnect(view);
    world.settle();
    assert_eq!(fails_as(&world, session, "host_restarted"), 1);
    assert_eq!(world.prompted.len(), 1);
    world.assert_whole();
    world.restart();
    world.settle();
    assert_eq!(fails_as(&world, session, "host_restarted"), 1, "it fails once");
}

#[test]
fn queued_prompts_wait_until_a_view_attaches() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    world.settle();
    world.restart();
    world.settle();
    assert_eq!(world.host.state(session).unwrap().status(), Status::Queued);
    assert!(world.lives.is_empty());
    world.reconnect(view);
    world.settle();
    assert_eq!(world.prompted.len(), 2);
    world.complete(session);
    world.settle();
    world.assert_whole();
}

#[test]
fn a_prompt_that_was_not_durable_was_never_there() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.restart();
    world.reconnect(view);
    world.settle();
    assert_eq!(world.prompted.len(), 0);
    assert_eq!(world.host.state(session).unwrap().turn_count(), 0);
    world.assert_whole();
}

#[test]
fn a_name_is_remembered_over_a_restart() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.complete(session);
    world.settle();
    world.restart();
    world.reconnect(view);
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.prompted.len(), 1);
}

#[test]
fn numbers_go_on_after_a_restart() {
    let (mut world, view, session) = World::with_tab();
    let before = world.log(session).len() as u64;
    world.restart();
    world.reconnect(view);
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.log(session)[before as usize].seq, Seq(before + 1));
    world.assert_whole();
}

#[test]
fn stopping_marks_what_runs_and_keeps_the_queue() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    world.settle();
    world.handle(Input::Stop);
    while world.commit() {}
    assert!(world.host.is_settled());
    assert_eq!(fails_as(&world, session, "host_restarted"), 1);
    assert!(world.lives.values().all(|life| life.ending.is_some()));
    world.restart();
    world.settle();
    assert_eq!(fails_as(&world, session, "host_restarted"), 1);
    assert_eq!(world.host.state(session).unwrap().queue().len(), 1);
}

#[test]
fn closed_tabs_stay_closed() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, switchboard_types::Command::CloseTab { tab: "tab".into() });
    world.settle();
    world.restart();
    assert_eq!(world.host.open_tabs().count(), 0);
    assert!(!world.log(session).is_empty(), "the log stays");
}
