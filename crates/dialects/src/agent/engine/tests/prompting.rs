//! Prompts: at most once, whatever is lost on the way; turns of others; questions and their answers.

use switchboard_types::agent::Answer;
use switchboard_types::{ApprovalId, ContextItem, Outcome, Resolution, Telling, ToolStatus};

use super::*;

const INPUT: &str = "/v1/sessions/e1/input";
const COMMAND: &str = "/v1/sessions/e1/command";

fn meaning(said: &[Word]) -> Vec<&Word> {
    let word = |word| match word {
        &Word::Sourced { said: Said::Word(ref word), .. } => Some(&**word),
        _ => None,
    };
    said.iter().filter_map(word).collect()
}

#[test]
fn a_prompt_is_sent_by_our_name_and_taken_when_it_stands_in_the_log() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    let request = stage.requests[0].clone();
    assert_eq!((request.path.as_str(), body_of(&request)), (INPUT, json!({"content":"hi","message_id":"t1"})));
    stage.answer(INPUT, 202, &json!({"turn_id":"x"}));
    stage.event(1, "user_message", &json!({"text":"hi"}));
    stage.text(2);
    stage.event(3, "run_finished", &json!({"eventCount":3}));
    let said = stage.said();
    let done = Word::TurnDone { session: S, name: Some("t1".into()), outcome: Outcome::Completed, detail: None };
    assert_eq!(meaning(&said), vec![&Word::PromptTaken { session: S }, &done]);
}

#[test]
fn the_stream_may_be_faster_than_the_answer() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    stage.event(1, "user_message", &json!({"message_id":"t1","text":"hi"}));
    stage.event(2, "run_finished", &json!({"message_id":"t1","reason":"failed","detail":{"code":"c","message":"m"}}));
    stage.fail(INPUT, Sent::Perhaps);
    stage.pass(60_000);
    let said = stage.said();
    assert_eq!(meaning(&said).len(), 2);
    assert!(!said.iter().any(|word| matches!(word, Word::TurnFailed { .. })), "{said:?}");
}

#[test]
fn a_lost_answer_is_repeated_only_to_an_engine_that_knows_our_names() {
    let mut stage = Stage::open(&ours());
    stage.ask(prompt("t1", "hi"));
    stage.fail(INPUT, Sent::Perhaps);
    stage.pass(250);
    stage.answer(INPUT, 202, &json!({}));
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    stage.fail(INPUT, Sent::Perhaps);
    stage.pass(9_999);
    assert_eq!((stage.said(), stage.requests.len()), (vec![], 0));
    stage.pass(1);
    let said = stage.said();
    let [Word::TurnFailed { message, .. }] = &said[..] else { panic!("{said:?}") };
    assert!(message.contains("nobody knows"), "{message}");
    assert!(stage.requests.is_empty(), "it is not sent a second time");
}

#[test]
fn a_prompt_that_turns_up_in_the_log_needs_no_answer() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    stage.fail(INPUT, Sent::Perhaps);
    stage.hear(Heard::Ended(StreamEnd::Broken("reset".to_owned())));
    stage.pass(60_000);
    assert!(stage.said().is_empty(), "as long as the stream does not stand nobody can know");
    stage.opened();
    stage.pass(9_000);
    stage.event(1, "user_message", &json!({"text":"hi"}));
    stage.pass(60_000);
    let said = stage.said();
    assert_eq!(meaning(&said), vec![&Word::PromptTaken { session: S }]);
    assert_eq!(said.len(), 1);
}

#[test]
fn what_never_left_is_tried_again_and_then_given_up() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    for wait in [250, 1_000, 2_000] {
        stage.fail(INPUT, Sent::No);
        stage.pass(wait);
    }
    stage.fail(INPUT, Sent::No);
    let said = stage.said();
    assert!(matches!(&said[..], [Word::TurnFailed { message, .. }] if message.contains("did not reach")), "{said:?}");
}

