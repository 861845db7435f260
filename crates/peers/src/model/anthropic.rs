//! Anthropic's messages, whole and streamed. Translates; decides nothing.

use serde_json::{Value, json};

use crate::model::asked::{Answer, Asked, Part, text_of};
use crate::model::frame::Frame;
use crate::model::tools::{Form, Tool};

pub(crate) fn read(body: &Value) -> Asked {
    let mut parts = vec![Part::Other(text_of(&body["system"]))];
    for entry in body["messages"].as_array().into_iter().flatten() {
        let is_user = entry["role"] == "user";
        let whole = std::slice::from_ref(&entry["content"]);
        for block in entry["content"].as_array().map_or(whole, Vec::as_slice) {
            parts.push(match block["type"].as_str() {
                Some("tool_result") => Part::Result(text_of(&block["content"])),
                _ if is_user => Part::User(text_of(block)),
                _ => Part::Other(text_of(block)),
            });
        }
    }
    let tool = |entry: &Value| {
        let name = entry["name"].as_str()?.to_owned();
        Some(Tool { name, schema: entry["input_schema"].clone(), form: Form::Parameters })
    };
    let schema = [&body["output_config"]["format"]["schema"], &body["output_format"]["schema"]];
    Asked {
        parts,
        tools: body["tools"].as_array().into_iter().flatten().filter_map(tool).collect(),
        schema: schema.into_iter().find(|schema| schema.is_object()).cloned(),
        model: body["model"].as_str().unwrap_or("fake").to_owned(),
        streams: body["stream"].as_bool().unwrap_or_default(),
    }
}

fn blocks(answer: &Answer, number: u64) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !answer.think.is_empty() {
        blocks.push(json!({"type": "thinking", "thinking": answer.whole_thought(), "signature": "scripted"}));
    }
    if !answer.text.is_empty() {
        blocks.push(json!({"type": "text", "text": answer.whole_text()}));
    }
    if let Some(call) = &answer.call {
        let id = format!("toolu_{number}");
        blocks.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": call.input.object()}));
    }
    blocks
}

pub(crate) fn whole(answer: &Answer, asked: &Asked, number: u64) -> Value {
    json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": asked.model,
        "content": blocks(answer, number), "stop_reason": stop(answer), "stop_sequence": null, "usage": usage(),
    })
}

pub(crate) fn frames(answer: &Answer, asked: &Asked, number: u64) -> Vec<Frame> {
    let mut begun = whole(answer, asked, number);
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut frames = vec![Frame::named(&json!({"type": "message_start", "message": begun}))];
    for (at, block) in blocks(answer, number).iter().enumerate() {
        let mut empty = block.clone();
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": at, "delta": delta});
        let deltas: Vec<Value> = match block["type"].as_str() {
            Some("thinking") => {
                empty["thinking"] = json!("");
                empty["signature"] = json!("");
                let pieces = answer.think.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                pieces.chain([json!({"type": "signature_delta", "signature": "scripted"})]).map(delta).collect()
            }
            Some("text") => {
                empty["text"] = json!("");
                answer.text.iter().map(|piece| delta(json!({"type": "text_delta", "text": piece}))).collect()
            }
            _ => {
                empty["input"] = json!({});
                vec![delta(json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))]
            }
        };
        frames.push(Frame::named(&json!({"type": "content_block_start", "index": at, "content_block": empty})));
        frames.extend(deltas.iter().map(|delta| Frame::named(delta).after(answer.delay)));
        if answer.is_cut && block["type"] == "text" {
            return frames;
        }
        frames.push(Frame::named(&json!({"type": "content_block_stop", "index": at})));
    }
    let delta = json!({"stop_reason": stop(answer), "stop_sequence": null});
    frames.push(Frame::named(&json!({"type": "message_delta", "delta": delta, "usage": usage()})));
    frames.push(Frame::named(&json!({"type": "message_stop"})));
    frames
}

fn stop(answer: &Answer) -> &'static str {
    if answer.call.is_some() { "tool_use" } else { "end_turn" }
}

fn usage() -> Value {
    json!({"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0})
}
