//! What is sent for a question, whole, as each server wants it.

use serde_json::{Map, Value, json};
use switchboard_agent::server::{Flavor, ask};
use switchboard_agent::talk::{Arguments, Ask, Calling, Message, Part, ToolCall, ToolSpec};

fn text(text: &str) -> Part {
    Part::Text { text: text.to_owned() }
}

fn call(id: &str, arguments: Arguments) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "read_file".to_owned(), arguments }
}

fn object(value: Value) -> Arguments {
    Arguments::Object(value.as_object().unwrap().clone())
}

/// A conversation with one of each.
fn question(calling: Calling) -> Ask {
    let said = |text: &str, calls| Message::Assistant { text: text.to_owned(), thought: "hm".to_owned(), calls };
    let result = |call: &str, text: &str| {
        let (call, name, text) = (call.to_owned(), "read_file".to_owned(), text.to_owned());
        Message::Tool { call, name, text, failed: false }
    };
    Ask {
        model: "m".to_owned(),
        messages: vec![
            Message::System { text: "be good".to_owned() },
            Message::User { parts: vec![text("look"), text("here")] },
            Message::User {
                parts: vec![text("at"), Part::Image { mime: "image/png".to_owned(), data: "AAAA".to_owned() }],
            },
            said("", vec![call("c1", object(json!({"path": "a"}))), call("c2", Arguments::Broken("{'x".to_owned()))]),
            result("c1", "one"),
            result("c2", "two"),
            said("", Vec::new()),
            said("done", Vec::new()),
        ],
        tools: vec![ToolSpec {
            name: "read_file".to_owned(),
            description: "Reads".to_owned(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        calling,
        temperature: Some(0.5),
        context: Some(8192),
    }
}

fn sent(flavor: Flavor, question: &Ask) -> (String, Value) {
    let post = ask(flavor, question);
    (post.path, serde_json::from_slice(&post.body).unwrap())
}

fn tools() -> Value {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    json!([{"type": "function", "function": {"name": "read_file", "description": "Reads", "parameters": parameters}}])
}

#[test]
fn a_question_to_a_server_of_openais_way() {
    let (path, body) = sent(Flavor::OpenAi, &question(Calling::Native));
    assert_eq!(path, "/v1/chat/completions");
    let function = |arguments: &str| json!({"name": "read_file", "arguments": arguments});
    let expected = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.5,
        "tools": tools(), "tool_choice": "auto",
        "messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": "look\n\nhere"},
            {"role": "user", "content": [
                {"type": "text", "text": "at"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ]},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "type": "function", "function": function("{\"path\":\"a\"}")},
                {"id": "c2", "type": "function", "function": function("{\"unreadable\":\"{'x\"}")},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
            {"role": "tool", "tool_call_id": "c2", "content": "two"},
            {"role": "assistant", "content": "done"},
        ],
    });
    assert_eq!(body, expected);
}

#[test]
fn a_question_to_ollama() {
    let (path, body) = sent(Flavor::Ollama, &question(Calling::Native));
    assert_eq!(path, "/api/chat");
    let expected = json!({
        "model": "m", "stream": true, "options": {"num_ctx": 8192, "temperature": 0.5}, "tools": tools(),
        "messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": "look\n\nhere"},
            {"role": "user", "content": "at", "images": ["AAAA"]},
            {"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": "read_file", "arguments": {"path": "a"}}},
                {"function": {"name": "read_file", "arguments": {"unreadable": "{'x"}}},
            ]},
            {"role": "tool", "tool_name": "read_file", "content": "one"},
            {"role": "tool", "tool_name": "read_file", "content": "two"},
            {"role": "assistant", "content": "done"},
        ],
    });
    assert_eq!(body, expected);
}

#[test]
fn a_plain_question_has_nothing_that_it_does_not_need() {
    let plain = Ask { tools: Vec::new(), temperature: None, context: None, ..question(Calling::Native) };
    let keys = |flavor| sent(flavor, &plain).1.as_object().map(Map::len).unwrap();
    assert_eq!((keys(Flavor::OpenAi), keys(Flavor::Ollama)), (4, 3));
}

#[test]
fn a_model_that_calls_in_text_is_told_how_and_sees_its_calls_as_it_wrote_them() {
    for flavor in [Flavor::OpenAi, Flavor::Ollama] {
        let (_, body) = sent(flavor, &question(Calling::Text));
        assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
        let messages = body["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user", "assistant"]);
        let system = messages[0]["content"].as_str().unwrap();
        assert!(
            system.starts_with("be good\n\n")
                && system.contains("<tool_call>")
                && system.contains("## read_file\nReads\n")
        );
        let called = "<tool_call>\n{\"arguments\":{\"path\":\"a\"},\"name\":\"read_file\"}\n</tool_call>\n<tool_call>\n{'x\n</tool_call>";
        let written: Value = messages[2]["content"].clone();
        let same = written == called
            || written
                == called.replace(
                    "{\"arguments\":{\"path\":\"a\"},\"name\":\"read_file\"}",
                    "{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}",
                );
        assert!(same, "{written}");
        let results = "<tool_result name=\"read_file\">\none\n</tool_result>\n\n<tool_result name=\"read_file\">\ntwo\n</tool_result>";
        assert_eq!(messages[3]["content"], results);
    }
}

#[test]
fn in_text_a_person_who_speaks_after_results_speaks_in_the_same_message() {
    let mut question = question(Calling::Text);
    question.messages.truncate(7);
    question.messages.push(Message::User { parts: vec![text("go on")] });
    for flavor in [Flavor::OpenAi, Flavor::Ollama] {
        let (_, body) = sent(flavor, &question);
        let messages = body["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        let said = messages[3]["content"].as_str().unwrap();
        assert!(said.starts_with("<tool_result ") && said.ends_with("</tool_result>\n\ngo on"), "{said}");
    }
}

#[test]
fn a_model_is_told_once_how_to_call() {
    let mut told = question(Calling::Text);
    let how = switchboard_agent::server::text_calls::how(&told.tools);
    told.messages[0] = Message::System { text: format!("be good\n\n{how}") };
    let (_, body) = sent(Flavor::OpenAi, &told);
    assert_eq!(body["messages"][0]["content"], format!("be good\n\n{how}"));
    told.messages.remove(0);
    let (_, body) = sent(Flavor::OpenAi, &told);
    assert_eq!(body["messages"][0], json!({"role": "system", "content": how}));
}
