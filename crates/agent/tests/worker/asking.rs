//! Trouble with the server and odd answers: what may pass is tried again, what cannot is said.

use serde_json::{Value, json};
use switchboard_agent::said::{End, Said};
use switchboard_agent::server::{self, Flavor};
use switchboard_agent::talk::{Ask, Calling, Message, Part};
use switchboard_agent::trouble::TroubleKind;
use switchboard_agent::worker::{Do, Facts, Limits, Setup, TurnEnd};

use super::room::{Room, call, calls, done, fails, last_words, picture, says, setup, text, trouble, used, words};

#[test]
fn trouble_that_may_pass_is_tried_again_after_one_two_four_eight_and_sixteen_seconds() {
    let mut script = vec![fails(TroubleKind::NotYet); 5];
    script.push(says("At last."));
    let mut room = Room::new(&[], script);
    let began = room.now;
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert_eq!(room.now - began, 31_000);
    let waits: Vec<String> =
        (0..5).map(|n| format!("NotYet. Asking again in {} s (try {} of 5).", 1 << n, n + 1)).collect();
    assert_eq!(room.notes(), waits);
    // They are the same question.
    assert!(room.asks.iter().all(|ask| *ask == room.asks[0]));
}

#[test]
fn after_five_tries_the_turn_fails_with_the_servers_words() {
    let mut room = Room::new(&[], vec![fails(TroubleKind::Busy); 6]);
    assert_eq!(room.turn("do"), TurnEnd::Failed("Busy. It was tried 6 times.".to_owned()));
}

#[test]
fn the_server_says_how_long_it_wants_to_be_left_alone() {
    let busy = vec![trouble(TroubleKind::Busy, Some(40_000))];
    let mut room = Room::new(&[], vec![busy, says("Now.")]);
    let began = room.now;
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert_eq!(room.now - began, 40_000);
    let mut room = Room::new(&[], vec![vec![trouble(TroubleKind::Busy, Some(61_000))]]);
    let TurnEnd::Failed(why) = room.turn("do") else { panic!("it waits too long") };
    assert!(why.contains("wait 61 s"), "{why}");
}

#[test]
fn trouble_that_stays_is_said_at_once() {
    for kind in [
        TroubleKind::NoServer,
        TroubleKind::Unwelcome,
        TroubleKind::NoModel,
        TroubleKind::Garbage,
        TroubleKind::Refused,
    ] {
        let mut room = Room::new(&[], vec![fails(kind)]);
        assert_eq!(room.turn("do"), TurnEnd::Failed(format!("{kind:?}.")));
        assert!(room.notes().is_empty());
    }
}

#[test]
fn an_answer_that_breaks_off_in_its_words_goes_on_once_and_is_one_answer() {
    let broken = |words| vec![text(words), trouble(TroubleKind::BrokenOff, None)];
    let mut room = Room::new(&[], vec![broken("It is "), says("a minus.")]);
    assert_eq!(room.turn("what?"), TurnEnd::Done);
    assert!(last_words(&room.asks[1]).contains("Go on exactly where it stopped"));
    let whole = Message::Assistant { text: "It is a minus.".to_owned(), thought: String::new(), calls: vec![] };
    assert_eq!(room.worker.messages()[1..], [whole]);
    let mut room = Room::new(&[], vec![broken("It is "), broken("a ")]);
    assert_eq!(room.turn("what?"), TurnEnd::Failed("BrokenOff.".to_owned()));
    let kept = Message::Assistant { text: "It is a ".to_owned(), thought: String::new(), calls: vec![] };
    assert_eq!(room.worker.messages()[1..], [kept]);
}

#[test]
fn whole_calls_before_the_stream_broke_off_are_done() {
    let broken = vec![call("read_file", json!({"path": "a"})), trouble(TroubleKind::BrokenOff, None)];
    let mut room = Room::new(&[("a", "x\n")], vec![broken, says("x")]);
    assert_eq!(room.turn("what is in a?"), TurnEnd::Done);
    assert_eq!(room.results(), ["[a, lines 1-1, the whole file]\nx\n"]);
}

#[test]
fn calls_of_an_answer_that_failed_for_good_are_not_done() {
    let broken = vec![text("Now"), call("run_command", json!({"command": "ls"})), trouble(TroubleKind::Garbage, None)];
    let mut room = Room::new(&[], vec![broken]);
    assert_eq!(room.turn("do"), TurnEnd::Failed("Garbage.".to_owned()));
    assert!(room.workspace.commands.is_empty() && room.results().is_empty());
}

