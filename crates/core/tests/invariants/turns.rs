//! Invariants 5 (one answer) and 7 (one turn at a time): prompts queue, end exactly once, and late words stay in their turn.

use switchboard_types::limits::MAX_QUEUED_PROMPTS;
use switchboard_types::{Ask, Body, Command, Outcome, Prompt, RejectCode, SessionId, Text, TurnId, TurnName, Word};

use super::world::World;

fn ends(world: &World, session: SessionId) -> Vec<(TurnId, Outcome)> {
    let ended = world.log(session).iter().filter_map(|event| match &event.body {
        Body::TurnEnded { outcome, .. } => Some((event.turn.unwrap(), *outcome)),
        _ => None,
    });
    ended.collect()
}

fn cancel(name: &str) -> Command {
    Command::Cancel { tab: "tab".into(), name: name.into() }
}

#[test]
fn invariant_7_prompts_run_one_after_the_other_in_order() {
    let (mut world, view, session) = World::with_tab();
    for name in ["one", "two", "three"] {
        world.prompt(view, "tab", name);
    }
    world.settle();
    for _ in 0..3 {
        world.chunk(session, "answer");
        world.complete(session);
        world.settle();
    }
    let names: Vec<&str> = world.prompted.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, vec!["one", "two", "three"]);
    let done = Outcome::Completed;
    assert_eq!(ends(&world, session), vec![(TurnId(1), done), (TurnId(2), done), (TurnId(3), done)]);
    world.assert_whole();
}

#[test]
fn every_prompt_is_told_its_place_in_the_queue() {
    let (mut world, view, session) = World::with_tab();
    for name in ["one", "two", "three"] {
        world.prompt(view, "tab", name);
        world.settle();
    }
    let bodies = world.bodies(session);
    let places = bodies.iter().filter_map(|body| match body {
        Body::PromptQueued { position, .. } => Some(*position),
        _ => None,
    });
    assert_eq!(places.collect::<Vec<_>>(), vec![0, 1, 2]);
}

#[test]
fn sessions_run_side_by_side() {
    let (mut world, view, first) = World::with_tab();
    let second = world.open(view, "other");
    world.prompt(view, "tab", "one");
    world.prompt(view, "other", "one");
    world.settle();
    assert_eq!(world.prompted.len(), 2);
    world.complete(second);
    world.complete(first);
    world.settle();
    assert_eq!((ends(&world, first).len(), ends(&world, second).len()), (1, 1));
}

#[test]
fn invariant_5_a_queued_prompt_that_is_cancelled_ends_cancelled_and_never_runs() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    world.settle();
    world.command(view, cancel("two"));
    world.settle();
    world.complete(session);
    world.settle();
    assert_eq!(ends(&world, session), vec![(TurnId(2), Outcome::Cancelled), (TurnId(1), Outcome::Completed)]);
    assert_eq!(world.prompted.len(), 1);
}

#[test]
fn invariant_7_the_next_prompt_waits_for_the_cancelled_turn_to_stop() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.command(view, cancel("one"));
    world.prompt(view, "tab", "two");
    world.settle();
    assert_eq!(world.prompted.len(), 1);
    world.chunk(session, "late word");
    world.complete(session);
    world.settle();
    assert_eq!(world.prompted.len(), 2);
    let late = world.log(session).iter().find(|event| event.body == Body::Text { text: Text::from("late word") });
    assert_eq!(late.unwrap().turn, Some(TurnId(1)), "a late word touches only its own turn");
    assert_eq!(ends(&world, session), vec![(TurnId(1), Outcome::Cancelled)]);
}

#[test]
fn invariant_7_an_agent_that_does_not_stop_loses_its_session_after_ten_seconds() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.command(view, cancel("one"));
    world.prompt(view, "tab", "two");
    world.settle();
    world.advance(9_999);
    world.settle();
    assert_eq!(ends(&world, session), vec![]);
    world.advance(1);
    let life = world.life();
    world.commit();
    assert!(world.lives[&life].asks.contains(&Ask::CloseSession { session }));
    world.words(life, vec![Word::Text { session, name: None, text: Text::from("much too late") }]);
    world.settle();
    assert_eq!(ends(&world, session), vec![(TurnId(1), Outcome::Cancelled)]);
    assert_eq!(world.prompted.len(), 2, "the session was opened again and the queue goes on");
    assert!(!world.bodies(session).contains(&Body::Text { text: Text::from("much too late") }));
    world.assert_whole();
}

