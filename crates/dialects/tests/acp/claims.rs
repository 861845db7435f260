//! What real agents do, each as a test named by the claim. What is about processes is tested where processes are.

use serde_json::{Value, json};
use switchboard_dialects::agent::acp::Offers;
use switchboard_types::{
    ApprovalKind, Cut, ErrandCode, ErrandFailure, ErrandResult, ExecutionId, Exit, OptionKind, Outcome, Resolution,
    Severity, Telling, TerminalWish, ToolContent, ToolStatus, Word,
};

use crate::wire::{S, Wire, errand, question};

fn permission(options: Value) -> Value {
    json!({"toolCall":{"toolCallId":"c","title":"Run ls","kind":"execute"},"options":options})
}

fn option(id: &str, kind: &str) -> Value {
    json!({"optionId":id,"name":id,"kind":kind})
}

/// The words about tool calls: id, title, status, and whether it was the first.
fn calls(words: &[Word]) -> Vec<(String, String, ToolStatus, Telling)> {
    let call = |word: &Word| match word {
        Word::OwnToolCall { call, told, .. } => {
            Some((call.id.as_str().to_owned(), call.title.clone(), call.status, *told))
        }
        _ => None,
    };
    words.iter().filter_map(call).collect()
}

fn told(id: &str, title: &str, status: ToolStatus, telling: Telling) -> (String, String, ToolStatus, Telling) {
    (id.to_owned(), title.to_owned(), status, telling)
}

#[test]
fn a_line_of_commands_of_half_a_megabyte_is_read() {
    let mut wire = Wire::open();
    let long = "d".repeat(700);
    let commands: Vec<_> = (0..900).map(|n| json!({"name":format!("c{n}"),"description":long})).collect();
    let update = json!({"sessionUpdate":"available_commands_update","availableCommands":commands});
    assert!(update.to_string().len() > 570_000);
    let words = wire.updates(update);
    let [Word::Commands { session: S, commands }] = words.as_slice() else { panic!("{}", words.len()) };
    assert_eq!((commands.len(), commands[899].name.as_str(), commands[0].description.len()), (900, "c899", 700));
}

#[test]
fn tool_calls_come_in_any_order_and_each_is_told_first_exactly_once() {
    let (mut wire, _) = Wire::prompted();
    let update = json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"});
    let call = json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"Read a","kind":"read"});
    let first = wire.updates(update.clone());
    assert_eq!(calls(&first), [told("c", "a tool call", ToolStatus::Running, Telling::First)]);
    assert_eq!(calls(&wire.updates(call.clone())), [told("c", "Read a", ToolStatus::Running, Telling::Again)]);
    assert_eq!(calls(&wire.updates(call)), [told("c", "Read a", ToolStatus::Running, Telling::Again)]);
    assert_eq!(calls(&wire.updates(update)), [told("c", "Read a", ToolStatus::Running, Telling::Again)]);
    // Permission first, with no call before or after.
    let asked = json!({"toolCall":{"toolCallId":"q","title":"Edit b","kind":"edit"},"options":[]});
    let words = wire.asks(json!(7), "session/request_permission", asked);
    assert_eq!(calls(&words), [told("q", "Edit b", ToolStatus::Pending, Telling::First)]);
    assert_eq!(question(&words).call.unwrap().as_str(), "q");
}

#[test]
fn an_agent_that_counts_its_calls_anew_in_each_turn_has_new_calls() {
    let (mut wire, asked) = Wire::prompted();
    let call = json!({"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Read","status":"completed"});
    assert_eq!(calls(&wire.updates(call.clone()))[0].3, Telling::First);
    wire.answers(&asked, json!({"stopReason":"end_turn"}));
    wire.prompts("m2", "again");
    assert_eq!(calls(&wire.updates(call))[0].3, Telling::First);
}