#[test]
fn a_model_without_tools_is_asked_in_text_from_then_on() {
    let script = vec![fails(TroubleKind::NoTools), calls("read_file", json!({"path": "a"})), says("x")];
    let mut room = Room::new(&[("a", "x\n")], script);
    assert_eq!(room.turn("what is in a?"), TurnEnd::Done);
    let ways: Vec<Calling> = room.asks.iter().map(|ask| ask.calling).collect();
    assert_eq!(ways, [Calling::Native, Calling::Text, Calling::Text]);
    assert!(super::room::system(&room.asks[1]).contains("read_file"));
    assert_eq!(room.notes().len(), 1);
    // A second refusal is not asked for ever.
    room.script(vec![fails(TroubleKind::NoTools)]);
    assert_eq!(room.turn("again"), TurnEnd::Failed("NoTools.".to_owned()));
}

#[test]
fn a_model_that_is_known_to_have_no_tools_is_asked_in_text_at_once() {
    let facts = Facts { tools: Some(false), ..setup().facts };
    let mut room = Room::with(Setup { facts: facts.clone(), ..setup() }, &[], vec![says("ok"); 4]);
    room.turn("do");
    assert_eq!(room.asks[0].calling, Calling::Text);
    // The person is told that, once for each model.
    let told = "tiny does not call tools by its server's own way; it is asked to write its calls as text.";
    assert_eq!(room.notes(), [told]);
    room.turn("again");
    room.worker.set_facts(Facts { context: Some(16_384), ..facts.clone() });
    room.turn("and again");
    assert_eq!(room.notes(), [told]);
    room.worker.set_facts(Facts { model: "small".to_owned(), ..facts });
    room.turn("and you?");
    assert_eq!(room.notes(), [told, &told.replace("tiny", "small")]);
}

/// The roles of what is sent for a question, whichever server it goes to.
fn roles(ask: &Ask) -> Vec<String> {
    let sent = |flavor| -> Value { serde_json::from_slice(&server::ask(flavor, ask).body).expect("JSON") };
    let roles = |body: Value| -> Vec<String> {
        let messages = body["messages"].as_array().expect("a list").iter();
        messages.map(|message| message["role"].as_str().expect("a role").to_owned()).collect()
    };
    let both = [Flavor::OpenAi, Flavor::Ollama].map(|flavor| roles(sent(flavor)));
    assert_eq!(both[0], both[1]);
    both[0].clone()
}

#[test]
fn after_a_turn_that_stopped_at_results_the_roles_still_come_in_turns() {
    let limits = Limits { rounds: 1, ..Limits::default() };
    for (tools, expected) in [
        (None, ["system", "user", "assistant", "tool", "assistant", "user"]),
        (Some(false), ["system", "user", "assistant", "user", "assistant", "user"]),
    ] {
        let facts = Facts { tools, ..setup().facts };
        let script = vec![calls("list_files", json!({})), says("ok")];
        let mut room = Room::with(Setup { facts: facts.clone(), limits, ..setup() }, &[], script);
        assert_eq!(room.turn("do"), TurnEnd::Limit);
        let kept = room.watch.kept.clone();
        assert_eq!(room.turn("go on"), TurnEnd::Done);
        assert_eq!(roles(&room.asks[1]), expected);
        // What stands between is sent and not kept: the same comes of a session that was taken up, and nobody is shown it.
        let mut again = Room::with(Setup { facts, limits, kept, ..setup() }, &[], vec![says("ok")]);
        assert!(matches!(again.worker.messages().last(), Some(Message::Tool { .. })));
        again.turn("go on");
        assert_eq!(again.asks[0].messages, room.asks[1].messages);
    }
}

#[test]
fn a_hint_after_results_is_no_second_message_of_a_person() {
    let script = || {
        let empty = vec![Said::Thought("hm".to_owned()), done()];
        vec![calls("list_files", json!({})), empty, says("Nothing there.")]
    };
    let mut room = Room::new(&[], script());
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert_eq!(roles(&room.asks[2]), ["system", "user", "assistant", "tool"]);
    assert!(last_words(&room.asks[2]).starts_with("[nothing there]\n\n[Your last answer was empty."));
    assert_eq!(room.results(), ["[nothing there]"]);
    let facts = Facts { tools: Some(false), ..setup().facts };
    let mut room = Room::with(Setup { facts, ..setup() }, &[], script());
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert_eq!(roles(&room.asks[2]), ["system", "user", "assistant", "user"]);
    assert!(last_words(&room.asks[2]).starts_with("[Your last answer was empty."));
}

