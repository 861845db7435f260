//! OpenAI's responses, whole and streamed, as Codex speaks them. Translates; decides nothing.

use serde_json::{Value, json};

use crate::model::asked::{Answer, Asked, Part, text_of};
use crate::model::frame::Frame;
use crate::model::tools::{Form, Input, Tool};

pub(crate) fn read(body: &Value) -> Asked {
    let entries = match &body["input"] {
        Value::String(text) => vec![json!({"role": "user", "content": text})],
        Value::Array(entries) => entries.clone(),
        _ => Vec::new(),
    };
    let parts = entries.iter().filter_map(|entry| match entry["type"].as_str() {
        Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
            Some(Part::Result(text_of(&entry["output"])))
        }
        None | Some("message") => {
            let text = text_of(&entry["content"]);
            Some(if entry["role"] == "user" { Part::User(text) } else { Part::Other(text) })
        }
        Some(_) => None,
    });
    let tools = body["tools"].as_array().into_iter().flatten();
    let schema = &body["text"]["format"]["schema"];
    Asked {
        parts: parts.collect(),
        tools: tools.filter_map(tool).collect(),
        schema: schema.is_object().then(|| schema.clone()),
        model: body["model"].as_str().unwrap_or("fake").to_owned(),
        streams: body["stream"].as_bool().unwrap_or_default(),
    }
}

fn tool(entry: &Value) -> Option<Tool> {
    let name = || entry["name"].as_str().map(str::to_owned);
    match entry["type"].as_str()? {
        "function" => Some(Tool { name: name()?, schema: entry["parameters"].clone(), form: Form::Parameters }),
        "custom" => Some(Tool { name: name()?, schema: Value::Null, form: Form::Text }),
        _ => None,
    }
}

/// The finished items of an answer.
fn items(answer: &Answer, number: u64) -> Vec<Value> {
    let mut items = Vec::new();
    if !answer.think.is_empty() {
        let summary = json!([{"type": "summary_text", "text": answer.whole_thought()}]);
        items.push(json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": summary, "content": []}));
    }
    if !answer.text.is_empty() {
        let content = json!([{"type": "output_text", "text": answer.whole_text(), "annotations": []}]);
        items.push(json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": content,
        }));
    }
    if let Some(call) = &answer.call {
        let (kind, field) = match call.input {
            Input::Parameters(_) => ("function_call", "arguments"),
            Input::Text(_) => ("custom_tool_call", "input"),
        };
        let mut item = json!({
            "type": kind, "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "name": call.name,
            "status": "completed",
        });
        item[field] = json!(call.input.text());
        items.push(item);
    }
    items
}

pub(crate) fn whole(answer: &Answer, asked: &Asked, number: u64) -> Value {
    json!({
        "id": format!("resp_{number}"), "object": "response", "created_at": 1, "status": "completed",
        "model": asked.model, "output": items(answer, number), "usage": usage(),
    })
}

pub(crate) fn frames(answer: &Answer, asked: &Asked, number: u64) -> Vec<Frame> {
    let mut begun = whole(answer, asked, number);
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut frames = vec![Frame::named(&json!({"type": "response.created", "response": begun}))];
    for (at, item) in items(answer, number).iter().enumerate() {
        let mut empty = item.clone();
        let deltas: (&[String], &str, &str) = match item["type"].as_str() {
            Some("reasoning") => {
                empty["summary"] = json!([]);
                (&answer.think, "response.reasoning_summary_text.delta", "summary_index")
            }
            Some("message") => {
                empty["content"] = json!([]);
                empty["status"] = json!("in_progress");
                (&answer.text, "response.output_text.delta", "content_index")
            }
            _ => (&[], "", ""),
        };
        frames.push(Frame::named(&json!({"type": "response.output_item.added", "output_index": at, "item": empty})));
        if item["type"] == "reasoning" {
            let part = json!({"type": "summary_text", "text": ""});
            frames.push(Frame::named(&json!({
                "type": "response.reasoning_summary_part.added", "item_id": item["id"], "output_index": at,
                "summary_index": 0, "part": part,
            })));
        }
        let (pieces, kind, index) = deltas;
        for piece in pieces {
            let mut event = json!({"type": kind, "item_id": item["id"], "output_index": at, "delta": piece});
            event[index] = json!(0);
            frames.push(Frame::named(&event).after(answer.delay));
        }
        if answer.is_cut && item["type"] == "message" {
            return frames;
        }
        frames.push(Frame::named(&json!({"type": "response.output_item.done", "output_index": at, "item": item})));
    }
    let done = json!({"type": "response.completed", "response": whole(answer, asked, number)});
    frames.push(Frame::named(&done));
    frames
}

fn usage() -> Value {
    json!({
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110,
    })
}