#[test]
fn a_call_of_an_unknown_status_and_kind_and_with_odd_fields_still_shows() {
    let (mut wire, _) = Wire::prompted();
    let odd = json!({
        "sessionUpdate":"tool_call","toolCallId":"c","title":7,"kind":"teleport","status":"pondering",
        "locations":"nowhere","content":[{"type":"hologram"},{"type":"content","content":{"type":"text","text":"t"}}],
        "rawInput":{"a":1},
    });
    let words = wire.updates(odd);
    let [Word::OwnToolCall { call, .. }] = words.as_slice() else { panic!("{words:?}") };
    assert_eq!(
        (call.title.as_str(), call.kind.as_deref(), call.status),
        ("teleport", Some("teleport"), ToolStatus::Pending)
    );
    let other = ToolContent::Other { raw: json!({"type":"hologram"}) };
    assert_eq!(call.content, Some(vec![other, ToolContent::Text { text: "t".to_owned() }]));
    assert_eq!((call.input.clone(), call.locations.clone()), (Some(json!({"a":1})), None));
}

#[test]
fn a_terminal_that_the_host_never_made_shows_the_output_in_its_meta() {
    let (mut wire, _) = Wire::prompted();
    let content = json!([{"type":"terminal","terminalId":"theirs"}]);
    let call = json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","content":content,
        "_meta":{"terminal_info":{"terminal_id":"theirs","cwd":"/w"}}});
    let output = |words: Vec<Word>| match words.as_slice() {
        [Word::OwnToolCall { call, .. }] => call.content.clone(),
        _ => panic!("{words:?}"),
    };
    let shows = |text: &str| {
        Some(vec![ToolContent::Terminal { terminal: ExecutionId::from("theirs"), output: Some(text.to_owned()) }])
    };
    assert_eq!(output(wire.updates(call)), shows(""));
    let more = |data: &str| {
        json!({"sessionUpdate":"tool_call_update","toolCallId":"c",
            "_meta":{"terminal_output":{"terminal_id":"theirs","data":data}}})
    };
    // A little is not worth telling it all again.
    assert_eq!(wire.updates(more("one\n")), []);
    assert_eq!(wire.updates(more("two\n")), []);
    let end = json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed",
        "_meta":{"terminal_exit":{"terminal_id":"theirs","exit_code":0}}});
    assert_eq!(output(wire.updates(end)), shows("one\ntwo\n"));
    assert_eq!(output(wire.updates(more(&"x".repeat(5_000)))), shows(&format!("one\ntwo\n{}", "x".repeat(5_000))));
}

#[test]
fn a_terminal_of_the_host_is_shown_by_its_name_alone() {
    let (mut wire, _) = Wire::prompted();
    let words = wire.asks(json!(1), "terminal/create", json!({"command":"ls","args":["-l"]}));
    let (name, _) = errand(&words);
    let running = ErrandResult::Running { terminal: ExecutionId::from("x9") };
    let answers = wire.does(&name, Ok(running));
    assert_eq!(answers, [json!({"jsonrpc":"2.0","id":1,"result":{"terminalId":"x9"}})]);
    let words = wire.updates(json!({"sessionUpdate":"tool_call_update","toolCallId":"c",
        "content":[{"type":"terminal","terminalId":"x9"}]}));
    let [Word::OwnToolCall { call, .. }] = words.as_slice() else { panic!("{words:?}") };
    let shown = ToolContent::Terminal { terminal: ExecutionId::from("x9"), output: None };
    assert_eq!(call.content, Some(vec![shown]));
}

