//! The demo agent over its pipes, as any host of `plain` would use it: one test a prompt.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is to stop")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Nothing here takes that long unless it is broken.
const DEADLINE: Duration = Duration::from_secs(30);

struct Demo {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
}

impl Demo {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_switchboard"))
            .arg("demo-agent")
            .env("PATH", "/bin:/usr/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = sync_channel(16);
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                if stdout.read_until(b'\n', &mut line).unwrap_or(0) == 0 || send.send(line).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines }
    }

    /// A demo agent with one session, whose name is given too.
    fn with_session() -> (Self, String) {
        let mut demo = Self::start();
        let session = demo.open("r1");
        (demo, session)
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn open(&mut self, request: &str) -> String {
        self.send(&json!({ "type": "new-session", "requestId": request, "cwd": "/work" }));
        let created = self.message();
        assert_eq!((&created["type"], &created["requestId"]), (&json!("session-created"), &json!(request)));
        created["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) {
        self.send(&json!({ "type": "process-prompt", "sessionId": session, "messageId": "m1", "text": text }));
    }

    fn line(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => Some(line),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it says nothing"),
        }
    }

    fn message(&self) -> Value {
        serde_json::from_slice(&self.line().expect("it still runs")).unwrap()
    }

    /// All messages of the session up to the one of this type; what is no JSON is skipped.
    fn until(&self, session: &str, kind: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let line = self.line().expect("it still runs");
            let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
            if message["sessionId"] != session {
                continue;
            }
            let is_last = message["type"] == kind;
            all.push(message);
            if is_last {
                return all;
            }
        }
    }

    /// The text that a prompt is answered with, once the turn is complete.
    fn answer(&mut self, session: &str, prompt: &str) -> String {
        self.prompt(session, prompt);
        text(&self.until(session, "response-complete"))
    }

    fn exit(&mut self) -> ExitStatus {
        while self.line().is_some() {}
        self.child.wait().unwrap()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(messages: &[Value]) -> String {
    let chunks = messages.iter().filter(|message| message["type"] == "response-chunk");
    chunks
        .map(|message| {
            assert_eq!(message["messageId"], "m1");
            message["chunk"].as_str().unwrap()
        })
        .collect()
}

#[test]
fn any_prompt_is_answered_with_a_thought_a_plan_and_markdown() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "Please\nhelp me");
    let messages = demo.until(&session, "response-complete");
    let said = text(&messages);
    assert!(said.contains("> Please\n> help me") && said.contains("demo agent"), "{said}");
    assert!(said.contains("```toml\ndefault_agent = ") && said.contains("```sh\n#!/bin/sh"), "{said}");
    assert!(messages.iter().any(|message| message["type"] == "thought-chunk"));
    let plans: Vec<_> = messages.iter().filter(|message| message["type"] == "plan").collect();
    let statuses = |plan: &Value| -> Vec<String> {
        let entries = plan["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["status"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(statuses(plans[0]), ["in_progress", "pending", "pending"]);
    assert_eq!(statuses(plans.last().unwrap()), ["completed", "completed", "completed"]);
}

#[test]
fn the_example_agent_in_the_answer_works() {
    let (mut demo, session) = Demo::with_session();
    let said = demo.answer(&session, "hello");
    let script = said.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let mut child =
        Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let asked = [
        json!({ "type": "new-session", "requestId": "1", "cwd": "/" }),
        json!({ "type": "process-prompt", "sessionId": "1", "messageId": "m", "text": "say \"new-session\"" }),
    ];
    let mut stdin = child.stdin.take().unwrap();
    for message in &asked {
        writeln!(stdin, "{message}").unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let types: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|message| {
            (message["type"].as_str().unwrap().to_owned(), message["sessionId"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected = [("session-created", "1"), ("response-chunk", "1"), ("response-complete", "1")];
    assert_eq!(types, expected.map(|(kind, session)| (kind.to_owned(), session.to_owned())));
}

#[test]
fn the_tricks_say_what_they_promise() {
    let (mut demo, session) = Demo::with_session();
    let help = demo.answer(&session, "demo: help");
    for trick in [
        "slow", "fast", "flood", "long", "silent", "unicode", "approve", "tool", "run", "edit", "env", "error",
        "garbage",
    ] {
        assert!(help.contains(&format!("`demo: {trick}")), "{trick}");
    }
    assert!(demo.answer(&session, "demo: juggle").starts_with("There is no trick `juggle`."));
    assert_eq!(demo.answer(&session, "demo: echo two  words"), "two  words");
    assert_eq!(demo.answer(&session, "demo: spell <b>é\n🦀"), "<b>é\n🦀");
    assert_eq!(demo.answer(&session, "demo: silent"), "");
    assert_eq!(demo.answer(&session, "demo: slow 2"), "word-1 word-2 ");
    assert!(demo.answer(&session, "demo: env").lines().any(|name| name == "PATH"));
    assert_eq!(demo.answer(&session, "demo: garbage"), "After all the noise, an answer.");
    assert_eq!(demo.answer(&session, "demo: flood 1").len(), 1024 * 1024);
    assert_eq!(demo.answer(&session, "demo: long 2").len(), 2 * 1024 * 1024 + "That was a long line.".len());
}

#[test]
fn fast_is_as_many_chunks_as_asked_in_order() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: fast 20000");
    let messages = demo.until(&session, "response-complete");
    assert_eq!(messages.len(), 20_001);
    for (message, number) in messages.iter().zip(1..=20_000) {
        assert_eq!(message["chunk"], format!("{number} "));
    }
}

#[test]
fn unicode_is_split_by_characters_and_a_lone_surrogate_is_raw() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: unicode");
    let (mut said, mut lone) = (String::new(), 0);
    loop {
        let line = String::from_utf8(demo.line().unwrap()).unwrap();
        match serde_json::from_str::<Value>(&line) {
            Ok(message) if message["type"] == "response-complete" => break,
            Ok(message) => {
                let chunk = message["chunk"].as_str().unwrap();
                assert_eq!(chunk.chars().count(), 1);
                said.push_str(chunk);
            }
            Err(_) => lone += usize::from(line.contains("\\ud800 ")),
        }
    }
    assert!(said.contains("👩‍👩‍👧‍👦") && said.ends_with("done ") && lone == 1, "{said}");
}

#[test]
fn an_approval_is_awaited_and_its_answer_told() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: approve");
    let request = demo.until(&session, "approval-request").pop().unwrap();
    for (field, expected) in [("kind", "command"), ("command", "ls -la"), ("cwd", "/work"), ("severity", "low")] {
        assert_eq!(request[field], expected);
    }
    let answer =
        |id: &Value| json!({ "type": "approval-result", "sessionId": session, "approvalId": id, "decision": "deny" });
    demo.send(&answer(&json!("another question")));
    demo.send(&answer(&request["approvalId"]));
    assert!(text(&demo.until(&session, "response-complete")).contains("You decided: deny."));
}

#[test]
fn a_tool_is_called_and_its_result_told() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: tool");
    let call = demo.until(&session, "tool-call").pop().unwrap();
    assert_eq!(call["toolName"], "list_files");
    demo.send(&json!({ "type": "tool-result", "sessionId": session, "callId": call["callId"], "success": false,
        "error": { "code": "TOOL_NOT_FOUND" } }));
    assert!(text(&demo.until(&session, "response-complete")).contains("it failed: {\"code\":\"TOOL_NOT_FOUND\"}"));
}

#[test]
fn a_command_is_run_by_the_host_and_its_output_told() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: run echo hello");
    let call = demo.until(&session, "tool-call").pop().unwrap();
    assert_eq!(
        (&call["toolName"], &call["parameters"]),
        (&json!("run_terminal_command"), &json!({"command": "echo hello"}))
    );
    demo.send(&json!({ "type": "tool-result", "sessionId": session, "callId": call["callId"], "success": true,
        "data": { "exitCode": 0, "output": "hello\n" } }));
    assert!(
        text(&demo.until(&session, "response-complete")).contains("It ended with 0 and wrote:\n\n```text\nhello\n```")
    );
}

