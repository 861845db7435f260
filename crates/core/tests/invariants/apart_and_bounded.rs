//! Invariants 8 (apart) and 9 (bounded): no byte of a session reaches a view that is not seated at it, and a view that
//! does not read costs a cursor.

use switchboard_types::limits::{LINK_WINDOW_BYTES, MAX_UNCOMMITTED_BYTES, READ_PAGE_BYTES};
use switchboard_types::{Command, Seq, Text, Word};

use super::world::{World, open_tab};

#[test]
fn invariant_8_a_view_sees_only_the_sessions_at_which_it_is_seated() {
    let (mut world, first, session) = World::with_tab();
    let second = world.view();
    let other = world.open(second, "other");
    world.prompt(first, "tab", "one");
    world.prompt(second, "other", "one");
    world.settle();
    world.chunk(session, "for the first");
    world.chunk(other, "for the second");
    world.settle();
    assert!(world.views[first].seen("other").is_empty() && world.views[second].seen("tab").is_empty());
    world.command(first, Command::Ready { seen: vec![("tab".into(), Seq(world.log(session).len() as u64).into())] });
    world.settle();
    assert!(world.views[first].seen("other").is_empty(), "a list of tabs seats nobody");
}

#[test]
fn invariant_9_a_link_with_many_seats_has_one_page_under_way() {
    let (mut world, view, _) = World::with_tab();
    for n in 0..20 {
        world.open(view, &format!("tab {n}"));
    }
    let late = world.view();
    let seen = (0..20).map(|n| (format!("tab {n}").as_str().into(), Seq(0).into())).collect();
    world.command(late, Command::Ready { seen });
    assert_eq!(world.reads.len(), 1);
    world.settle();
    for n in 0..20 {
        assert_eq!(world.views[late].seen(&format!("tab {n}")).len(), 1);
    }
}

#[test]
fn invariant_9_pages_are_read_only_while_the_view_takes_them() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let text = Text::from("x".repeat(1024).as_str());
    let life = world.life();
    for _ in 0..20 {
        let words = (0..100).map(|_| Word::Text { session, name: None, text: text.clone() }).collect();
        world.words(life, words);
        world.settle();
    }
    let late = world.view();
    world.views[late].reads = false;
    world.command(late, open_tab("tab", 0));
    while world.read() {}
    let got: usize = world.views[late].seen("tab").len() * 1024;
    assert!(got <= LINK_WINDOW_BYTES + READ_PAGE_BYTES, "{got} bytes went to a view that does not read");
    world.views[late].reads = true;
    world.settle();
    world.assert_whole();
}

#[test]
fn invariant_9_what_waits_for_the_disk_is_counted() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.host.uncommitted_bytes(), 0);
    let text = Text::from("x".repeat(1024 * 1024).as_str());
    let life = world.life();
    for _ in 0..33 {
        world.words(life, vec![Word::Text { session, name: None, text: text.clone() }]);
    }
    assert!(world.host.uncommitted_bytes() > MAX_UNCOMMITTED_BYTES, "the edges see that they must wait");
    world.settle();
    assert_eq!(world.host.uncommitted_bytes(), 0);
}
