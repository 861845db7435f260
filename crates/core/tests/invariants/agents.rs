//! Agents that exit, crash in a loop, start slowly or never: every tab is told and every prompt gets its answer.

use switchboard_core::{EndHow, Input};
use switchboard_types::{Body, Command, Detail, Outcome, RejectCode, SessionId, Word};

use super::world::{World, open_tab};

fn count(world: &World, session: SessionId, wanted: fn(&Body) -> bool) -> usize {
    world.bodies(session).iter().filter(|body| wanted(body)).count()
}

fn exited(body: &Body) -> bool {
    matches!(body, Body::AgentExited { .. })
}

fn last_end(world: &World, session: SessionId) -> (Outcome, Option<Detail>) {
    let ends = world.bodies(session).into_iter().filter_map(|body| match body {
        Body::TurnEnded { outcome, detail } => Some((outcome, detail)),
        _ => None,
    });
    ends.last().expect("a turn ended")
}

#[test]
fn invariant_5_an_exit_is_told_to_every_tab_and_fails_the_running_turn() {
    let (mut world, view, first) = World::with_tab();
    let second = world.open(view, "other");
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.exit(life);
    world.settle();
    assert_eq!((count(&world, first, exited), count(&world, second, exited)), (1, 1));
    let (outcome, detail) = last_end(&world, first);
    assert_eq!((outcome, detail.unwrap().code.as_str()), (Outcome::Failed, "agent_exited"));
    assert!(world.lives.is_empty(), "nobody wants it again yet");
}

#[test]
fn the_next_prompt_starts_the_agent_again_after_a_pause() {
    let (mut world, view, session) = World::with_tab();
    let life = world.life();
    world.exit(life);
    world.settle();
    world.prompt(view, "tab", "one");
    world.settle();
    assert!(world.lives.is_empty(), "too soon");
    world.advance(250);
    world.settle();
    assert_eq!(world.prompted.len(), 1);
    assert_eq!(count(&world, session, |body| *body == Body::AgentRestarted {}), 1);
}

#[test]
fn prompts_that_waited_go_on_with_the_next_life() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    world.settle();
    let life = world.life();
    world.exit(life);
    world.settle();
    world.advance(250);
    world.settle();
    world.complete(session);
    world.settle();
    assert_eq!(last_end(&world, session), (Outcome::Completed, None));
    assert_eq!(world.prompted.len(), 2);
}

#[test]
fn five_exits_within_a_minute_stop_the_agent_with_a_reason_until_a_person_restarts_it() {
    let (mut world, view, session) = World::with_tab();
    for n in 0..5 {
        world.prompt(view, "tab", &format!("crash {n}"));
        world.advance(5_000);
        world.settle();
        let life = world.life();
        world.exit(life);
        world.settle();
    }
    world.prompt(view, "tab", "in vain");
    world.advance(10_000);
    world.settle();
    let (outcome, detail) = last_end(&world, session);
    let detail = detail.unwrap();
    assert_eq!((outcome, detail.code.as_str()), (Outcome::Failed, "agent_unavailable"));
    assert!(detail.message.contains("5 times") && detail.message.contains("restart"), "{}", detail.message);
    world.command(view, Command::RestartAgent { tab: "tab".into() });
    world.settle();
    world.prompt(view, "tab", "again");
    world.settle();
    world.complete(session);
    world.settle();
    assert_eq!(last_end(&world, session), (Outcome::Completed, None));
}

#[test]
fn the_pause_between_starts_doubles_up_to_five_seconds() {
    let (mut world, view, _) = World::with_tab();
    for (n, pause) in [250, 500, 1_000, 2_000].into_iter().enumerate() {
        let life = world.life();
        world.exit(life);
        world.settle();
        world.prompt(view, "tab", &n.to_string());
        world.advance(pause - 1);
        world.settle();
        assert!(world.lives.is_empty(), "pause {n} is at least {pause} ms");
        world.advance(1);
        world.settle();
        assert_eq!(world.lives.len(), 1, "pause {n} is at most {pause} ms");
    }
}