#[test]
fn a_refused_prompt_fails_in_the_words_of_the_engine() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    stage.answer(INPUT, 409, &json!({"code":"closed","message":"session is closed"}));
    let said = stage.said();
    assert!(
        matches!(&said[..], [Word::TurnFailed { message, .. }] if message.contains("session is closed")),
        "{said:?}"
    );
}

#[test]
fn files_go_first_and_their_ids_with_the_prompt() {
    let mut stage = Stage::open(&none());
    let item = ContextItem { path: Some("a/b.txt".to_owned()), content: Some("x".to_owned()), image: None };
    let prompt = Prompt { text: "hi".to_owned(), context: vec![item] };
    stage.ask(Ask::Prompt { session: S, name: "t1".into(), prompt, recap: None });
    let Payload::Upload(files) = &stage.requests[0].payload else { panic!("{:?}", stage.requests) };
    assert_eq!((files[0].name.as_str(), &files[0].bytes[..]), ("b.txt", &b"x"[..]));
    stage.answer("/v1/sessions/e1/attachments", 200, &json!({"attachments":[{"id":"att-1","name":"b.txt","size":1}]}));
    let sent = stage.request(INPUT);
    assert_eq!(body_of(&sent), json!({"content":"hi","attachments":["att-1"],"message_id":"t1"}));
}

#[test]
fn a_turn_that_others_began_is_a_turn() {
    let mut stage = Stage::open(&none());
    stage.event(1, "user_message", &json!({"message_id":"theirs","text":"from afar"}));
    stage.event(2, "turn_start", &json!({}));
    stage.text(3);
    stage.event(4, "completion", &json!({}));
    stage.event(5, "run_finished", &json!({}));
    let said = stage.said();
    let prompt = Prompt { text: "from afar".to_owned(), context: Vec::new() };
    let begun = Word::PromptedElsewhere { session: S, name: "theirs".into(), prompt };
    let done = Word::TurnDone { session: S, name: Some("theirs".into()), outcome: Outcome::Completed, detail: None };
    assert_eq!(meaning(&said), vec![&begun, &done]);
}

#[test]
fn the_same_words_under_another_name_are_somebody_elses() {
    let mut stage = Stage::open(&ours());
    stage.ask(prompt("t1", "hi"));
    stage.answer(INPUT, 202, &json!({}));
    stage.event(1, "user_message", &json!({"message_id":"other","text":"hi"}));
    let said = stage.said();
    assert!(matches!(meaning(&said)[..], [Word::PromptedElsewhere { .. }]), "{said:?}");
}

#[test]
fn a_running_turn_goes_on_after_a_restart() {
    let running = |taken| Elsewhere {
        upstream: Some(upstream(3)),
        running: Some(("t1".into(), Prompt { text: "hi".to_owned(), context: Vec::new() })),
        taken,
        ..Elsewhere::default()
    };
    // It was taken: nothing is sent.
    let mut stage = Stage::known(&none());
    stage.ask(open(Some("e1"), running(true)));
    stage.opened();
    stage.pass(60_000);
    assert!(stage.requests.is_empty());
    stage.event(4, "run_finished", &json!({}));
    let said = stage.said();
    let done = Word::TurnDone { session: S, name: Some("t1".into()), outcome: Outcome::Completed, detail: None };
    assert_eq!(meaning(&said), vec![&done]);
    // Nobody knows, and the engine knows our names: it is sent again, unless it turns up.
    let mut stage = Stage::known(&ours());
    stage.ask(open(Some("e1"), running(false)));
    stage.pass(60_000);
    assert!(stage.requests.is_empty());
    stage.opened();
    stage.pass(2_000);
    stage.answer(INPUT, 202, &json!({}));
    let mut stage = Stage::known(&ours());
    stage.ask(open(Some("e1"), running(false)));
    stage.opened();
    stage.event(4, "user_message", &json!({"message_id":"t1","text":"hi"}));
    stage.pass(60_000);
    assert!(stage.requests.is_empty());
    // Nobody knows, and it might be run twice: it is never sent.
    for (status, over) in [("running", false), ("completed", true)] {
        let mut stage = Stage::known(&none());
        stage.ask(open(Some("e1"), running(false)));
        stage.opened();
        stage.answer("/v1/sessions/e1", 200, &json!({"status": status}));
        stage.pass(10_001);
        let failed = stage.said().iter().any(|word| matches!(word, Word::TurnFailed { .. }));
        assert_eq!((failed, stage.requests.is_empty()), (over, true), "{status}");
    }
}

