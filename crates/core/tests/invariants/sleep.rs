//! Agents with a process for each session: closed with it, put to sleep when idle, woken where they were; and turns in which
//! nothing moves.

use switchboard_core::{EndHow, Input, Workspace};
use switchboard_types::{AgentState, Ask, Body, Command, LifeId, Memory, Outcome, Past, Status, Trust, Word};

use super::world::{World, open_own, workspace};

const IDLE_MS: u64 = 30 * 60_000;

fn state(world: &World, view: usize) -> AgentState {
    world.views[view].sessions.values().next().unwrap().agent_state
}

fn opens(world: &World, life: LifeId) -> (Option<String>, Past) {
    let asked = world.lives[&life].asks.iter().rev().find_map(|ask| match ask {
        Ask::OpenSession { resume, past, .. } => Some((resume.as_ref().map(ToString::to_string), *past)),
        _ => None,
    });
    asked.expect("a session was asked for")
}

#[test]
fn each_session_has_its_own_process_and_one_that_dies_touches_no_other() {
    let (mut world, view, first) = World::with_own();
    world.command(view, open_own("other"));
    world.settle();
    let second = world.session_of("other");
    assert_eq!(world.lives.len(), 2);
    let life = world.host.served_by(*world.lives.keys().next().unwrap()).next();
    assert_eq!(life, Some(first));
    let dead = *world.lives.keys().next().unwrap();
    world.exit(dead);
    world.settle();
    let exited = |body: &Body| matches!(body, Body::AgentExited { .. });
    assert_eq!(world.bodies(first).iter().filter(|body| exited(body)).count(), 1);
    assert_eq!(world.bodies(second).iter().filter(|body| exited(body)).count(), 0);
}

#[test]
fn a_closed_tab_ends_its_own_process_gracefully_after_it_was_told() {
    let (mut world, view, session) = World::with_own();
    let life = world.life();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    assert_eq!(world.lives[&life].ending, None, "not before the close is on the disk");
    while world.commit() {}
    assert_eq!(world.lives[&life].ending, Some(EndHow::Gracefully));
    assert!(world.lives[&life].asks.contains(&Ask::CloseSession { session }));
    world.settle();
    assert!(world.lives.is_empty());
    assert!(!world.bodies(session).iter().any(|body| matches!(body, Body::AgentExited { .. })));
}

#[test]
fn an_idle_agent_sleeps_unseen_and_the_next_prompt_wakes_it_where_it_was() {
    let (mut world, view, session) = World::with_own();
    world.command(view, Command::Watch { seen: vec![] });
    world.prompt(view, "tab", "one");
    world.settle();
    world.complete(session);
    world.settle();
    let life = world.life();
    world.advance(IDLE_MS - 1);
    assert_eq!(world.lives[&life].ending, None);
    world.advance(1);
    assert_eq!(world.lives[&life].ending, Some(EndHow::Gracefully));
    world.settle();
    assert!(world.lives.is_empty());
    assert_eq!(state(&world, view), AgentState::Asleep);
    assert!(!world.bodies(session).iter().any(|body| matches!(body, Body::AgentExited { .. })));
    world.prompt(view, "tab", "two");
    world.settle();
    let next = world.life();
    assert_ne!(next, life);
    assert!(world.prompted.len() == 2, "the prompt went to the next life");
    let restored = Body::AgentSessionRestored { memory: Memory::Resumed };
    assert_eq!(world.bodies(session).iter().filter(|body| **body == restored).count(), 1);
    assert_eq!(state(&world, view), AgentState::Ready);
}

#[test]
fn a_prompt_that_comes_while_it_falls_asleep_waits_for_the_next_life() {
    let (mut world, view, _) = World::with_own();
    let life = world.life();
    world.advance(IDLE_MS);
    world.prompt(view, "tab", "one");
    while world.commit() {}
    assert_eq!(world.lives.keys().collect::<Vec<_>>(), [&life], "the old life ends first");
    assert_eq!(world.prompted.len(), 0);
    world.settle();
    assert_ne!(world.life(), life);
    assert_eq!(world.prompted.len(), 1);
}

#[test]
fn an_agent_that_cannot_take_its_session_up_again_never_sleeps() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.complete(session);
    world.settle();
    world.advance(10 * IDLE_MS);
    assert_eq!(world.lives[&world.life()].ending, None);
}

#[test]
fn a_turn_that_runs_keeps_its_agent_awake() {
    let (mut world, view, session) = World::with_own();
    world.prompt(view, "tab", "one");
    world.settle();
    world.advance(10 * IDLE_MS);
    world.settle();
    assert_eq!(world.lives[&world.life()].ending, None);
    world.complete(session);
    world.settle();
    world.advance(IDLE_MS);
    assert_eq!(world.lives[&world.life()].ending, Some(EndHow::Gracefully));
}