#[test]
fn a_file_is_written_and_edited_by_the_host_and_a_no_is_told() {
    let (mut demo, session) = Demo::with_session();
    let result = |call: &Value, data: Value| json!({ "type": "tool-result", "sessionId": session, "callId": call["callId"], "success": true, "data": data });
    demo.prompt(&session, "demo: edit");
    let read = demo.until(&session, "tool-call").pop().unwrap();
    assert_eq!((&read["toolName"], &read["parameters"]["path"]), (&json!("read_file"), &json!("switchboard-demo.md")));
    demo.send(&json!({ "type": "tool-result", "sessionId": session, "callId": read["callId"], "success": false,
        "error": { "code": "EXECUTION_ERROR", "message": "there is no such file" } }));
    let write = demo.until(&session, "tool-call").pop().unwrap();
    assert_eq!(write["toolName"], "write_file");
    demo.send(&result(&write, json!({})));
    let edit = demo.until(&session, "tool-call").pop().unwrap();
    let parameters =
        json!({ "path": "switchboard-demo.md", "oldText": "Edited so often: 0", "newText": "Edited so often: 1" });
    assert_eq!((&edit["toolName"], &edit["parameters"]), (&json!("edit_file"), &parameters));
    demo.send(&json!({ "type": "tool-result", "sessionId": session, "callId": edit["callId"], "success": false,
        "error": { "code": "DENIED", "message": "you said no" } }));
    assert!(text(&demo.until(&session, "response-complete")).contains("It was not done: you said no."));
}