#[test]
fn output_kill_and_release_are_answered_while_a_wait_is_pending() {
    let (mut wire, _) = Wire::prompted();
    let on = json!({"terminalId":"x"});
    let (waits, what) = errand(&wire.asks(json!("w"), "terminal/wait_for_exit", on.clone()));
    let terminal = ExecutionId::from("x");
    assert_eq!(what, switchboard_types::Errand::Terminal { terminal, wish: TerminalWish::Wait });
    let (looks, _) = errand(&wire.asks(json!("o"), "terminal/output", on.clone()));
    let output = ErrandResult::Output { text: "begin\n".to_owned(), cut: Cut::Short, exit: None };
    let told = wire.does(&looks, Ok(output));
    let wanted = json!({"output":"begin\n","truncated":true,"exitStatus":null});
    assert_eq!(told, [json!({"jsonrpc":"2.0","id":"o","result":wanted})]);
    let (kills, _) = errand(&wire.asks(json!("k"), "terminal/kill", on.clone()));
    assert_eq!(wire.does(&kills, Ok(ErrandResult::Killed)), [json!({"jsonrpc":"2.0","id":"k","result":{}})]);
    let (lets_go, _) = errand(&wire.asks(json!("r"), "terminal/release", on));
    assert_eq!(wire.does(&lets_go, Ok(ErrandResult::Released)), [json!({"jsonrpc":"2.0","id":"r","result":{}})]);
    let told = wire.does(&waits, Ok(ErrandResult::Exited(Exit::Signal("SIGKILL".to_owned()))));
    assert_eq!(told, [json!({"jsonrpc":"2.0","id":"w","result":{"exitCode":null,"signal":"SIGKILL"}})]);
    // Once is all.
    assert_eq!(wire.does(&waits, Ok(ErrandResult::Killed)), Vec::<Value>::new());
}

#[test]
fn foreign_methods_are_refused_or_noted_and_the_talk_goes_on() {
    let (mut wire, asked) = Wire::prompted();
    let words = wire.asks(json!(5), "_vendor/dance", json!({"x":1}));
    assert!(
        matches!(words.as_slice(), [Word::Unknown { session: S, name, .. }] if name == "_vendor/dance"),
        "{words:?}"
    );
    let owed = wire.owed();
    assert_eq!((owed[0]["id"].clone(), owed[0]["error"]["code"].clone()), (json!(5), json!(-32601)));
    wire.says(json!({"jsonrpc":"2.0","id":6,"method":"elicitation/create","params":{}}));
    assert_eq!(wire.owed()[0]["error"]["code"], json!(-32601));
    let words = wire.says(json!({"jsonrpc":"2.0","method":"_vendor/mood","params":{"sessionId":"s","mood":"good"}}));
    assert!(matches!(words.as_slice(), [Word::Unknown { name, .. }] if name == "_vendor/mood"), "{words:?}");
    assert_eq!(wire.says(json!({"jsonrpc":"2.0","method":"_vendor/hello"})), []);
    assert_eq!(wire.noise.last().unwrap(), "\"_vendor/hello\" names no session");
    let done = wire.answers(&asked, json!({"stopReason":"cancelled"}));
    assert!(matches!(done.as_slice(), [Word::TurnDone { outcome: Outcome::Cancelled, .. }]));
}

#[test]
fn permission_is_answered_by_kind_whatever_the_order_and_however_often_a_kind_repeats() {
    let offers = json!([
        option("always-all", "allow_always"),
        option("once-a", "allow_once"),
        option("always-this", "allow_always"),
        option("once-b", "allow_once"),
        option("never", "reject_always"),
        option("no", "reject_once"),
        option("odd", "shrug"),
    ]);
    let cases = [
        (Resolution::AllowOnce, None, "once-a"),
        (Resolution::AllowSession, None, "always-all"),
        (Resolution::AllowRule, None, "always-all"),
        (Resolution::Deny, None, "no"),
        (Resolution::DenyStop, None, "no"),
        (Resolution::AllowOnce, Some("once-b"), "once-b"),
        (Resolution::AllowSession, Some("odd"), "odd"),
        (Resolution::AllowSession, Some("not offered"), "always-all"),
    ];
    for (resolution, wish, wanted) in cases {
        let (mut wire, _) = Wire::prompted();
        let asked = question(&wire.asks(json!("q"), "session/request_permission", permission(offers.clone())));
        assert_eq!((asked.options.len(), asked.options[6].kind), (7, OptionKind::Other));
        let answers = wire.decides(&asked.id, resolution, wish);
        let outcome = json!({"outcome":{"outcome":"selected","optionId":wanted}});
        assert_eq!(answers, [json!({"jsonrpc":"2.0","id":"q","result":outcome})]);
        assert_eq!(wire.decides(&asked.id, Resolution::Deny, None), Vec::<Value>::new());
    }
}

