//! What making room may cost: nothing for what cannot be sent in the end, nothing for a guess, and never the plan.

use serde_json::json;
use switchboard_agent::context::{SUMMARY_MARK, estimate};
use switchboard_agent::said::Said;
use switchboard_agent::talk::Message;
use switchboard_agent::trouble::TroubleKind;
use switchboard_agent::worker::{Do, Facts, Kept, Setup, TurnEnd, Worker};

use super::folding::{folded, long_answer, long_file, small};
use super::room::{Room, call, calls, done, fails, last_words, says, setup};

fn with_window(context: Option<u32>, files: &[(&str, &str)], script: Vec<Vec<Said>>) -> Room {
    let facts = Facts { context, ..setup().facts };
    Room::with(Setup { facts, ..setup() }, files, script)
}

#[test]
fn a_prompt_that_can_never_fit_costs_no_history() {
    let text = long_file();
    let script = vec![calls("read_file", json!({"path": "a"})), long_answer(), long_answer()];
    let mut room = small(&[("a", &text)], script);
    room.turn("read a");
    room.turn("and now?");
    let (before, kept, asked) = (room.worker.messages().to_vec(), room.watch.kept.len(), room.asks.len());
    let TurnEnd::Failed(why) = room.turn(&"x".repeat(30_000)) else { panic!("it cannot fit") };
    assert!(why.contains("8192 tokens") && why.contains("shorter prompt"), "{why}");
    assert_eq!((room.worker.messages(), room.watch.kept.len(), room.asks.len()), (before.as_slice(), kept, asked));
    assert!(room.notes().is_empty(), "{:?}", room.notes());
    // And the conversation goes on with all of it.
    room.script(vec![says("ok")]);
    assert_eq!(room.turn("go on"), TurnEnd::Done);
    assert!(room.results()[0].starts_with("[a, lines 1-150"));
}

#[test]
fn what_cannot_be_made_to_fit_leaves_the_conversation_as_it_was() {
    let text = long_file();
    let mut answer: Vec<Said> = (1..=32).map(|line| call("read_file", json!({"path": "a", "line": line}))).collect();
    answer.push(done());
    let first = "words of an answer ".repeat(60);
    let mut room = with_window(Some(4_096), &[("a", &text)], vec![says(&first), answer]);
    room.turn("one");
    let TurnEnd::Failed(why) = room.turn("read it 32 times") else { panic!("it cannot fit") };
    assert!(why.contains("does not fit"), "{why}");
    assert_eq!(folded(&room), 0);
    let said = Message::Assistant { text: first, thought: String::new(), calls: vec![] };
    assert_eq!(room.worker.messages()[1], said);
    assert!(room.results().iter().all(|result| result.starts_with("[a, lines ")), "{:?}", room.results());
    // What was in the way is folded for the next prompt.
    room.summary = Some("They read a.".to_owned());
    room.script(vec![says("ok")]);
    assert_eq!(room.turn("go on"), TurnEnd::Done);
}

#[test]
fn a_summary_is_cut_to_what_is_free_beside_a_long_prompt() {
    let mut script = vec![long_answer(); 4];
    script.extend([says(&"They want a door. ".repeat(110)), says("Here.")]);
    let mut room = small(&[], script);
    for n in 0..4 {
        room.turn(&format!("question {n}"));
    }
    // Seven eighths of the window may be sent; 300 tokens of that are left beside the prompt.
    let beside = estimate(&room.asks[0]) - 9;
    let prompt = "p".repeat(usize::try_from((8_192 * 7 / 8 - beside - 306) * 4).expect("small"));
    assert_eq!(room.turn(&prompt), TurnEnd::Done);
    let told = last_words(&room.asks[5]);
    assert!(told.starts_with(&format!("{SUMMARY_MARK}\nThey want a door. They want")), "{told}");
    assert!(told.contains("bytes left out here") && told.ends_with(&format!("|{prompt}")), "{told}");
}

#[test]
fn nothing_is_left_out_while_the_window_is_not_known() {
    let names: Vec<String> = (0..6).map(|n| format!("f{n}")).collect();
    let text = long_file();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let mut script: Vec<Vec<Said>> = names.iter().map(|name| calls("read_file", json!({"path": name}))).collect();
    script.extend([long_answer(), fails(TroubleKind::NoServer)]);
    let mut room = with_window(None, &files, script);
    assert_eq!(room.turn("read them all"), TurnEnd::Done);
    assert_eq!(room.turn("and now?"), TurnEnd::Failed("NoServer.".to_owned()));
    assert!(room.asks.iter().all(|ask| ask.context.is_none()));
    assert!(estimate(&room.asks[7]) > 8_192);
    assert_eq!((folded(&room), room.notes().len(), room.worker.messages().len()), (0, 0, 15));
    assert!(room.results().iter().all(|result| result.contains("lines 1-150")), "{:?}", room.results());
    // Nobody is told how full something is of which nobody knows how large it is.
    assert!(!room.seen.iter().any(|done| matches!(done, Do::Filled { .. })));
    // From the moment that it is known it counts.
    room.worker.set_facts(Facts { context: Some(8_192), ..setup().facts });
    room.script(vec![says("ok")]);
    assert_eq!(room.turn("and now?"), TurnEnd::Done);
    assert!(folded(&room) > 0 && room.asks[8].context == Some(8_192));
}

#[test]
fn a_server_that_says_too_long_is_believed_before_its_window_is_known() {
    let text = long_file();
    let script = vec![
        calls("read_file", json!({"path": "a"})),
        calls("read_file", json!({"path": "b"})),
        fails(TroubleKind::TooLong),
        says("ok"),
    ];
    let mut room = with_window(None, &[("a", &text), ("b", "short\n")], script);
    assert_eq!(room.turn("read"), TurnEnd::Done);
    assert!(room.results()[0].starts_with("[left out to save room"));
    assert!(estimate(&room.asks[3]) < estimate(&room.asks[2]));
    assert_eq!(room.asks[3].context, None);
}

#[test]
fn the_plan_is_kept_with_what_was_folded() {
    let plan = json!({"steps": [{"content": "mend", "status": "in_progress"}]});
    let mut script = vec![calls("update_plan", plan)];
    script.extend(vec![long_answer(); 4]);
    script.extend([says("They want a door."), says("Here.")]);
    let mut room = small(&[], script);
    for n in 0..5 {
        assert_eq!(room.turn(&format!("question {n}")), TurnEnd::Done);
    }
    // A file that is written anew begins with what was folded; what was kept before is gone.
    let from = room.watch.kept.iter().rposition(|kept| matches!(kept, Kept::Folded { .. })).expect("folded");
    let kept = room.watch.kept[from..].to_vec();
    let again = Worker::new(Setup { kept, ..setup() });
    assert_eq!((again.plan().len(), again.plan()), (1, room.worker.plan()));
    assert_eq!(again.messages(), room.worker.messages());
}