#[test]
fn an_error_ends_the_turn() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: error");
    assert_eq!(demo.until(&session, "error").pop().unwrap()["message"], "the demo agent was asked to fail");
    assert_eq!(demo.answer(&session, "demo: echo next"), "next");
}

#[test]
fn a_cancelled_turn_stops_at_once_and_is_answered() {
    let (mut demo, session) = Demo::with_session();
    for prompt in ["demo: slow 1000000", "demo: approve", "demo: tool", "demo: fast 10000000"] {
        demo.prompt(&session, prompt);
        demo.until(&session, "response-chunk");
        demo.send(&json!({ "type": "cancel", "sessionId": session, "messageId": "m1" }));
        demo.until(&session, "response-complete");
    }
    assert_eq!(demo.answer(&session, "demo: echo alive"), "alive");
}

#[test]
fn a_hanging_turn_ignores_a_cancel_but_not_the_other_sessions() {
    let (mut demo, hanging) = Demo::with_session();
    let other = demo.open("r2");
    assert_ne!(hanging, other);
    demo.prompt(&hanging, "demo: hang");
    demo.send(&json!({ "type": "cancel", "sessionId": hanging, "messageId": "m1" }));
    demo.prompt(&other, "demo: echo here");
    let message = demo.message();
    assert_eq!((&message["sessionId"], &message["chunk"]), (&json!(other), &json!("here")));
}

#[test]
fn many_sessions_talk_at_once_in_whole_lines() {
    let mut demo = Demo::start();
    let sessions: Vec<_> = (0..20).map(|number| demo.open(&format!("r{number}"))).collect();
    for session in &sessions {
        demo.prompt(session, "demo: fast 2000");
    }
    let mut said = std::collections::HashMap::<String, Vec<String>>::new();
    let mut complete = 0;
    while complete < sessions.len() {
        let message = demo.message();
        if message["type"] == "response-complete" {
            complete += 1;
        } else {
            let chunks = said.entry(message["sessionId"].as_str().unwrap().to_owned()).or_default();
            chunks.push(message["chunk"].as_str().unwrap().to_owned());
        }
    }
    let expected: Vec<_> = (1..=2000).map(|number| format!("{number} ")).collect();
    assert!(sessions.iter().all(|session| said[session] == expected));
}

#[test]
fn a_closed_session_is_forgotten() {
    let (mut demo, session) = Demo::with_session();
    demo.send(&json!({ "type": "close-session", "sessionId": session }));
    demo.prompt(&session, "demo: echo x");
    assert_eq!(demo.message()["type"], "error");
}

#[test]
fn what_is_not_understood_is_skipped() {
    let mut demo = Demo::start();
    demo.stdin.as_mut().unwrap().write_all(b"\n{}\n{\"type\":\"later\"}\nnoise\n\xff\xfe\n").unwrap();
    demo.open("r1");
}

#[test]
fn the_sudden_ends_are_as_promised() {
    for (prompt, code) in [("demo: crash 5", 3), ("demo: exit", 0)] {
        let (mut demo, session) = Demo::with_session();
        demo.prompt(&session, prompt);
        assert_eq!(demo.exit().code(), Some(code), "{prompt}");
    }
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: half");
    assert_eq!(demo.message()["chunk"], "The next line is ");
    assert!(!demo.line().unwrap().ends_with(b"\n"));
    assert_eq!(demo.exit().code(), Some(0));
}

#[test]
fn the_end_of_its_input_is_its_end_even_in_the_middle_of_a_turn() {
    let (mut demo, session) = Demo::with_session();
    demo.prompt(&session, "demo: slow 1000000");
    demo.until(&session, "response-chunk");
    demo.stdin = None;
    assert_eq!(demo.exit().code(), Some(0));
}