#[test]
fn cancelling_twice_or_too_late_changes_nothing() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.command(view, cancel("one"));
    world.command(view, cancel("one"));
    world.settle();
    let asked = world.bodies(session).iter().filter(|body| **body == Body::CancelAsked {}).count();
    assert_eq!(asked, 1);
    world.complete(session);
    world.command(view, cancel("one"));
    world.settle();
    assert_eq!(ends(&world, session).len(), 1);
    assert!(world.views[view].refused.is_empty());
    world.command(view, cancel("never"));
    assert_eq!(world.views[view].refused[0].code, RejectCode::BadMessage);
}

#[test]
fn a_name_seen_before_is_not_run_again() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "one");
    world.settle();
    world.complete(session);
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!((world.prompted.len(), ends(&world, session).len()), (1, 1));
    assert!(world.views[view].refused.is_empty(), "sending it again is how a view makes sure");
    let other = Prompt { text: "something else".to_owned(), context: Vec::new() };
    world.command(view, Command::Prompt { tab: "tab".into(), name: "one".into(), prompt: other });
    assert_eq!(world.views[view].refused[0].code, RejectCode::BadMessage);
    assert_eq!(world.prompted.len(), 1);
}

#[test]
fn a_word_that_names_an_ended_turn_goes_to_that_turn() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.complete(session);
    world.prompt(view, "tab", "two");
    world.settle();
    let life = world.life();
    let text = Text::from("for the first");
    world.words(life, vec![Word::Text { session, name: Some(TurnName::from("one")), text: text.clone() }]);
    world.words(life, vec![Word::turn_done(session, Some(TurnName::from("one")))]);
    world.settle();
    let event = world.log(session).iter().find(|event| event.body == Body::Text { text: text.clone() });
    assert_eq!(event.unwrap().turn, Some(TurnId(1)));
    assert_eq!(ends(&world, session).len(), 1, "the second turn still runs");
}

#[test]
fn text_that_nobody_asked_for_is_kept() {
    let (mut world, _, session) = World::with_tab();
    world.chunk(session, "hello");
    world.settle();
    assert!(matches!(world.bodies(session).last(), Some(Body::Unknown { raw, .. }) if raw.contains("hello")));
}

#[test]
fn invariant_5_an_agents_error_ends_the_turn_as_failed() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.words(life, vec![Word::TurnFailed { session, message: "no model".to_owned() }]);
    world.settle();
    let Some(Body::TurnEnded { outcome, detail }) = world.bodies(session).pop() else { panic!("it ended") };
    assert_eq!((outcome, detail.unwrap().message), (Outcome::Failed, "no model".to_owned()));
}

#[test]
fn invariant_5_closing_a_tab_ends_everything_and_keeps_the_log() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    world.settle();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    let cancelled = Outcome::Cancelled;
    assert_eq!(ends(&world, session), vec![(TurnId(1), cancelled), (TurnId(2), cancelled)]);
    assert_eq!(world.bodies(session).last(), Some(&Body::SessionClosed {}));
    assert_eq!(world.views[view].seen("tab"), world.log(session), "the view saw it to its end");
    let life = world.life();
    assert_eq!(world.lives[&life].asks.last(), Some(&Ask::CloseSession { session }));
    world.prompt(view, "tab", "three");
    assert_eq!(world.views[view].refused[0].code, RejectCode::UnknownTab);
    assert!(world.host.state(session).is_none(), "it leaves memory");
    let fresh = world.view();
    let again = world.open(fresh, "tab");
    assert_ne!(again, session);
}

#[test]
fn the_queue_is_bounded_and_says_so() {
    let (mut world, view, _) = World::with_tab();
    for n in 0..=MAX_QUEUED_PROMPTS {
        world.prompt(view, "tab", &n.to_string());
        world.settle();
    }
    assert!(world.views[view].refused.is_empty());
    world.prompt(view, "tab", "one too many");
    assert_eq!(world.views[view].refused[0].code, RejectCode::TooLarge);
}

#[test]
fn the_first_prompt_gives_the_title() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "  one   two ");
    world.settle();
    assert_eq!(world.host.state(session).unwrap().title, "prompt one two");
    world.command(view, Command::Ready { seen: Vec::new() });
    assert_eq!(world.views[view].tabs[0].title, "prompt one two");
}
