//! Agents that work elsewhere: each event of their logs is in ours exactly once, their turns outlive the host, and what was
//! sent to them is never failed because we were away.

mod late;
mod questions;

use switchboard_core::Input;
use switchboard_types::{
    AgentSessionInfo, Ask, Body, Command, Connection, ConnectionStatus, Elsewhere, Event, LifeId, Outcome, Prompt,
    Said, SessionId, Source, SourceCursor, Status, Text, Time, Upstream, Wish, Word,
};

use super::making::open_far;
use super::world::World;

/// The nth event of the agent's log.
fn source(n: u64, name: &str) -> Source {
    let rest = format!("{{\"n\":{n}}}");
    Source { id: format!("e{n}").as_str().into(), seq: Some(n), name: name.to_owned(), rest, turn: None, at: None }
}

pub(crate) fn said(session: SessionId, n: u64, word: Word) -> Word {
    Word::Sourced { session, source: source(n, "word"), said: Said::Word(Box::new(word)) }
}

fn text(session: SessionId, n: u64, text: &str) -> Word {
    Word::Sourced { session, source: source(n, "assistant_delta"), said: Said::Text(Text::from(text)) }
}

fn taken(session: SessionId, n: u64) -> Word {
    said(session, n, Word::PromptTaken { session })
}

pub(crate) fn done(session: SessionId, n: u64) -> Word {
    said(session, n, Word::turn_done(session, None))
}

pub(crate) fn prompted(session: SessionId, n: u64, name: &str) -> Word {
    let prompt = Prompt { text: format!("theirs {name}"), context: Vec::new() };
    said(session, n, Word::PromptedElsewhere { session, name: name.into(), prompt })
}

pub(crate) fn with_far() -> (World, usize, SessionId) {
    let mut world = World::new();
    world.trust();
    let view = world.view();
    world.command(view, open_far("tab"));
    world.settle();
    let session = world.session_of("tab");
    (world, view, session)
}

/// Says words and lets everything settle.
pub(crate) fn say(world: &mut World, words: Vec<Word>) {
    let life = world.life();
    world.words(life, words);
    world.settle();
}

/// The names in the agent's log of what we have of it, in order.
pub(crate) fn sources(world: &World, session: SessionId) -> Vec<u64> {
    let seq = |event: &Event| event.source.as_ref().and_then(|source| source.seq);
    world.log(session).iter().filter_map(seq).collect()
}

pub(crate) fn of_source(world: &World, session: SessionId, n: u64) -> Event {
    let is_it = |event: &&Event| event.source.as_ref().is_some_and(|source| source.seq == Some(n));
    world.log(session).iter().find(is_it).expect("it is in the log").clone()
}

fn upstream(world: &World, session: SessionId) -> Upstream {
    world.disk.sessions[&session].row.clone().unwrap().keeps.upstream.expect("it works elsewhere")
}

pub(crate) fn ends(world: &World, session: SessionId) -> Vec<Outcome> {
    let outcome = |body: &Body| match body {
        Body::TurnEnded { outcome, .. } => Some(*outcome),
        _ => None,
    };
    world.bodies(session).iter().filter_map(outcome).collect()
}

pub(crate) fn asks(world: &World, life: LifeId) -> Vec<Ask> {
    world.lives[&life].asks.clone()
}

/// What the last life was told when its session was asked for; before the world opens it.
fn opened_with(world: &World) -> Elsewhere {
    let all = world.lives.values().flat_map(|life| &life.asks);
    let mut elsewhere = all.filter_map(|ask| match ask {
        Ask::OpenSession { elsewhere, .. } => elsewhere.clone(),
        _ => None,
    });
    *elsewhere.next_back().expect("a session was asked for")
}

/// Starts the lives that were asked for, without opening their sessions.
fn start_lives(world: &mut World) {
    let lives: Vec<LifeId> = world.lives.keys().copied().collect();
    for life in lives {
        world.lives.get_mut(&life).unwrap().started = true;
        world.handle(Input::LifeStarted(life));
    }
    while world.commit() {}
}

#[test]
fn each_foreign_event_is_one_event_that_names_it_and_the_cursor_goes_with_it() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.settle();
    say(&mut world, vec![taken(session, 1), text(session, 2, "hel"), text(session, 3, "lo"), done(session, 4)]);
    assert_eq!(sources(&world, session), [1, 2, 3, 4]);
    assert_eq!(of_source(&world, session, 1).body, Body::PromptTaken {});
    assert_eq!(of_source(&world, session, 3).body, Body::Text { text: Text::from("lo") });
    assert_eq!(of_source(&world, session, 3).source, Some(source(3, "assistant_delta")));
    assert!(matches!(of_source(&world, session, 4).body, Body::TurnEnded { outcome: Outcome::Completed, .. }));
    let last = Some(SourceCursor { id: "e4".into(), seq: Some(4) });
    assert_eq!(upstream(&world, session), Upstream { last, taken: Some(4) });
    world.assert_whole();
}

