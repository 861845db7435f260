//! Long conversations: the oldest results go first, then a summary takes the place of the oldest part; the newest words stay, the window
//! is never passed, and memory has a bound.

use serde_json::json;
use switchboard_agent::context::{MAX_TALK_BYTES, SUMMARY_MARK, estimate};
use switchboard_agent::said::Said;
use switchboard_agent::talk::{Message, Part};
use switchboard_agent::trouble::TroubleKind;
use switchboard_agent::worker::{Do, Facts, Kept, Limits, Setup, TurnEnd};

use super::room::{Room, calls, fails, last_words, picture, says, setup, words};

pub(crate) fn small(files: &[(&str, &str)], script: Vec<Vec<Said>>) -> Room {
    let facts = Facts { context: Some(8_192), ..setup().facts };
    let limits = Limits { rounds: 100, ..Limits::default() };
    Room::with(Setup { facts, limits, ..setup() }, files, script)
}

pub(crate) fn long_file() -> String {
    (0..150).map(|n| format!("line {n} of a long file that is read\n")).collect()
}

pub(crate) fn folded(room: &Room) -> usize {
    room.seen.iter().filter(|done| matches!(done, Do::Keep(Kept::Folded { .. }))).count()
}

/// An answer of some 1,400 tokens.
pub(crate) fn long_answer() -> Vec<Said> {
    says(&"words of an answer ".repeat(300))
}

#[test]
fn the_oldest_results_are_folded_first_and_the_newest_stay() {
    let names: Vec<String> = (0..6).map(|n| format!("f{n}")).collect();
    let text = long_file();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let mut script: Vec<Vec<Said>> = names.iter().map(|name| calls("read_file", json!({"path": name}))).collect();
    script.push(says("All the same."));
    let mut room = small(&files, script);
    assert_eq!(room.turn("read them all"), TurnEnd::Done);
    let results = room.results();
    assert!(results[0].starts_with("[left out to save room: what read_file gave, "), "{}", results[0]);
    assert!(results[5].starts_with("[f5, lines 1-150"), "{}", results[5]);
    assert!(folded(&room) > 0);
    assert!(room.notes().iter().all(|note| note.contains("nearly full")), "{:?}", room.notes());
    // No summary was needed, and what the model said and wanted is all there.
    assert_eq!(room.asks.len(), 7);
    assert_eq!(room.worker.messages().len(), 14);
}

#[test]
fn when_that_is_not_enough_a_summary_takes_the_place_of_the_oldest_part() {
    let mut script = vec![long_answer(); 4];
    script.push(says("They want a door; src/door.rs was read."));
    script.push(says("Here is the door."));
    let mut room = small(&[], script);
    for n in 0..4 {
        assert_eq!(room.turn(&format!("question {n}")), TurnEnd::Done);
    }
    assert_eq!(room.turn("and the door?"), TurnEnd::Done);
    let summary = &room.asks[4];
    assert!(summary.tools.is_empty() && last_words(summary).contains("PERSON: question 0"));
    let expected = format!("{SUMMARY_MARK}\nThey want a door; src/door.rs was read.|and the door?");
    assert_eq!(last_words(&room.asks[5]), expected);
    // It is not said aloud, but noted and kept.
    assert!(!room.said().contains("They want a door"));
    assert!(room.notes().iter().any(|note| note.contains("replaced by a summary")));
    assert_eq!(folded(&room), 1);
}

#[test]
fn without_a_summary_the_oldest_part_is_left_out_and_that_is_said() {
    let mut script = vec![long_answer(); 4];
    script.push(fails(TroubleKind::Refused));
    script.push(says("Here."));
    let mut room = small(&[], script);
    for n in 0..4 {
        room.turn(&format!("question {n}"));
    }
    assert_eq!(room.turn("and the door?"), TurnEnd::Done);
    let told = last_words(&room.asks[5]);
    assert!(told.contains("left out") && told.contains("question 3") && told.ends_with("|and the door?"), "{told}");
    assert!(room.notes().iter().any(|note| note.contains("could not be made: Refused.")));
}

#[test]
fn a_busy_server_costs_no_history() {
    let file = "a line that is read\n".repeat(40);
    // A result of a tool, and words enough that folding it is not enough.
    let filled = |more: Vec<Vec<Said>>| {
        let mut script = vec![calls("read_file", json!({"path": "a"}))];
        script.extend(vec![long_answer(); 4]);
        script.extend(more);
        let mut room = small(&[("a", &file)], script);
        for n in 0..4 {
            assert_eq!(room.turn(&format!("question {n}")), TurnEnd::Done);
        }
        assert_eq!(folded(&room), 0);
        room
    };
    let mut room = filled(vec![fails(TroubleKind::Busy), says("They want a door."), says("Here.")]);
    assert_eq!(room.turn("and the door?"), TurnEnd::Done);
    assert!(last_words(&room.asks[7]).contains("They want a door."));
    // What the summary was made of was not folded before.
    assert!(last_words(&room.asks[6]).contains("a line that is read\n"));
    assert_eq!(last_words(&room.asks[5]), last_words(&room.asks[6]));
    // Nor does one that is gone, or that stays busy.
    for (script, end) in [
        (vec![fails(TroubleKind::NoServer)], "NoServer."),
        (vec![fails(TroubleKind::Busy); 6], "Busy. It was tried 6 times."),
    ] {
        let mut room = filled(script);
        let before = room.worker.messages().to_vec();
        assert_eq!(room.turn("and the door?"), TurnEnd::Failed(end.to_owned()));
        assert_eq!(folded(&room), 0);
        assert_eq!(room.worker.messages()[..before.len()], before);
        assert!(room.results()[0].starts_with("[a, lines 1-40"), "{:?}", room.results());
    }
}

