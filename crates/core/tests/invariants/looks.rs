//! What the edges may see of the host for a record beside the log: which events an input became, and that asking changes
//! nothing.

use switchboard_core::{Input, LogMark};
use switchboard_types::{Command, LifeId, Page, Prompt, SessionId, Text, Word};

use super::world::World;

fn span(page: Option<Page>) -> Option<(u64, u64)> {
    page.map(|page| (page.first().0, page.last().0))
}

fn text(session: SessionId, text: &str) -> Word {
    Word::Text { session, name: None, text: Text::from(text) }
}

fn answering() -> (World, usize, SessionId, LifeId) {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.host.life_of(session).expect("somebody serves it");
    (world, view, session, life)
}

#[test]
fn an_input_is_known_by_the_events_that_it_became() {
    let (mut world, _, session, life) = answering();
    let mark = world.host.mark(session);
    assert_eq!(span(world.host.since(session, mark)), None);
    let head = world.host.head(session).expect("it is in memory");
    world.host.handle(world.now, Input::Words { life, words: vec![text(session, "a"), text(session, "b")] });
    let second = world.host.mark(session);
    world.host.handle(world.now, Input::Words { life, words: vec![text(session, "c")] });
    assert_eq!(span(world.host.since(session, mark)), Some((head.0 + 1, head.0 + 3)));
    assert_eq!(span(world.host.since(session, second)), Some((head.0 + 3, head.0 + 3)));
    // Once they are handed to the store, they are the store's to tell.
    world.handle(Input::Tick);
    world.settle();
    assert_eq!(span(world.host.since(session, second)), None);
    assert_eq!(span(world.host.since(SessionId(99), LogMark::default())), None);
    world.assert_whole();
}

#[test]
fn words_one_at_a_time_and_looked_at_become_the_same_log_as_all_at_once() {
    let words = |session| {
        let done = Word::TurnDone { session, name: None, outcome: switchboard_types::Outcome::Completed, detail: None };
        vec![text(session, "a"), text(session, "b"), done, text(session, "late")]
    };
    let (mut at_once, _, session, life) = answering();
    at_once.host.handle(at_once.now, Input::Words { life, words: words(session) });
    at_once.settle();
    let (mut one_by_one, _, session, life) = answering();
    for word in words(session) {
        let mark = one_by_one.host.mark(session);
        one_by_one.host.handle(one_by_one.now, Input::Words { life, words: vec![word] });
        let _ = one_by_one.host.since(session, mark);
    }
    one_by_one.settle();
    assert_eq!(one_by_one.log(session), at_once.log(session));
}

#[test]
fn a_new_session_has_all_its_events_from_the_command_that_made_it() {
    let mut world = World::new();
    let view = world.view();
    let link = world.views[view].link.unwrap();
    world.host.handle(world.now, Input::Command { link, command: super::world::open_tab("tab", 0) });
    let session = world.session_of("tab");
    assert_eq!(span(world.host.since(session, LogMark::default())), Some((1, 1)));
    assert!(world.host.epoch_of(session).is_some() && world.host.agent_of(session).is_some());
}

#[test]
fn a_refusal_is_found_by_whom_it_is_for() {
    let (mut world, view, _) = World::with_tab();
    let other = world.view();
    let (link, elsewhere) = (world.views[view].link.unwrap(), world.views[other].link.unwrap());
    let before = world.host.outputs_waiting();
    let prompt = Prompt { text: "x".to_owned(), context: Vec::new() };
    let command = Command::Prompt { tab: "nowhere".into(), name: "m".into(), prompt };
    world.host.handle(world.now, Input::Command { link, command });
    assert!(world.host.refusal_after(before, link).is_some_and(|reject| reject.tab == Some("nowhere".into())));
    assert_eq!(world.host.refusal_after(before, elsewhere), None);
    assert_eq!(world.host.refusal_after(world.host.outputs_waiting(), link), None);
    let seats: Vec<&str> = world.host.seats_of(link).map(|(tab, _)| tab.as_str()).collect();
    assert_eq!((seats, world.host.seats_of(elsewhere).count()), (vec!["tab"], 0));
}
