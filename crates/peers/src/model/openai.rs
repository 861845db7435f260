//! OpenAI's chat completions, whole and streamed. Translates between its JSON and a request or an answer; decides nothing.

use serde_json::{Value, json};

use crate::model::asked::{Answer, Asked, Part, text_of};
use crate::model::frame::Frame;
use crate::model::tools::{Form, Tool};

pub(crate) fn read(body: &Value) -> Asked {
    let parts = body["messages"].as_array().into_iter().flatten().map(|entry| {
        let text = text_of(&entry["content"]);
        match entry["role"].as_str() {
            Some("user") => Part::User(text),
            Some("tool" | "function") => Part::Result(text),
            _ => Part::Other(text),
        }
    });
    let tool = |entry: &Value| {
        let of = if entry["function"].is_object() { &entry["function"] } else { entry };
        let name = of["name"].as_str()?.to_owned();
        Some(Tool { name, schema: of["parameters"].clone(), form: Form::Parameters })
    };
    let schema = &body["response_format"]["json_schema"]["schema"];
    Asked {
        parts: parts.collect(),
        tools: body["tools"].as_array().into_iter().flatten().filter_map(tool).collect(),
        schema: schema.is_object().then(|| schema.clone()),
        model: body["model"].as_str().unwrap_or("fake").to_owned(),
        streams: body["stream"].as_bool().unwrap_or_default(),
    }
}

pub(crate) fn whole(answer: &Answer, asked: &Asked, number: u64) -> Value {
    let mut said = json!({"role": "assistant", "content": answer.whole_text()});
    if !answer.think.is_empty() {
        said["reasoning_content"] = json!(answer.whole_thought());
    }
    if let Some(call) = &answer.call {
        let function = json!({"name": call.name, "arguments": call.input.text()});
        said["tool_calls"] = json!([{"id": format!("call_{number}"), "type": "function", "function": function}]);
    }
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 1, "model": asked.model,
        "choices": [{"index": 0, "message": said, "finish_reason": finish(answer)}], "usage": usage(),
    })
}

pub(crate) fn frames(answer: &Answer, asked: &Asked, number: u64) -> Vec<Frame> {
    let chunk = |delta: Value, finish: Value| {
        json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1, "model": asked.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        })
    };
    let mut frames = vec![Frame::data(&chunk(json!({"role": "assistant", "content": ""}), Value::Null))];
    for piece in &answer.think {
        frames.push(Frame::data(&chunk(json!({"reasoning_content": piece}), Value::Null)).after(answer.delay));
    }
    for piece in &answer.text {
        frames.push(Frame::data(&chunk(json!({"content": piece}), Value::Null)).after(answer.delay));
    }
    if answer.is_cut {
        return frames;
    }
    if let Some(call) = &answer.call {
        // As providers do: the name first, the arguments after it.
        let function = json!({"name": call.name, "arguments": ""});
        let head = json!({"index": 0, "id": format!("call_{number}"), "type": "function", "function": function});
        frames.push(Frame::data(&chunk(json!({"tool_calls": [head]}), Value::Null)));
        let rest = json!({"index": 0, "function": {"arguments": call.input.text()}});
        frames.push(Frame::data(&chunk(json!({"tool_calls": [rest]}), Value::Null)));
    }
    let mut last = chunk(json!({}), json!(finish(answer)));
    last["usage"] = usage();
    frames.push(Frame::data(&last));
    frames.push(Frame::raw("data: [DONE]\n\n"));
    frames
}

fn finish(answer: &Answer) -> &'static str {
    if answer.call.is_some() { "tool_calls" } else { "stop" }
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
}