#[test]
fn stop_arrives_even_over_a_bad_way() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    stage.answer(INPUT, 202, &json!({}));
    stage.ask(Ask::Cancel { session: S, name: "t1".into() });
    assert_eq!(body_of(&stage.requests[0]), json!({"command":"stop","payload":{}}));
    stage.fail(COMMAND, Sent::Perhaps);
    stage.pass(250);
    stage.answer(COMMAND, 202, &json!({"status":"accepted"}));
    stage.event(1, "run_finished", &json!({"reason":"stopped"}));
    let said = stage.said();
    let done = Word::TurnDone { session: S, name: Some("t1".into()), outcome: Outcome::Cancelled, detail: None };
    assert_eq!(meaning(&said), vec![&done]);
}

#[test]
fn stop_does_not_overtake_the_prompt() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    stage.ask(Ask::Cancel { session: S, name: "t1".into() });
    assert_eq!(stage.requests.len(), 1, "only the prompt is on its way");
    stage.answer(INPUT, 202, &json!({}));
    stage.answer(COMMAND, 202, &json!({}));
}

#[test]
fn a_question_is_asked_and_its_answer_is_one_that_the_engine_knows() {
    let mut stage = Stage::open(&none());
    stage.event(
        1,
        "permission_request",
        &json!({"request_id":"permission_1","tool":"bash","kind":"shell","summary":"ls",
        "default_scope":"project"}),
    );
    let said = stage.said();
    let [Word::ApprovalWanted { approval, .. }] = meaning(&said)[..] else { panic!("{said:?}") };
    assert_eq!((approval.id.as_str(), approval.title.as_str(), approval.options.len()), ("permission_1", "ls", 3));
    let answer = Answer::Decided { resolution: Resolution::AllowRule, option: None };
    stage.ask(Ask::ApprovalAnswer { session: S, approval: ApprovalId::from("permission_1"), answer });
    let payload = json!({"request_id":"permission_1","decision":"allow-always"});
    assert_eq!(body_of(&stage.requests[0]), json!({"command":"permission_decision","payload":payload}));
    stage.event(2, "permission_response", &json!({"request_id":"permission_1","decision":"deny-once"}));
    let said = stage.said();
    let settled = Word::ApprovalSettled { session: S, approval: "permission_1".into(), resolution: Resolution::Deny };
    assert_eq!(meaning(&said), vec![&settled]);
}

#[test]
fn calls_of_tools_keep_their_names() {
    let mut stage = Stage::open(&none());
    stage.event(1, "tool_call", &json!({"call_id":"c1","tool":"bash","call":{"cmd":"ls"}}));
    stage.event(2, "tool_result", &json!({"call_id":"c1","status":"ok","error":true,"output":"no"}));
    let said = stage.said();
    let calls: Vec<_> = meaning(&said)
        .into_iter()
        .map(|word| match word {
            Word::OwnToolCall { call, told, .. } => (call.title.as_str(), call.status, *told),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(calls, [("bash", ToolStatus::Running, Telling::First), ("bash", ToolStatus::Failed, Telling::Again)]);
}

#[test]
fn a_text_is_not_told_twice() {
    let mut stage = Stage::open(&none());
    stage.event(1, "assistant_delta", &json!({"message_id":"m1","text":"a"}));
    stage.event(2, "assistant_message", &json!({"message_id":"m1","text":"a"}));
    stage.event(3, "assistant_message", &json!({"message_id":"m2","text":"b"}));
    let text = |word: &Word| matches!(word, Word::Sourced { said: Said::Text(_), .. });
    assert_eq!(stage.said().iter().map(text).collect::<Vec<_>>(), [true, false, true]);
}