#[test]
fn without_a_fitting_answer_the_question_is_withdrawn_and_an_allowance_is_told() {
    let cancelled = json!({"outcome":{"outcome":"cancelled"}});
    let cases = [
        (json!([option("no", "reject_once")]), Resolution::AllowOnce, cancelled.clone(), 1),
        (json!([option("all", "allow_always")]), Resolution::AllowOnce, cancelled.clone(), 1),
        (json!([option("yes", "allow_once")]), Resolution::Deny, cancelled.clone(), 0),
        (json!(7), Resolution::Deny, cancelled, 0),
        (
            json!([option("yes", "allow_once")]),
            Resolution::AllowSession,
            json!({"outcome":{"outcome":"selected","optionId":"yes"}}),
            0,
        ),
        (
            json!([option("never", "reject_always")]),
            Resolution::Deny,
            json!({"outcome":{"outcome":"selected","optionId":"never"}}),
            0,
        ),
    ];
    for (offers, resolution, wanted, notes) in cases {
        let (mut wire, _) = Wire::prompted();
        let asked = question(&wire.asks(json!(1), "session/request_permission", permission(offers)));
        assert_eq!(wire.decides(&asked.id, resolution, None)[0]["result"], wanted);
        let unsaid = wire.unsaid();
        assert_eq!(unsaid.len(), notes, "{unsaid:?}");
        assert!(unsaid.iter().all(|word| matches!(word, Word::Status { .. })));
    }
}

#[test]
fn the_ids_one_and_quoted_one_are_two_questions() {
    let (mut wire, _) = Wire::prompted();
    let offers = json!([option("yes", "allow_once"), option("no", "reject_once")]);
    let number = question(&wire.asks(json!(1), "session/request_permission", permission(offers.clone())));
    let string = question(&wire.asks(json!("1"), "session/request_permission", permission(offers)));
    let denied = wire.decides(&string.id, Resolution::Deny, None);
    assert_eq!(
        (denied[0]["id"].clone(), denied[0]["result"]["outcome"]["optionId"].clone()),
        (json!("1"), json!("no"))
    );
    let allowed = wire.decides(&number.id, Resolution::AllowOnce, None);
    assert_eq!(
        (allowed[0]["id"].clone(), allowed[0]["result"]["outcome"]["optionId"].clone()),
        (json!(1), json!("yes"))
    );
}

#[test]
fn a_question_shows_what_would_happen() {
    let (mut wire, _) = Wire::prompted();
    let call = json!({"toolCallId":"c","title":"Run","kind":"execute","rawInput":{"command":["/bin/sh","-c","echo 'a b'"],"cwd":"/w"}});
    wire.updates(json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"Run","kind":"execute","rawInput":call["rawInput"]}));
    // What the question leaves out is known from the call.
    let asked = question(&wire.asks(
        json!(1),
        "session/request_permission",
        json!({"toolCall":{"toolCallId":"c"},"options":[]}),
    ));
    assert_eq!(asked.command.as_deref(), Some(r"/bin/sh -c 'echo '\''a b'\'''"));
    assert_eq!(
        (asked.cwd.as_deref(), asked.kind, asked.severity),
        (Some("/w"), ApprovalKind::Command, Severity::Medium)
    );
    let edit = json!({"toolCallId":"e","title":"Edit","kind":"delete","content":[
        {"type":"diff","path":"/w/a","oldText":"x\n","newText":"y\n"},
        {"type":"content","content":{"type":"text","text":"Requesting approval"}}]});
    let asked = question(&wire.asks(json!(2), "session/request_permission", json!({"toolCall":edit,"options":[]})));
    assert_eq!((asked.path.as_deref(), asked.kind, asked.severity), (Some("/w/a"), ApprovalKind::Edit, Severity::High));
    assert_eq!(asked.diff.as_deref(), Some("--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-x\n+y\n"));
    assert_eq!(asked.reason, "the agent asks before it goes on: Requesting approval");
    let read = json!({"toolCallId":"r","title":"Fetch","kind":"fetch","rawInput":{"url":"http://x"}});
    let asked = question(&wire.asks(json!(3), "session/request_permission", json!({"toolCall":read,"options":[]})));
    assert_eq!((asked.kind, asked.severity), (ApprovalKind::Tool, Severity::Low));
}