#[test]
fn a_foreign_event_that_means_nothing_here_is_kept_as_it_came() {
    let (mut world, _, session) = with_far();
    let nothing = Word::Sourced { session, source: source(1, "ctree_node"), said: Said::Nothing };
    say(&mut world, vec![nothing, done(session, 2), taken(session, 3)]);
    for (n, name) in [(1, "ctree_node"), (2, "word"), (3, "word")] {
        let raw = format!("{{\"n\":{n}}}");
        assert_eq!(of_source(&world, session, n).body, Body::Unknown { name: name.to_owned(), raw });
    }
    assert_eq!(ends(&world, session), []);
}

#[test]
fn a_prompt_of_somebody_else_is_a_turn_that_runs_and_ours_waits_for_it() {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), text(session, 2, "a")]);
    assert_eq!(world.host.state(session).unwrap().status(), Status::Running);
    world.prompt(view, "tab", "ours");
    world.settle();
    assert!(world.prompted.is_empty(), "one turn at a time");
    say(&mut world, vec![done(session, 3)]);
    assert_eq!(world.prompted.len(), 1);
    say(&mut world, vec![taken(session, 4), text(session, 5, "b"), done(session, 6)]);
    let (theirs, ours) = (of_source(&world, session, 2).turn, of_source(&world, session, 5).turn);
    assert!(theirs.is_some() && ours.is_some() && theirs != ours);
    assert_eq!(ends(&world, session), [Outcome::Completed, Outcome::Completed]);
    assert_eq!(sources(&world, session), [1, 2, 3, 4, 5, 6]);
    world.assert_whole();
}

#[test]
fn a_prompt_that_the_agent_took_before_ours_gets_its_own_words_and_end() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "ours");
    world.settle();
    say(&mut world, vec![prompted(session, 1, "theirs"), taken(session, 2), text(session, 3, "a"), done(session, 4)]);
    say(&mut world, vec![text(session, 5, "b"), done(session, 6)]);
    assert_eq!(of_source(&world, session, 3).turn, of_source(&world, session, 1).turn);
    assert_eq!(of_source(&world, session, 4).turn, of_source(&world, session, 1).turn);
    assert_eq!(of_source(&world, session, 5).turn, of_source(&world, session, 2).turn);
    assert_eq!(of_source(&world, session, 6).turn, of_source(&world, session, 2).turn);
    assert_eq!(ends(&world, session).len(), 2);
    world.assert_whole();
}

#[test]
fn a_prompt_that_comes_after_ours_waits_and_is_never_sent() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "ours");
    world.settle();
    say(&mut world, vec![taken(session, 1), prompted(session, 2, "theirs"), text(session, 3, "a"), done(session, 4)]);
    assert_eq!(of_source(&world, session, 3).turn, of_source(&world, session, 1).turn);
    assert_eq!(world.host.state(session).unwrap().status(), Status::Running, "theirs runs now");
    say(&mut world, vec![text(session, 5, "b"), done(session, 6)]);
    assert_eq!(of_source(&world, session, 5).turn, of_source(&world, session, 2).turn);
    assert_eq!(world.prompted.len(), 1);
    world.assert_whole();
}

#[test]
fn text_outside_any_turn_begins_one_which_gives_way_to_a_prompt() {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![text(session, 1, "a"), text(session, 2, "b")]);
    assert_eq!(world.host.state(session).unwrap().status(), Status::Running);
    let turn = of_source(&world, session, 1).turn;
    assert!(turn.is_some() && turn == of_source(&world, session, 2).turn);
    world.prompt(view, "tab", "ours");
    world.settle();
    assert_eq!(world.prompted.len(), 1);
    assert_eq!(ends(&world, session), [Outcome::Completed]);
    world.assert_whole();
}

#[test]
fn a_turn_that_runs_elsewhere_outlives_the_host_and_its_prompt_is_not_sent_again() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.settle();
    say(&mut world, vec![taken(session, 1), text(session, 2, "a")]);
    world.restart();
    start_lives(&mut world);
    let told = opened_with(&world);
    assert_eq!(told.upstream.unwrap().last.unwrap().seq, Some(2));
    assert_eq!((told.running.map(|(name, _)| name), told.taken), (Some("one".into()), true));
    world.settle();
    world.reconnect(view);
    say(&mut world, vec![text(session, 3, "b"), done(session, 4)]);
    assert_eq!(sources(&world, session), [1, 2, 3, 4]);
    assert_eq!(ends(&world, session), [Outcome::Completed]);
    assert_eq!(world.prompted.len(), 1);
    world.assert_whole();
}

