//! Invariants 1 (dense) and 2 (continuous): a view's stream is a slice of the log, whatever the view does.

use switchboard_types::limits::LINK_WINDOW_BYTES;
use switchboard_types::{Command, Event, RejectCode, Seq, TabId, Text, Visibility, Word};

use super::world::{World, open_tab};

#[test]
fn invariant_1_every_event_has_the_next_number() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    for n in 0..50 {
        world.chunk(session, &n.to_string());
    }
    world.complete(session);
    world.settle();
    let numbers: Vec<u64> = world.log(session).iter().map(|event| event.seq.0).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    world.assert_whole();
}

#[test]
fn invariant_2_live_events_and_pages_meet_without_a_seam() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let late = world.view();
    world.chunk(session, "before ");
    world.command(late, open_tab("tab", 0));
    assert_eq!(world.reads.len(), 1, "the late view reads what is durable");
    world.chunk(session, "while reading ");
    world.commit();
    world.commit();
    assert!(world.views[late].seen("tab").is_empty(), "while reading it gets no live event");
    world.settle();
    world.chunk(session, "after");
    world.settle();
    assert_eq!(world.views[late].seen("tab"), world.log(session));
    world.assert_whole();
}

#[test]
fn invariant_2_a_reload_goes_on_after_the_last_seen_event() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    for n in 0..20 {
        world.chunk(session, &n.to_string());
        if n % 3 == 0 {
            world.reconnect(view);
        }
        world.settle();
    }
    world.assert_whole();
}

#[test]
fn invariant_2_what_a_hidden_view_missed_comes_first_and_in_order() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let seen = world.views[view].seen("tab").len();
    world.command(view, Command::Visibility(Visibility::Hidden));
    for n in 0..10 {
        world.chunk(session, &n.to_string());
        world.settle();
    }
    assert_eq!(world.views[view].seen("tab").len(), seen);
    world.chunk(session, "on its way");
    world.command(view, Command::Visibility(Visibility::Visible));
    world.settle();
    world.assert_whole();
}

#[test]
fn invariant_2_a_view_hidden_while_its_page_is_read_is_shown_nothing() {
    let (mut world, _, session) = World::with_tab();
    let late = world.view();
    world.command(late, open_tab("tab", 0));
    world.command(late, Command::Visibility(Visibility::Hidden));
    assert!(world.read());
    assert!(world.views[late].seen("tab").is_empty());
    world.command(late, Command::Visibility(Visibility::Visible));
    world.settle();
    assert_eq!(world.views[late].seen("tab"), world.log(session));
}

#[test]
fn invariant_2_a_reader_behind_the_floor_is_told_of_the_gap() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    for n in 0..5 {
        world.chunk(session, &n.to_string());
    }
    world.settle();
    world.disk.sessions.get_mut(&session).unwrap().lost_to = Seq(3);
    let late = world.view();
    world.command(late, open_tab("tab", 0));
    world.settle();
    assert_eq!(world.views[late].gaps, vec![(TabId::from("tab"), Seq(1), Seq(3))]);
    let rest: Vec<Event> = world.log(session).iter().filter(|event| event.seq > Seq(3)).cloned().collect();
    assert_eq!(world.views[late].seen("tab"), rest);
}

#[test]
fn invariant_2_an_index_beyond_the_end_resets_the_tab_and_replays_everything() {
    let (mut world, _, session) = World::with_tab();
    let late = world.view();
    world.command(late, open_tab("tab", 99));
    world.settle();
    assert_eq!(world.views[late].resets, vec![TabId::from("tab")]);
    assert_eq!(world.views[late].seen("tab"), world.log(session));
}

#[test]
fn invariant_2_a_slow_view_falls_behind_and_catches_up_without_loss() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.views[view].reads = false;
    let long = "x".repeat(8 * 1024);
    for _ in 0..200 {
        world.chunk(session, &long);
        world.settle();
    }
    let unread: usize = world.views[view].seen("tab").len();
    assert!(unread * long.len() < 2 * LINK_WINDOW_BYTES, "{unread} events were pushed at a view that does not read");
    world.views[view].reads = true;
    world.settle();
    world.assert_whole();
}

#[test]
fn two_windows_on_one_tab_do_not_disturb_each_other() {
    let (mut world, view, session) = World::with_tab();
    let other = world.view();
    world.command(other, open_tab("tab", 0));
    world.settle();
    world.command(other, Command::Visibility(Visibility::Hidden));
    world.prompt(view, "tab", "one");
    world.settle();
    world.chunk(session, "word");
    world.settle();
    assert_eq!(world.views[view].seen("tab"), world.log(session));
    world.command(other, Command::Visibility(Visibility::Visible));
    world.settle();
    world.assert_whole();
}

#[test]
fn a_second_new_tab_attaches_again_and_creates_nothing() {
    let (mut world, view, session) = World::with_tab();
    let head = world.log(session).len() as u64;
    world.command(view, open_tab("tab", head));
    world.settle();
    assert_eq!(world.disk.sessions.len(), 1);
    world.assert_whole();
}

#[test]
fn the_tabs_of_the_host_are_listed_with_their_last_index() {
    let (mut world, view, session) = World::with_tab();
    world.command(view, Command::Ready { seen: vec![("gone".into(), Seq(3).into())] });
    let listed: Vec<_> = world.views[view].tabs.iter().map(|tab| (tab.tab.as_str(), tab.head)).collect();
    assert_eq!(listed, vec![("tab", Seq(world.log(session).len() as u64))]);
    assert_eq!(world.views[view].refused[0].code, RejectCode::UnknownTab);
}

#[test]
fn many_words_in_one_input_share_one_commit() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let word = |n: usize| Word::Text { session, name: None, text: Text::from(n.to_string().as_str()) };
    let life = world.life();
    world.words(life, (0..500).map(word).collect());
    assert_eq!(world.commits.len(), 1);
    assert_eq!(world.commits[0].entries[0].page.count(), 500);
    world.settle();
    world.assert_whole();
}