#[test]
fn a_change_that_stands_in_the_input_alone_is_shown_all_the_same() {
    let (mut wire, _) = Wire::prompted();
    let input = json!({"fileName":"/w/a","diff":"\n--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-x\n+y\n"});
    let edit =
        json!({"toolCallId":"e","title":"Edit file","kind":"edit","rawInput":input,"locations":[{"path":"/w/a"}]});
    let asked = question(&wire.asks(json!(0), "session/request_permission", json!({"toolCall":edit,"options":[]})));
    assert_eq!(asked.diff.as_deref(), Some("--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-x\n+y\n"));
}

#[test]
fn after_a_rejection_the_turn_ends_in_whatever_way_the_agent_chooses() {
    let offers = json!([option("no", "reject_once")]);
    for (stop, outcome) in [("end_turn", Outcome::Completed), ("cancelled", Outcome::Cancelled)] {
        let (mut wire, asked) = Wire::prompted();
        let about = question(&wire.asks(json!(1), "session/request_permission", permission(offers.clone())));
        wire.decides(&about.id, Resolution::Deny, None);
        let words = wire.answers(&asked, json!({"stopReason":stop}));
        let [Word::TurnDone { outcome: ended, detail: None, .. }] = words.as_slice() else { panic!("{words:?}") };
        assert_eq!(*ended, outcome);
    }
}