#[test]
fn a_prompt_that_may_not_have_left_is_handed_to_the_agent_again_after_a_restart() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.settle();
    world.restart();
    start_lives(&mut world);
    let told = opened_with(&world);
    let prompt = Prompt { text: "prompt one".to_owned(), context: Vec::new() };
    assert_eq!((told.running, told.taken), (Some(("one".into(), prompt)), false));
    assert_eq!(ends(&world, session), []);
}

#[test]
fn stopping_the_host_does_not_end_a_turn_that_runs_elsewhere() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.settle();
    world.handle(Input::Stop);
    while world.commit() {}
    assert_eq!(ends(&world, session), []);
    assert!(world.lives.values().all(|life| life.ending.is_some()), "only the way to it ends");
}

#[test]
fn a_life_that_is_lost_is_begun_again_without_a_prompt_and_no_turn_fails() {
    let (mut world, view, session) = with_far();
    world.command(view, Command::Watch { seen: vec![] });
    world.prompt(view, "tab", "one");
    world.settle();
    let before = world.life();
    world.exit(before);
    while world.commit() {}
    let connection = world.views[view].sessions[&session].connection.clone().unwrap();
    assert_eq!((connection.status, connection.retries), (ConnectionStatus::Error, 1));
    assert!(connection.last_error.unwrap().contains("exited"));
    world.advance(300);
    world.settle();
    assert_ne!(world.life(), before);
    assert_eq!(ends(&world, session), []);
    say(&mut world, vec![taken(session, 1), done(session, 2)]);
    assert_eq!(ends(&world, session), [Outcome::Completed]);
}

#[test]
fn an_agent_elsewhere_is_listened_to_after_a_restart_though_nobody_looks_and_is_never_put_to_sleep() {
    let (mut world, _, session) = with_far();
    world.restart();
    world.settle();
    let life = world.life();
    say(&mut world, vec![prompted(session, 1, "theirs"), done(session, 2)]);
    assert_eq!(sources(&world, session), [1, 2]);
    world.advance(40 * 60_000);
    world.settle();
    assert_eq!(world.life(), life);
}

#[test]
fn an_agent_that_cannot_be_reached_fails_what_was_never_sent_and_nothing_else() {
    let (mut world, view, session) = with_far();
    world.restart();
    world.reconnect(view);
    start_lives(&mut world);
    world.prompt(view, "tab", "one");
    while world.commit() {}
    world.advance(31_000);
    while world.commit() {}
    assert_eq!(ends(&world, session), [Outcome::Failed]);
    // The way comes up late, and everything goes on.
    world.settle();
    world.prompt(view, "tab", "two");
    world.settle();
    assert_eq!(world.prompted.len(), 1);
}

#[test]
fn a_refused_session_is_asked_for_again_but_not_at_once() {
    let (mut world, _, session) = with_far();
    world.restart();
    start_lives(&mut world);
    let life = world.life();
    let count = |world: &World| asks(world, life).iter().filter(|ask| matches!(ask, Ask::OpenSession { .. })).count();
    assert_eq!(count(&world), 1);
    world.words(life, vec![Word::OpenFailed { session, message: "401".to_owned() }]);
    while world.commit() {}
    assert_eq!(count(&world), 1, "no tight loop");
    world.advance(5_000);
    while world.commit() {}
    assert_eq!(count(&world), 2);
}

#[test]
fn a_cancel_that_is_not_heeded_ends_the_turn_here_and_not_the_agents_session() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.settle();
    say(&mut world, vec![taken(session, 1)]);
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    world.settle();
    world.advance(10_000);
    world.settle();
    assert_eq!(ends(&world, session), [Outcome::Cancelled]);
    let life = world.life();
    assert!(!asks(&world, life).iter().any(|ask| matches!(ask, Ask::CloseSession { .. })));
    say(&mut world, vec![text(session, 2, "still here")]);
    assert_eq!(sources(&world, session), [1, 2], "what it still says is kept");
}

#[test]
fn a_cancel_that_was_asked_before_a_restart_is_asked_again() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.settle();
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    while world.commit() {}
    world.restart();
    world.settle();
    let cancel = Ask::Cancel { session, name: "one".into() };
    assert_eq!(asks(&world, world.life()).iter().filter(|ask| **ask == cancel).count(), 1);
}