#[test]
fn an_agent_that_cannot_start_fails_what_waits_at_once() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.prompt(view, "tab", "one");
    let life = world.life();
    world.exit(life);
    world.settle();
    let session = world.session_of("tab");
    assert_eq!(last_end(&world, session).1.unwrap().code, "agent_unavailable");
}

#[test]
fn restarting_by_hand_ends_the_old_life_first() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.command(view, Command::RestartAgent { tab: "tab".into() });
    assert_eq!(world.lives[&life].ending, Some(EndHow::Gracefully));
    world.settle();
    assert_ne!(world.life(), life);
    assert_eq!(count(&world, session, exited), 1);
    assert_eq!(count(&world, session, |body| *body == Body::AgentRestarted {}), 1);
    world.prompt(view, "tab", "two");
    world.settle();
    assert_eq!(world.prompted.len(), 2, "a restart by hand counts as no crash");
}

#[test]
fn a_prompt_waits_while_the_old_life_ends() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::RestartAgent { tab: "tab".into() });
    world.prompt(view, "tab", "one");
    while world.commit() {}
    assert_eq!(world.prompted.len(), 0, "an ending life is asked nothing");
    world.settle();
    assert_eq!(world.prompted.len(), 1);
    world.complete(session);
    world.settle();
    assert_eq!(last_end(&world, session), (Outcome::Completed, None));
}

#[test]
fn an_idle_tab_whose_agent_is_restarted_by_hand_gets_it_back() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::RestartAgent { tab: "tab".into() });
    world.settle();
    assert_eq!(count(&world, session, |body| *body == Body::AgentRestarted {}), 1);
    assert_eq!(world.lives[&world.life()].opened.len(), 1);
}

#[test]
fn an_agent_that_opens_no_session_is_called_slow_and_then_failed() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.prompt(view, "tab", "one");
    while world.commit() {}
    let life = world.life();
    world.handle(Input::LifeStarted(life));
    while world.commit() {}
    let session = world.session_of("tab");
    world.advance(10_000);
    while world.commit() {}
    assert!(matches!(world.bodies(session).last(), Some(Body::Status { message, .. }) if message.contains("slow")));
    world.advance(20_000);
    while world.commit() {}
    assert_eq!(last_end(&world, session).1.unwrap().code, "agent_unavailable");
    assert_eq!(world.lives[&life].ending, Some(EndHow::AtOnce), "it never served anybody, so it is ended");
}

#[test]
fn words_of_an_earlier_life_are_nobodys() {
    let (mut world, view, session) = World::with_tab();
    let old = world.life();
    world.exit(old);
    world.settle();
    world.prompt(view, "tab", "one");
    world.advance(250);
    world.settle();
    let before = world.log(session).len();
    world.words(old, vec![Word::turn_done(session, None)]);
    world.settle();
    assert_eq!(world.log(session).len(), before);
    assert_eq!(world.host.counters().late_words, 1);
}

#[test]
fn an_unknown_agent_is_refused_with_the_names_of_those_that_are_there() {
    let mut world = World::new();
    let view = world.view();
    let agent = Some("nobody".into());
    world.command(view, Command::OpenTab { tab: "tab".into(), agent, workspace: None, seen: Default::default() });
    let refused = &world.views[view].refused[0];
    assert_eq!(refused.code, RejectCode::AgentUnavailable);
    assert!(refused.message.contains("small") && refused.message.contains("demo"), "{}", refused.message);
}

#[test]
fn an_agent_that_cannot_open_a_session_fails_the_prompt_with_its_own_words() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.prompt(view, "tab", "one");
    while world.commit() {}
    let life = world.life();
    world.handle(Input::LifeStarted(life));
    let session = world.session_of("tab");
    world.words(life, vec![Word::OpenFailed { session, message: "sign in first".to_owned() }]);
    while world.commit() {}
    let detail = last_end(&world, session).1.unwrap();
    assert!(detail.message.contains("sign in first"), "{}", detail.message);
}