#[test]
fn what_a_server_cannot_have_counted_overflows_nothing() {
    let counts = |said: Said| vec![said, used(u64::MAX, u64::MAX), done()];
    let mut room = Room::new(&[], vec![counts(call("list_files", json!({}))), counts(text("ok"))]);
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert!(room.seen.contains(&Do::Filled { used: u64::MAX, of: 32_768 }));
    let Some(Do::EndTurn { used, .. }) = room.seen.last() else { panic!("no end") };
    assert_eq!((used.input, used.output), (u64::MAX, u64::MAX));
}

#[test]
fn pictures_go_only_to_models_that_take_them() {
    let parts = vec![words("look").remove(0), picture()];
    let mut room = Room::new(&[], vec![fails(TroubleKind::NoImages), says("I see nothing.")]);
    assert_eq!(room.turn_of(parts.clone()), TurnEnd::Done);
    assert!(last_words(&room.asks[0]).contains("[picture]"));
    assert_eq!(last_words(&room.asks[1]), "look|[a picture, which this model cannot see]");
    // It is kept for a model that can see it.
    assert!(matches!(&room.worker.messages()[0], Message::User { parts } if matches!(parts[1], Part::Image { .. })));
    let facts = Facts { images: Some(false), ..setup().facts };
    let mut room = Room::with(Setup { facts, ..setup() }, &[], vec![says("ok")]);
    room.turn_of(parts);
    assert_eq!(room.notes(), ["tiny takes no pictures; they are left out."]);
}

#[test]
fn an_empty_answer_is_asked_once_more_and_then_said() {
    let empty = || vec![Said::Thought("hm".to_owned()), done()];
    let mut room = Room::new(&[], vec![empty(), says("Here.")]);
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert!(last_words(&room.asks[1]).starts_with("do|[Your last answer was empty."));
    let mut room = Room::new(&[], vec![empty(), empty()]);
    let TurnEnd::Failed(why) = room.turn("do") else { panic!("nothing is no answer") };
    assert!(why.contains("answered nothing, twice"), "{why}");
}

#[test]
fn an_answer_that_is_cut_goes_on_once() {
    let cut = |words| vec![text(words), Said::End(End::Cut)];
    let mut room = Room::new(&[], vec![cut("one "), says("two")]);
    assert_eq!(room.turn("count"), TurnEnd::Done);
    assert_eq!(room.said(), "one two");
    let whole = Message::Assistant { text: "one two".to_owned(), thought: String::new(), calls: vec![] };
    assert_eq!(room.worker.messages().last(), Some(&whole));
    let mut room = Room::new(&[], vec![cut("one "), cut("two ")]);
    assert_eq!(room.turn("count"), TurnEnd::Cut);
    assert!(room.notes()[1].contains("Say “go on”"));
}

#[test]
fn a_refusal_is_told_in_the_servers_words() {
    let mut room = Room::new(&[], vec![vec![Said::End(End::Refused("content filter".to_owned()))]]);
    assert_eq!(room.turn("do"), TurnEnd::Refused);
    assert_eq!(room.notes(), ["The model will not answer: content filter"]);
}

#[test]
fn how_full_the_context_is_comes_after_each_answer() {
    let mut room = Room::new(&[], vec![vec![text("ok"), used(5_000, 10), done()], says("ok")]);
    room.turn("do");
    assert!(room.seen.contains(&Do::Filled { used: 5_010, of: 32_768 }));
    room.turn("do");
    let filled = room.seen.iter().filter(|done| matches!(done, Do::Filled { .. })).count();
    assert_eq!(filled, 2);
}

#[test]
fn thoughts_are_sent_again_only_within_their_turn() {
    let thinks = vec![Said::Thought("deep".to_owned()), call("list_files", json!({})), done()];
    let mut room = Room::new(&[], vec![thinks, says("a"), says("b")]);
    room.turn("one");
    room.turn("two");
    let thought = |at: usize| match &room.asks[at].messages[2] {
        Message::Assistant { thought, .. } => thought.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((thought(1).as_str(), thought(2).as_str()), ("deep", ""));
}

#[test]
fn calls_have_names_of_their_own_whatever_the_server_calls_them() {
    let twice = vec![call("list_files", json!({})), call("list_files", json!({"path": "a"})), done()];
    let mut room = Room::new(&[], vec![twice.clone(), twice, says("ok")]);
    room.turn("do");
    let begun: Vec<&str> = room
        .seen
        .iter()
        .filter_map(|done| if let Do::Begin { call, .. } = done { Some(call.as_str()) } else { None })
        .collect();
    assert_eq!(begun, ["call00001", "call00002", "call00003", "call00004"]);
}
