//! What an agent elsewhere says too late: before its session was opened anew, where it is said again; or about turns that are
//! over here.

use switchboard_types::{Body, Command, Outcome, SessionId, Word};

use super::super::world::World;
use super::{ends, of_source, prompted, said, say, sources, text, with_far};

/// The disk has event 1; event 2 was not kept, and the session is asked for again.
fn after_a_failed_commit() -> (World, SessionId) {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs")]);
    let life = world.life();
    world.words(life, vec![text(session, 2, "a")]);
    world.fail_commit();
    world.command(view, Command::Cancel { tab: "tab".into(), name: "nobody's".into() });
    while world.reload() || world.commit() {}
    (world, session)
}

fn late(session: SessionId) -> Vec<Word> {
    vec![text(session, 3, "b"), text(session, 4, "c")]
}

fn all(session: SessionId) -> Vec<Word> {
    (2..=4).map(|n| text(session, n, "again")).collect()
}

#[test]
fn what_comes_before_the_session_is_open_again_leaves_no_hole() {
    let (mut world, session) = after_a_failed_commit();
    say(&mut world, late(session));
    say(&mut world, all(session));
    assert_eq!(sources(&world, session), [1, 2, 3, 4]);
    world.assert_whole();
}

#[test]
fn what_comes_after_an_opening_of_before_leaves_no_hole_either() {
    let (mut world, session) = after_a_failed_commit();
    let life = world.life();
    let opened = Word::SessionOpened { session, agent_session: Some("theirs".into()), memory: None };
    world.words(life, vec![opened]);
    say(&mut world, late(session));
    say(&mut world, all(session));
    assert_eq!(sources(&world, session), [1, 2, 3, 4]);
}

#[test]
fn what_is_said_twice_is_kept_once() {
    let (mut world, _, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), text(session, 2, "a"), text(session, 2, "a")]);
    say(&mut world, vec![prompted(session, 1, "theirs"), text(session, 3, "b")]);
    assert_eq!(sources(&world, session), [1, 2, 3]);
}

#[test]
fn a_gap_of_before_is_not_told_and_one_that_is_partly_known_is_told_as_far_as_it_is_new() {
    let (mut world, _, session) = with_far();
    let gap = |from, to| Word::Gap { session, from: Some(from), to: Some(to), message: "lost".to_owned() };
    let words = [prompted(session, 1, "theirs"), gap(4, 6), text(session, 2, "a"), gap(2, 6), gap(7, 8)];
    say(&mut world, words.into());
    say(&mut world, vec![text(session, 9, "b")]);
    let gaps = world.bodies(session).into_iter().filter_map(|body| match body {
        Body::SourceGap { from, to, .. } => from.zip(to),
        _ => None,
    });
    assert_eq!(gaps.collect::<Vec<_>>(), [(3, 6), (7, 8)]);
    assert_eq!(sources(&world, session), [1, 2, 9]);
}

fn named_done(session: SessionId, n: u64, name: &str) -> Word {
    said(session, n, Word::turn_done(session, Some(name.into())))
}

#[test]
fn a_name_that_the_agent_gives_again_is_a_turn_of_its_own_with_its_own_end() {
    let (mut world, _, session) = with_far();
    for first in [1, 3, 5] {
        say(&mut world, vec![prompted(session, first, "m1"), named_done(session, first + 1, "m1")]);
    }
    assert_eq!(ends(&world, session).len(), 3);
    assert_eq!(world.host.state(session).unwrap().running(), None);
    assert_eq!(of_source(&world, session, 6).turn, of_source(&world, session, 5).turn);
}

#[test]
fn a_prompt_that_was_given_up_and_is_taken_all_the_same_comes_to_its_end() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.settle();
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    world.settle();
    world.advance(10_000);
    world.settle();
    let taken = said(session, 1, Word::PromptTaken { session });
    say(&mut world, vec![taken, text(session, 2, "a"), named_done(session, 3, "one")]);
    assert_eq!(world.host.state(session).unwrap().running(), None);
    assert_eq!(ends(&world, session), [Outcome::Cancelled, Outcome::Completed]);
}

#[test]
fn the_end_of_a_turn_whose_beginning_is_lost_does_not_end_the_prompt_that_was_sent_meanwhile() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "ours");
    world.settle();
    let lost = Word::Gap { session, from: Some(1), to: Some(1), message: "lost".to_owned() };
    say(&mut world, vec![lost, named_done(session, 2, "theirs")]);
    assert_eq!(ends(&world, session), []);
    let taken = said(session, 3, Word::PromptTaken { session });
    say(&mut world, vec![taken, named_done(session, 4, "ours")]);
    assert_eq!(ends(&world, session), [Outcome::Completed]);
}
