//! Sequences that are easy to get wrong: things that overtake each other on their way to the disk, the agent or the view.

use switchboard_core::{Input, RequestId, Settings, Trust};
use switchboard_types::{Ask, Body, Command, CommitDone, Outcome, Text, Visibility, Word};

use super::world::{World, open_tab, workspace};

fn small(tab: &str) -> Command {
    Command::OpenTab { tab: tab.into(), agent: Some("small".into()), workspace: None, seen: Default::default() }
}

/// The disk takes the oldest commit, but says that it did not.
fn commit_and_deny(world: &mut World) {
    let commit = world.commits.pop_front().expect("a commit waits");
    world.disk.write(&commit);
    let failed = commit.entries.iter().map(|entry| (entry.session, "io error".to_owned())).collect();
    world.handle(Input::Committed(CommitDone { ticket: commit.ticket, failed, changes_failed: None }));
}

fn ends(world: &World, session: switchboard_types::SessionId) -> (usize, usize) {
    let bodies = world.bodies(session);
    let queued = bodies.iter().filter(|body| matches!(body, Body::PromptQueued { .. })).count();
    let ended = bodies.iter().filter(|body| matches!(body, Body::TurnEnded { .. })).count();
    (queued, ended)
}

#[test]
fn distrust_wins_over_a_trust_that_is_still_on_its_way() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, small("tab"));
    world.settle();
    world.handle(Input::Trust { workspace: workspace(Trust::Trusted), request: RequestId(1) });
    world.handle(Input::Trust { workspace: workspace(Trust::Untrusted), request: RequestId(2) });
    assert_eq!(world.commits.len(), 2);
    world.commit();
    world.prompt(view, "tab", "one");
    world.settle();
    assert!(world.lives.is_empty(), "an agent runs in an untrusted workspace: {:?}", world.lives.keys());
    assert!(world.prompted.is_empty());
}

#[test]
fn what_waits_for_a_reload_behind_a_close_is_refused() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "zero");
    world.fail_commit();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.prompt(view, "tab", "one");
    world.settle();
    let (queued, ended) = ends(&world, session);
    assert_eq!(queued, ended, "every prompt has its end: {:#?}", world.bodies(session));
}

#[test]
fn a_close_that_is_on_the_disk_after_all_frees_the_tab() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    commit_and_deny(&mut world);
    world.prompt(view, "tab", "one");
    world.settle();
    let unended = ends(&world, session);
    world.connect(view);
    world.views[view].journal.clear();
    world.command(view, open_tab("tab", 0));
    world.settle();
    world.prompt(view, "tab", "two");
    world.settle();
    assert_eq!(world.prompted.len(), 1, "the tab works again");
    assert_eq!(unended.0, unended.1, "every prompt has its end");
}

#[test]
fn a_closed_session_is_forgotten_when_its_last_seat_moves_on() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::Visibility(Visibility::Hidden));
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    world.command(view, open_tab("tab", 0));
    world.settle();
    world.command(view, Command::Visibility(Visibility::Visible));
    world.settle();
    assert!(world.host.state(session).is_none(), "the closed session is still in memory");
}

#[test]
fn a_closed_session_whose_tab_was_taken_again_is_forgotten_though_its_commit_failed() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    let close = world.commits.pop_front().unwrap();
    world.command(view, open_tab("tab", 0));
    world.handle(Input::Committed(CommitDone {
        ticket: close.ticket,
        failed: vec![(session, "disk full".to_owned())],
        changes_failed: None,
    }));
    world.settle();
    world.restart();
    let tabs = world.disk.sessions.values().filter(|s| s.row.as_ref().unwrap().tab.is_some()).count();
    assert_eq!(tabs, 1, "two sessions claim one tab");
}

#[test]
fn a_word_that_comes_before_the_prompt_has_left_does_not_end_its_turn() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    world.settle();
    assert_eq!(world.prompted.len(), 1);
    // An agent that says so twice, in one breath.
    let done = || Word::turn_done(session, None);
    let life = world.life();
    world.lives.get_mut(&life).unwrap().running.clear();
    world.words(life, vec![done(), done()]);
    world.settle();
    let completed = world
        .bodies(session)
        .iter()
        .filter(|b| matches!(b, Body::TurnEnded { outcome: Outcome::Completed, .. }))
        .count();
    assert_eq!((world.prompted.len(), completed), (2, 1), "a prompt that was never sent is not completed");
}