#[test]
fn one_long_turn_is_made_shorter_too_and_keeps_its_prompt() {
    let mut script = Vec::new();
    for n in 0..12 {
        // What is written is in the calls, which are not folded.
        script.push(calls("write_file", json!({"path": format!("f{n}"), "content": long_file()})));
    }
    let mut room = small(&[], Vec::new());
    for answer in script {
        room.script(vec![answer]);
    }
    // Wherever a summary is asked for, the next answer of the script is taken as one: its words are none, so the oldest is left out.
    room.script(vec![says("Written."); 3]);
    let end = room.turn("write twelve files");
    assert_eq!(end, TurnEnd::Done);
    let is_prompt = |message: &Message| *message == Message::User { parts: words("write twelve files") };
    assert_eq!(room.worker.messages().iter().filter(|message| is_prompt(message)).count(), 1);
    assert!(folded(&room) > 0);
}

#[test]
fn a_server_that_says_too_long_gets_less_once() {
    let text = long_file();
    let files = [("a", text.as_str()), ("b", "short\n")];
    let script = vec![
        calls("read_file", json!({"path": "a"})),
        calls("read_file", json!({"path": "b"})),
        fails(TroubleKind::TooLong),
        says("ok"),
        fails(TroubleKind::TooLong),
        fails(TroubleKind::TooLong),
    ];
    let mut room = small(&files, script);
    assert_eq!(room.turn("read"), TurnEnd::Done);
    assert!(room.results()[0].starts_with("[left out to save room"));
    assert!(room.notes()[0].contains("too long"));
    assert!(estimate(&room.asks[3]) < estimate(&room.asks[2]));
    // The server is not told another window for it.
    assert_eq!(room.asks[3].context, Some(8_192));
    assert_eq!(room.turn("again"), TurnEnd::Failed("TooLong.".to_owned()));
}

#[test]
fn many_large_results_at_once_are_given_in_part() {
    let text = long_file();
    let mut answer: Vec<Said> =
        (1..=9).map(|n| calls("read_file", json!({"path": "a", "line": n})).remove(0)).collect();
    answer.push(super::room::done());
    let mut room = small(&[("a", &text)], vec![answer, says("ok")]);
    assert_eq!(room.turn("read"), TurnEnd::Done);
    assert!(room.results().iter().all(|result| result.contains("bytes left out here")), "{:?}", room.results());
    assert!(room.notes().iter().any(|note| note.contains("in part")));
}

#[test]
fn the_servers_own_counts_are_believed_when_they_are_higher() {
    // The server counts three times as many tokens as we do.
    let counts = vec![super::room::text(&"words ".repeat(800)), super::room::used(5_000, 10), super::room::done()];
    let mut room = small(&[], vec![counts, says("A summary."), says("ok")]);
    room.turn("one");
    let before = room.asks.len();
    room.turn("two");
    assert_eq!(room.asks.len() - before, 2, "a summary was asked for");
}

#[test]
fn old_pictures_are_left_out_before_words() {
    let large = Part::Image { mime: "image/png".to_owned(), data: "A".repeat(7 * 1024 * 1024) };
    let mut room = Room::new(&[], vec![says("a"), says("b"), says("c")]);
    room.turn_of(vec![large.clone()]);
    room.turn_of(vec![large.clone()]);
    room.turn_of(vec![large, picture()]);
    let pictures = |message: &Message| match message {
        Message::User { parts } => parts.iter().filter(|part| matches!(part, Part::Image { .. })).count(),
        _ => 0,
    };
    let counts: Vec<usize> = room.worker.messages().iter().map(pictures).collect();
    assert_eq!(counts, [0, 0, 0, 0, 2, 0]);
}

fn weight(room: &Room) -> usize {
    let weight = |message: &Message| match message {
        Message::User { parts } => {
            parts.iter().map(|part| if let Part::Text { text } = part { text.len() } else { 0 }).sum()
        }
        Message::Assistant { text, .. } | Message::Tool { text, .. } | Message::System { text } => text.len(),
    };
    room.worker.messages().iter().map(weight).sum()
}

#[test]
fn a_thousand_turns_stay_within_the_window() {
    let text = long_file();
    let mut room = small(&[("a", &text)], vec![]);
    room.records = false;
    let mut summaries = 0;
    for n in 0..1_000 {
        room.summary = Some("They read a.".to_owned());
        room.script(vec![calls("read_file", json!({"path": "a"})), says("It says what it said before.")]);
        assert_eq!(room.turn(&format!("turn {n}")), TurnEnd::Done);
        assert!(weight(&room) < 8_192 * 4, "{} in turn {n}", weight(&room));
        let kept = std::mem::take(&mut room.watch.kept);
        summaries += kept.iter().filter(|kept| matches!(kept, Kept::Folded { .. })).count();
    }
    assert!(summaries > 10, "{summaries}");
}

#[test]
fn a_huge_window_is_no_reason_to_fill_the_memory() {
    let facts = Facts { context: Some(u32::MAX), ..setup().facts };
    let text: String = "0123456789abcdef\n".repeat(1_900);
    let mut room = Room::with(Setup { facts, ..setup() }, &[("a", &text)], vec![]);
    room.records = false;
    let mut most = 0;
    for n in 0..60 {
        let mut answer: Vec<Said> = (0..12).map(|_| calls("read_file", json!({"path": "a"})).remove(0)).collect();
        answer.push(super::room::done());
        room.script(vec![answer, says("read")]);
        assert_eq!(room.turn(&format!("turn {n}")), TurnEnd::Done);
        most = most.max(weight(&room));
    }
    assert!(most <= MAX_TALK_BYTES, "{most}");
    assert!(most > MAX_TALK_BYTES / 2, "the limit was not reached: {most}");
}