#[test]
fn what_the_agent_calls_its_session_survives_a_restart_of_the_host() {
    let (mut world, view, session) = World::with_own();
    world.prompt(view, "tab", "one");
    world.settle();
    world.complete(session);
    world.settle();
    world.restart();
    world.reconnect(view);
    world.prompt(view, "tab", "two");
    while world.commit() {}
    let life = world.life();
    world.handle(switchboard_core::Input::LifeStarted(life));
    assert_eq!(opens(&world, life), (Some("theirs".to_owned()), Past::Spoken));
}

#[test]
fn an_agent_that_lost_everything_gets_a_summary_with_the_next_prompt_and_only_with_that() {
    let (mut world, view, session) = World::with_own();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.exit(life);
    world.settle();
    world.prompt(view, "tab", "two");
    world.advance(250);
    while world.commit() {}
    let life = world.life();
    world.handle(switchboard_core::Input::LifeStarted(life));
    let memory = Some(Memory::Summarized);
    world.words(life, vec![Word::SessionOpened { session, agent_session: None, memory }]);
    while world.commit() {}
    assert_eq!(world.prompted.len(), 1, "the prompt waits for the summary");
    world.settle();
    let recaps: Vec<_> = world.lives[&life]
        .asks
        .iter()
        .filter_map(|ask| match ask {
            Ask::Prompt { recap, .. } => Some(recap.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(recaps, vec![Some("what was said".to_owned())]);
    let told = Body::AgentSessionRestored { memory: Memory::Summarized };
    assert!(world.bodies(session).contains(&told));
}

#[test]
fn a_cancel_that_is_ignored_ends_the_sessions_own_process_and_takes_it_up_again() {
    let (mut world, view, session) = World::with_own();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    world.prompt(view, "tab", "two");
    world.settle();
    world.advance(10_000);
    assert_eq!(world.lives[&life].ending, Some(EndHow::AtOnce));
    world.settle();
    assert_ne!(world.life(), life);
    assert_eq!(world.prompted.len(), 2);
    let ended = world.bodies(session).into_iter().find_map(|body| match body {
        Body::TurnEnded { outcome, detail } => Some((outcome, detail.unwrap().code)),
        _ => None,
    });
    assert_eq!(ended, Some((Outcome::Cancelled, "agent_unresponsive".to_owned())));
}

#[test]
fn forty_seconds_without_a_word_are_told_once_and_a_word_ends_it() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::Watch { seen: vec![] });
    world.prompt(view, "tab", "one");
    world.settle();
    world.advance(30_000);
    world.chunk(session, "still here");
    world.advance(39_999);
    world.settle();
    assert_eq!(state(&world, view), AgentState::Ready);
    world.advance(1);
    world.settle();
    assert_eq!(state(&world, view), AgentState::Stalled);
    world.advance(400_000);
    world.settle();
    let stalls = |world: &World| {
        let said = |body: &Body| matches!(body, Body::Status { message, .. } if message.contains("no word"));
        world.bodies(session).iter().filter(|body| said(body)).count()
    };
    assert_eq!(stalls(&world), 1);
    world.chunk(session, "again");
    world.settle();
    assert_eq!(state(&world, view), AgentState::Ready);
    world.advance(40_000);
    world.settle();
    assert_eq!(stalls(&world), 2);
}

#[test]
fn while_a_person_is_asked_the_agents_silence_means_nothing() {
    let (mut world, view, session) = World::with_own();
    world.command(view, Command::Watch { seen: vec![] });
    world.prompt(view, "tab", "one");
    world.settle();
    let what = switchboard_types::Errand::Write { path: "/w/a".to_owned(), content: String::new() };
    let life = world.life();
    world.words(life, vec![Word::Errand { session, errand: "e".into(), what }]);
    world.settle();
    for _ in 0..10 {
        world.advance(40_000);
        world.settle();
    }
    assert_eq!(state(&world, view), AgentState::Ready);
    assert_eq!(world.host.state(session).unwrap().status(), Status::AwaitingApproval);
}

#[test]
fn a_session_goes_on_in_its_own_process_after_its_agent_was_taken_out() {
    let (mut world, view, session) = World::with_own();
    let life = world.life();
    world.handle(Input::Workspace(Workspace { agents: Vec::new(), ..workspace(Trust::Trusted) }));
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.lives.keys().collect::<Vec<_>>(), [&life], "no other process was started");
    world.complete(session);
    world.settle();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    assert!(world.lives.is_empty(), "its process ends with it all the same");
    world.assert_whole();
}