#[test]
fn a_late_session_opened_is_not_taken_for_the_next_one() {
    let mut world = World::new();
    let view = world.view();
    world.open(view, "first");
    let life = world.life();
    world.command(view, open_tab("tab", 0));
    while world.commit() {}
    let session = world.session_of("tab");
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    while world.commit() {}
    let settings = Settings::default();
    world.advance(settings.startup_slow_ms);
    while world.commit() {}
    world.lives.get_mut(&life).unwrap().asks.clear();
    world.advance(settings.startup_timeout_ms - settings.startup_slow_ms);
    // The answer to the first wish was on its way.
    world.words(life, vec![Word::opened(session)]);
    while world.commit() {}
    let asks = &world.lives[&life].asks;
    let prompts = asks.iter().filter(|ask| matches!(ask, Ask::Prompt { .. })).count();
    assert_eq!(prompts, 0, "the prompt leaves before the new agent session is there: {asks:#?}");
}

#[test]
fn a_close_whose_commit_failed_does_not_leave_the_agent_at_work() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.fail_commit();
    let life = world.life();
    assert!(world.lives[&life].asks.contains(&Ask::CloseSession { session }), "the agent works on for nobody");
}

#[test]
fn a_title_is_shown_once_it_is_durable_though_the_agent_streams_on() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    // (with the stream always one commit ahead of the disk from the first prompt on)
    let (mut other, v, s) = World::with_tab();
    other.prompt(v, "tab", "one");
    let l = other.life();
    for _ in 0..3 {
        other.words(l, vec![Word::Text { session: s, name: None, text: Text::from("x") }]);
        other.commit();
    }
    other.words(l, vec![Word::Text { session: s, name: None, text: Text::from("x") }]);
    other.command(v, Command::Ready { seen: Vec::new() });
    let _ = (life, session, view, &mut world);
    assert_eq!(other.views[v].tabs.last().map(|tab| tab.title.clone()), Some("prompt one".to_owned()));
}

#[test]
fn a_command_whose_reload_failed_is_answered_also_without_a_seat() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "zero");
    world.fail_commit();
    let other = world.view();
    world.prompt(other, "tab", "one");
    world.handle(Input::Reloaded { session, recovered: Err("io error".to_owned()) });
    assert_eq!(world.views[other].refused.len(), 1, "a prompt gets an answer");
}

#[test]
fn seating_again_and_again_asks_for_one_read_at_a_time() {
    let (mut world, view, _) = World::with_tab();
    for _ in 0..1000 {
        world.command(view, open_tab("tab", 0));
    }
    assert!(world.reads.len() <= 2, "{} reads wait for one link", world.reads.len());
}

#[test]
fn an_opening_that_failed_does_not_take_the_tab_from_the_next_one() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.command(view, open_tab("tab", 0));
    // The disk is full for the first session's events, then has room again.
    while world.commits.front().is_some_and(|c| c.entries.iter().all(|e| e.session.0 == 1)) {
        world.fail_commit();
    }
    world.settle();
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.prompted.len(), 1, "{:?}", world.views[view].refused);
}

#[test]
fn a_process_that_never_comes_up_fails_the_prompt_in_time() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.prompt(view, "tab", "one");
    while world.commit() {}
    world.advance(10 * Settings::default().startup_timeout_ms);
    while world.commit() {}
    let session = world.session_of("tab");
    assert_eq!(ends(&world, session), (1, 1));
}

#[test]
fn one_word_for_all_is_not_multiplied_without_bound() {
    let mut world = World::new();
    let view = world.view();
    for n in 0..100 {
        world.open(view, &format!("t{n}"));
    }
    let life = world.life();
    world.host.handle(world.now, Input::Words { life, words: vec![Word::Trouble { message: "x".repeat(1 << 20) }] });
    let waits = world.host.uncommitted_bytes();
    assert!(waits <= switchboard_types::limits::MAX_UNCOMMITTED_BYTES, "{waits} bytes from one frame of 1 MiB");
}

#[test]
fn a_tab_is_there_until_its_close_is_durable() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.reconnect(view);
    assert!(world.views[view].refused.is_empty(), "nothing was shown that is not durable");
    world.settle();
    assert_eq!(world.views[view].seen("tab"), world.log(session), "the view sees it to its end");
}
