//! The model is asked as agents ask it: with requests that real ones have sent, and over a real socket.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::asked::{Asked, Part, Reply, reply};
use super::script::Step;
use super::tools::Input;
use super::{Model, anthropic, gemini, openai, responses};

const RECORDED: &str = include_str!("../../../../testdata/model/requests.jsonl");
const PATIENCE: Duration = Duration::from_secs(10);

/// A request of an agent that has had one tool's result, with a script of ours in its prompt.
fn recorded(agent: &str, script: &str) -> Asked {
    let lines = RECORDED.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = lines.into_iter().find(|line| line["agent"] == agent).unwrap();
    let escaped = json!(format!("FAKE{script}")).to_string();
    let escaped = escaped.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap();
    let body = serde_json::from_str(&found["body"].to_string().replace("SCRIPT", escaped)).unwrap();
    match found["path"].as_str().unwrap() {
        "/v1/chat/completions" => openai::read(&body),
        "/v1/responses" => responses::read(&body),
        "/v1/messages?beta=true" => anthropic::read(&body),
        path => gemini::read(&body, path.split('?').next().unwrap()),
    }
}

/// The tool that the second step of a script calls, and what with.
fn called(agent: &str, step: &Value) -> (String, Value) {
    let script = json!([{"do": "read", "path": "first"}, step]).to_string();
    match reply(&recorded(agent, &script)) {
        Reply::Answer(answer) => {
            let call = answer.call.unwrap_or_else(|| panic!("{agent} has no tool for {step}"));
            let input = match call.input {
                Input::Parameters(value) => value,
                Input::Text(text) => json!(text),
            };
            (call.name, input)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_agent_is_asked_to_edit_in_its_own_words() {
    let step = json!({"do": "edit", "path": "/ws/a", "old": "x", "new": "y"});
    let named = |path: &str| json!({path: "/ws/a", "old_string": "x", "new_string": "y"});
    let expected = [
        ("claude", "Edit", named("file_path")),
        ("codex", "apply_patch", json!("*** Begin Patch\n*** Update File: /ws/a\n@@\n-x\n+y\n*** End Patch\n")),
        ("copilot", "edit", json!({"path": "/ws/a", "old_str": "x", "new_str": "y"})),
        (
            "gemini",
            "replace",
            json!({"file_path": "/ws/a", "old_string": "x", "new_string": "y", "instruction": "as the script says"}),
        ),
        ("kimi", "Edit", named("path")),
        ("opencode", "edit", json!({"filePath": "/ws/a", "oldString": "x", "newString": "y"})),
        ("qwen", "edit", named("file_path")),
    ];
    for (agent, tool, input) in expected {
        assert_eq!((agent, called(agent, &step)), (agent, (tool.to_owned(), input)));
    }
}

#[test]
fn every_agent_is_asked_to_run_a_command_in_its_own_words() {
    let step = json!({"do": "shell", "cmd": "ls"});
    for (agent, tool, name) in [
        ("claude", "Bash", "command"),
        ("codex", "exec_command", "cmd"),
        ("copilot", "bash", "command"),
        ("gemini", "run_shell_command", "command"),
        ("kimi", "Bash", "command"),
        ("opencode", "bash", "command"),
        ("qwen", "run_shell_command", "command"),
    ] {
        let (called, input) = called(agent, &step);
        assert_eq!((agent, called.as_str(), &input[name]), (agent, tool, &json!("ls")));
    }
}

#[test]
fn every_agent_is_asked_to_write_in_its_own_words() {
    let step = json!({"do": "write", "path": "/ws/a", "content": "x\ny\n"});
    let patch = "*** Begin Patch\n*** Add File: /ws/a\n+x\n+y\n*** End Patch\n";
    for (agent, tool, input) in [
        ("claude", "Write", json!({"file_path": "/ws/a", "content": "x\ny\n"})),
        ("codex", "apply_patch", json!(patch)),
        ("copilot", "create", json!({"path": "/ws/a", "file_text": "x\ny\n"})),
        ("gemini", "write_file", json!({"file_path": "/ws/a", "content": "x\ny\n"})),
        ("kimi", "Write", json!({"path": "/ws/a", "content": "x\ny\n"})),
        ("opencode", "write", json!({"filePath": "/ws/a", "content": "x\ny\n"})),
        ("qwen", "write_file", json!({"file_path": "/ws/a", "content": "x\ny\n"})),
    ] {
        assert_eq!((agent, called(agent, &step)), (agent, (tool.to_owned(), input)));
    }
}

#[test]
fn plans_are_written_in_the_words_of_each_agent() {
    let step = json!({"do": "plan", "items": [["look", "completed"], ["do", "pending"]]});
    let codex = json!({"plan": [{"step": "look", "status": "completed"}, {"step": "do", "status": "pending"}]});
    assert_eq!(called("codex", &step), ("update_plan".to_owned(), codex));
    let kimi = json!({"todos": [{"title": "look", "status": "done"}, {"title": "do", "status": "pending"}]});
    assert_eq!(called("kimi", &step), ("TodoList".to_owned(), kimi));
    let (tool, input) = called("opencode", &step);
    assert_eq!(tool, "todowrite");
    assert_eq!(input["todos"][1], json!({"content": "do", "status": "pending", "priority": "medium"}));
}

#[test]
fn a_step_that_no_tool_can_do_is_left_out() {
    let script = r#"[{"do":"plan","items":[["a","pending"]]},{"do":"read","path":"b"},{"do":"say","text":"done"}]"#;
    let Reply::Answer(answer) = reply(&recorded("gemini", script)) else { panic!("no answer") };
    assert_eq!(
        (answer.whole_text(), answer.call),
        ("done".to_owned(), None),
        "Gemini has no plan, and one result came"
    );
}

#[test]
fn a_word_is_remembered_only_if_it_came_up_before() {
    let asked = |before: &str| Asked {
        parts: vec![
            Part::User(before.to_owned()),
            Part::Other("yes".to_owned()),
            Part::User(r#"FAKE[{"do":"recall","word":"zebra"}]"#.to_owned()),
        ],
        ..Asked::default()
    };
    let said = |before| match reply(&asked(before)) {
        Reply::Answer(answer) => answer.whole_text(),
        other => panic!("{other:?}"),
    };
    assert_eq!(said("my word is zebra"), "I remember zebra.");
    assert_eq!(said("my word is horse"), "I do not remember that.");
}

#[test]
fn a_question_of_the_agents_own_gets_json_of_the_shape_it_wants() {
    let schema =
        json!({"type": "OBJECT", "properties": {"model_choice": {"type": "STRING", "enum": ["flash", "pro"]}}});
    let asked = Asked { schema: Some(schema), parts: vec![Part::User("which?".to_owned())], ..Asked::default() };
    let Reply::Answer(answer) = reply(&asked) else { panic!("no answer") };
    assert_eq!(answer.whole_text(), r#"{"model_choice":"flash"}"#);
}

/// What the model answers to a request over a socket: the status and the body.
async fn ask(model: &Model, path: &str, body: &Value) -> (u16, String) {
    let mut socket = TcpStream::connect(model.address).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.0\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut text = String::new();
    tokio::time::timeout(PATIENCE, socket.read_to_string(&mut text)).await.unwrap().unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The data of the events of a stream that are JSON.
fn events(body: &str) -> Vec<Value> {
    body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

const SAY: &str = r#"FAKE[{"do":"say","think":"hm","text":"good day","n":2}]"#;

#[tokio::test]
async fn chat_completions_stream_thoughts_and_words() {
    let model = Model::start(0, None).await.unwrap();
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": SAY}]});
    let (status, text) = ask(&model, "/v1/chat/completions", &body).await;
    let deltas: Vec<Value> = events(&text).iter().map(|event| event["choices"][0]["delta"].clone()).collect();
    assert_eq!(status, 200);
    assert!(deltas.contains(&json!({"reasoning_content": "h"})), "{deltas:?}");
    assert!(deltas.contains(&json!({"content": "good"})) && deltas.contains(&json!({"content": " day"})), "{deltas:?}");
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
}

#[tokio::test]
async fn responses_stream_ends_with_all_that_was_said() {
    let model = Model::start(0, None).await.unwrap();
    let entry = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": SAY}]});
    let (_, text) = ask(&model, "/v1/responses", &json!({"model": "m", "stream": true, "input": [entry]})).await;
    let events = events(&text);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"][1]["content"][0]["text"], "good day");
}

#[tokio::test]
async fn anthropic_streams_blocks_in_order() {
    let model = Model::start(0, None).await.unwrap();
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": SAY}]});
    let (_, text) = ask(&model, "/v1/messages?beta=true", &body).await;
    let kinds: Vec<String> = events(&text).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    let expected = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn gemini_answers_streamed_and_whole() {
    let model = Model::start(0, None).await.unwrap();
    let body = json!({"contents": [{"role": "user", "parts": [{"text": SAY}]}]});
    let (_, text) = ask(&model, "/v1beta/models/g:streamGenerateContent?alt=sse", &body).await;
    assert_eq!(events(&text)[0]["candidates"][0]["content"]["parts"][0], json!({"text": "h", "thought": true}));
    let (_, text) = ask(&model, "/v1beta/models/g:generateContent", &body).await;
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(whole["candidates"][0]["content"]["parts"][1], json!({"text": "good day"}));
}

#[tokio::test]
async fn ollama_answers_in_lines() {
    let model = Model::start(0, None).await.unwrap();
    let (_, text) = ask(&model, "/api/chat", &json!({"messages": [{"role": "user", "content": SAY}]})).await;
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[2]["message"]["content"], "good");
    assert_eq!(lines.last().unwrap()["done"], true);
}

#[tokio::test]
async fn errors_are_those_of_the_script_and_what_nobody_answers_is_not_found() {
    let model = Model::start(0, None).await.unwrap();
    let body = json!({"messages": [{"role": "user", "content": r#"FAKE[{"do":"error","status":503}]"#}]});
    let (status, text) = ask(&model, "/v1/chat/completions", &body).await;
    assert_eq!(status, 503);
    assert!(text.contains("scripted error 503"), "{text}");
    assert_eq!(ask(&model, "/v1/nothing", &body).await.0, 404);
    assert_eq!(ask(&model, "/v1/messages", &Value::Null).await.0, 200, "what has no prompt is told how to script");
}

#[test]
fn an_unknown_field_of_a_step_is_refused() {
    assert!(serde_json::from_value::<Step>(json!({"do": "shell", "command": "ls"})).is_err());
}