#[test]
fn a_gap_is_told_and_the_cursor_is_forgotten_but_not_what_was_taken() {
    let (mut world, _, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), text(session, 2, "a")]);
    let gap = |from, to| Word::Gap { session, from, to, message: "lost".to_owned() };
    say(&mut world, vec![gap(Some(3), Some(8))]);
    assert_eq!(upstream(&world, session), Upstream { last: None, taken: Some(2) });
    let told = Body::SourceGap { from: Some(3), to: Some(8), message: "lost".to_owned() };
    assert_eq!(world.bodies(session).last(), Some(&told));
    say(&mut world, vec![text(session, 9, "b"), gap(None, None)]);
    assert_eq!(upstream(&world, session), Upstream::default(), "the agent's log begins anew");
}

#[test]
fn how_the_way_is_is_listed_and_not_in_the_log() {
    let (mut world, view, session) = with_far();
    world.command(view, Command::Watch { seen: vec![] });
    let length = world.log(session).len();
    let connection = Connection { status: ConnectionStatus::Connected, retries: 2, last_error: None, gap: true };
    say(&mut world, vec![Word::Connection { session, connection: connection.clone() }]);
    assert_eq!(world.views[view].sessions[&session].connection, Some(connection));
    assert_eq!(world.log(session).len(), length);
}

#[test]
fn sessions_that_we_do_not_have_are_put_into_history_once_and_are_read_from_their_start() {
    let (mut world, view, session) = with_far();
    let info = |name: &str| AgentSessionInfo {
        agent_session: name.into(),
        title: format!("title of {name}"),
        updated: Time(5),
    };
    // The world opens every session of this agent as `theirs`.
    let list = Word::Sessions { sessions: vec![info("theirs"), info("other")] };
    say(&mut world, vec![list.clone()]);
    say(&mut world, vec![list.clone()]);
    assert_eq!(world.disk.sessions.len(), 2);
    let new = SessionId(session.0 + 1);
    let row = world.disk.sessions[&new].row.clone().unwrap();
    assert_eq!((row.tab, row.title.as_str(), row.keeps.upstream), (None, "title of other", Some(Upstream::default())));
    world.restart();
    world.settle();
    say(&mut world, vec![list]);
    assert_eq!(world.disk.sessions.len(), 2);
    world.reconnect(view);
    world.command(view, Command::OpenSession { tab: "old".into(), session: new, seen: Default::default() });
    while world.commit() || world.reload() {}
    let life = world.life();
    let opened = asks(&world, life).into_iter().find_map(|ask| match ask {
        Ask::OpenSession { session, resume, elsewhere, .. } if session == new => Some((resume, elsewhere)),
        _ => None,
    });
    let (resume, elsewhere) = opened.expect("it is asked for");
    assert_eq!((resume, elsewhere), (Some("other".into()), Some(Box::new(Elsewhere::default()))));
}

#[test]
fn closing_a_tab_leaves_the_turn_running_there_and_opening_it_again_goes_on() {
    let (mut world, view, session) = with_far();
    world.prompt(view, "tab", "one");
    world.prompt(view, "tab", "two");
    world.settle();
    say(&mut world, vec![taken(session, 1), text(session, 2, "a")]);
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    assert_eq!(ends(&world, session), [Outcome::Cancelled], "only what was never sent");
    let life = world.life();
    assert!(asks(&world, life).contains(&Ask::CloseSession { session }));
    assert!(!asks(&world, life).iter().any(|ask| matches!(ask, Ask::Wish { wish: Wish::Delete {}, .. })));
    world.command(view, Command::OpenSession { tab: "again".into(), session, seen: Default::default() });
    world.settle();
    say(&mut world, vec![text(session, 3, "b"), done(session, 4)]);
    assert_eq!(of_source(&world, session, 3).turn, of_source(&world, session, 2).turn);
    assert_eq!(sources(&world, session), [1, 2, 3, 4]);
    assert_eq!(ends(&world, session), [Outcome::Cancelled, Outcome::Completed]);
}

#[test]
fn deleting_a_session_deletes_it_there_too() {
    let (mut world, view, session) = with_far();
    world.command(view, Command::DeleteSession { session });
    world.settle();
    let life = world.life();
    assert!(asks(&world, life).iter().any(|ask| matches!(ask, Ask::Wish { wish: Wish::Delete {}, .. })));
    assert!(!world.disk.sessions.contains_key(&session));
}

#[test]
fn a_failed_commit_takes_no_event_of_the_agent_and_the_next_one_goes_on_from_the_disk() {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), text(session, 2, "a")]);
    let life = world.life();
    world.words(life, vec![text(session, 3, "b")]);
    world.fail_commit();
    world.settle();
    assert_eq!(upstream(&world, session).taken, Some(2));
    // Whatever a person does next reads the session anew.
    world.command(view, Command::Cancel { tab: "tab".into(), name: "nothing".into() });
    world.settle();
    assert_eq!(ends(&world, session), []);
    say(&mut world, vec![text(session, 3, "b"), done(session, 4)]);
    assert_eq!(sources(&world, session), [1, 2, 3, 4]);
}