#[test]
fn a_failing_model_is_told_in_whichever_way_the_agent_says_it() {
    let failed = |words: Vec<Word>| match words.as_slice() {
        [Word::TurnDone { outcome, detail, .. }] => {
            (*outcome, detail.clone().map(|detail| (detail.code, detail.message)))
        }
        _ => panic!("{words:?}"),
    };
    let error = |code: i64, message: &str, data: Value| {
        let (mut wire, asked) = Wire::prompted();
        let words =
            wire.says(json!({"jsonrpc":"2.0","id":asked["id"],"error":{"code":code,"message":message,"data":data}}));
        failed(words)
    };
    let agent_error = |message: &str| (Outcome::Failed, Some(("agent_error".to_owned(), message.to_owned())));
    assert_eq!(
        error(-32603, "Internal error", json!({"details":"overloaded"})),
        agent_error("Internal error: overloaded")
    );
    assert_eq!(error(400, r#"{"error":{"message":"fake error 400"}}"#, Value::Null), agent_error("fake error 400"));
    let long = error(-1, &"x".repeat(50_000), Value::Null).1.unwrap().1;
    assert_eq!(long.chars().count(), 2_001);
    // `end_turn` with no text at all.
    let (mut wire, asked) = Wire::prompted();
    wire.updates(json!({"sessionUpdate":"usage_update","used":1,"size":2}));
    wire.updates(json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}));
    let (outcome, detail) = failed(wire.answers(&asked, json!({"stopReason":"end_turn"})));
    assert_eq!((outcome, detail.unwrap().0.as_str()), (Outcome::Completed, "no_answer"));
    // With the error as text it is an answer like any other.
    let (mut wire, asked) = Wire::prompted();
    wire.updates(json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Error: 400"}}));
    assert_eq!(failed(wire.answers(&asked, json!({"stopReason":"end_turn"}))), (Outcome::Completed, None));
}

#[test]
fn the_other_ends_of_a_turn_are_told_in_words() {
    let cases = [
        ("max_tokens", Outcome::Completed, Some("max_tokens")),
        ("max_turn_requests", Outcome::Completed, Some("max_turn_requests")),
        ("refusal", Outcome::Failed, Some("refusal")),
        ("bored", Outcome::Completed, Some("other_reason")),
    ];
    for (stop, outcome, code) in cases {
        let (mut wire, asked) = Wire::prompted();
        let words = wire.answers(&asked, json!({"stopReason":stop}));
        let [Word::TurnDone { outcome: ended, detail, name, .. }] = words.as_slice() else { panic!("{words:?}") };
        assert_eq!((*ended, detail.as_ref().map(|detail| detail.code.as_str())), (outcome, code));
        assert_eq!(name.as_ref().unwrap().as_str(), "m1");
    }
}

#[test]
fn a_cancel_goes_out_first_and_then_every_question_is_withdrawn() {
    let (mut wire, asked) = Wire::prompted();
    wire.asks(json!("a"), "session/request_permission", permission(json!([])));
    wire.asks(json!("b"), "session/request_permission", permission(json!([])));
    let sent = wire.cancels("m1");
    assert_eq!(sent[0], json!({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}));
    let mut withdrawn: Vec<_> = sent[1..].iter().map(|message| message["id"].clone()).collect();
    withdrawn.sort_by_key(Value::to_string);
    assert_eq!(withdrawn, [json!("a"), json!("b")]);
    assert!(sent[1..].iter().all(|message| message["result"] == json!({"outcome":{"outcome":"cancelled"}})));
    assert_eq!(wire.cancels("m1"), Vec::<Value>::new());
    // One agent took long and said `end_turn`; that is the end all the same.
    let words = wire.answers(&asked, json!({"stopReason":"end_turn"}));
    assert!(matches!(words.as_slice(), [Word::TurnDone { outcome: Outcome::Completed, .. }]));
    assert_eq!(wire.cancels("m1"), Vec::<Value>::new());
}

#[test]
fn a_second_prompt_is_never_sent_while_one_runs() {
    let (mut wire, _) = Wire::prompted();
    assert_eq!(wire.prompts("m2", "more"), Value::Null);
    let unsaid = wire.unsaid();
    let [Word::TurnDone { name: Some(name), outcome: Outcome::Failed, .. }] = unsaid.as_slice() else {
        panic!("{unsaid:?}")
    };
    assert_eq!(name.as_str(), "m2");
}

#[test]
fn no_such_file_is_answered_as_the_reference_does() {
    let (mut wire, _) = Wire::prompted();
    let (name, what) =
        errand(&wire.asks(json!(4), "fs/read_text_file", json!({"path":"/w/new.txt","line":2,"limit":3})));
    let read = switchboard_types::Errand::Read { path: "/w/new.txt".to_owned(), line: Some(2), limit: Some(3) };
    assert_eq!(what, read);
    let told = wire.does(&name, Err(ErrandFailure::new(ErrandCode::NotFound, "there is no such file")));
    let error = json!({"code":-32002,"message":"Resource not found","data":{"uri":"/w/new.txt"}});
    assert_eq!(told, [json!({"jsonrpc":"2.0","id":4,"error":error})]);
}

#[test]
fn the_agent_that_no_error_can_tell_of_a_missing_file_reads_for_itself() {
    let offers = |command: &[&str]| Offers::to(&command.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    let all = Offers { read: true, write: true, terminal: true };
    assert_eq!(offers(&["kimi", "acp"]), all);
    for command in [["npx", "@google/gemini-cli@0.61.0"], ["/opt/bin/gemini", "--acp"]] {
        assert_eq!(offers(&command), Offers { read: false, ..all });
    }
}

#[test]
fn other_failures_of_errands_say_why() {
    let cases = [
        (ErrandCode::Denied, -32603),
        (ErrandCode::Outside, -32602),
        (ErrandCode::Invalid, -32602),
        (ErrandCode::TooLarge, -32602),
        (ErrandCode::Changed, -32603),
        (ErrandCode::Failed, -32603),
        (ErrandCode::Cancelled, -32800),
    ];
    for (code, wanted) in cases {
        let (mut wire, _) = Wire::prompted();
        let (name, _) = errand(&wire.asks(json!(4), "fs/write_text_file", json!({"path":"/w/a","content":"x"})));
        let told = wire.does(&name, Err(ErrandFailure::new(code, "the person declined")));
        let mut error = json!({"code":wanted,"message":"the person declined"});
        if code == ErrandCode::Denied {
            error["data"] = json!({"denied":true});
        }
        assert_eq!(told[0]["error"], error);
    }
    // What cannot be read is refused at once.
    let (mut wire, _) = Wire::prompted();
    assert_eq!(wire.asks(json!(4), "fs/write_text_file", json!({"path":7})), []);
    assert_eq!(wire.owed()[0]["error"]["code"], json!(-32602));
    assert_eq!(wire.asks(json!(5), "terminal/kill", json!({})), []);
    assert_eq!(wire.owed()[0]["error"]["code"], json!(-32602));
}

#[test]
fn an_errand_that_the_agent_calls_back_is_dropped_and_answered() {
    let (mut wire, _) = Wire::prompted();
    let (name, _) = errand(&wire.asks(json!("w"), "terminal/wait_for_exit", json!({"terminalId":"x"})));
    let words = wire.says(json!({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"w"}}));
    assert_eq!(words, [Word::ErrandDropped { session: S, errand: name.clone() }]);
    assert_eq!(wire.owed()[0]["error"]["code"], json!(-32800));
    assert_eq!(wire.does(&name, Ok(ErrandResult::Killed)), Vec::<Value>::new());
}

#[test]
fn malformed_json_is_noise_and_the_talk_goes_on() {
    let (mut wire, asked) = Wire::prompted();
    for text in ["Loading model...", "{\"jsonrpc\":", "7", "\u{1b}[2mlog\u{1b}[0m"] {
        assert_eq!(wire.says_text(text), []);
    }
    assert_eq!(wire.noise.len(), 4);
    assert_eq!(wire.owed(), Vec::<Value>::new());
    assert_eq!(wire.answers(&asked, json!({"stopReason":"cancelled"})).len(), 1);
}

#[test]
fn requests_for_sessions_that_nobody_knows_get_an_error() {
    let mut wire = Wire::open();
    for (id, method) in [(1, "fs/read_text_file"), (2, "session/request_permission"), (3, "terminal/create")] {
        wire.says(
            json!({"jsonrpc":"2.0","id":id,"method":method,"params":{"sessionId":"nobody","path":"/a","command":"ls"}}),
        );
        let owed = wire.owed();
        assert_eq!((owed[0]["id"].clone(), owed[0]["error"]["code"].clone()), (json!(id), json!(-32602)));
    }
    wire.says(json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"nobody","update":{}}}));
    assert_eq!(wire.noise.last().unwrap(), "an update is for the unknown session \"nobody\"");
}

#[test]
fn streamed_text_is_shared_with_its_frame_on_the_long_way_and_on_the_short() {
    let (mut wire, _) = Wire::prompted();
    let chunk = |text: &str| {
        json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":
            {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":text}}}})
        .to_string()
    };
    for text in ["one", "two \\n", "three \"quoted\"", "é🦀"] {
        let frame = bytes::Bytes::from(chunk(text));
        let mut said = Vec::new();
        switchboard_dialects::agent::AgentDialect::read(
            &mut wire.dialect,
            switchboard_types::Time(0),
            &frame,
            &mut said,
        )
        .unwrap();
        let [Word::Text { text: told, name: Some(name), .. }] = said.as_slice() else { panic!("{said:?}") };
        assert_eq!((told.to_plain().as_str(), name.as_str()), (text, "m1"));
        let within = frame.as_ptr_range();
        assert!(within.contains(&told.as_escaped().as_ptr()));
    }
}
