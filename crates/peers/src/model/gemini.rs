//! Gemini's generateContent and streamGenerateContent. Translates; decides nothing.

use serde_json::{Value, json};

use crate::model::asked::{Answer, Asked, Part, text_of};
use crate::model::frame::Frame;
use crate::model::tools::{Form, Tool};

/// Reads a body; the model and whether it streams stand in the path.
pub(crate) fn read(body: &Value, path: &str) -> Asked {
    let mut parts = vec![Part::Other(text_of(&body["systemInstruction"]["parts"]))];
    for entry in body["contents"].as_array().into_iter().flatten() {
        let is_model = entry["role"] == "model";
        for part in entry["parts"].as_array().into_iter().flatten() {
            let response = &part["functionResponse"];
            parts.push(match (response.is_object(), is_model) {
                (true, _) => Part::Result(response["response"].to_string()),
                (false, true) => Part::Other(text_of(part)),
                (false, false) => Part::User(text_of(part)),
            });
        }
    }
    let declared = body["tools"].as_array().into_iter().flatten();
    let declared = declared.flat_map(|entry| entry["functionDeclarations"].as_array().into_iter().flatten());
    let tool = |entry: &Value| {
        let schema = [&entry["parametersJsonSchema"], &entry["parameters"]].into_iter().find(|of| of.is_object());
        let name = entry["name"].as_str()?.to_owned();
        Some(Tool { name, schema: schema.cloned().unwrap_or_default(), form: Form::Parameters })
    };
    let wanted = &body["generationConfig"];
    let schema = [&wanted["responseJsonSchema"], &wanted["responseSchema"]];
    let model = path.rsplit('/').next().unwrap_or_default().split(':').next().unwrap_or_default();
    Asked {
        parts,
        tools: declared.filter_map(tool).collect(),
        schema: schema.into_iter().find(|schema| schema.is_object()).cloned(),
        model: model.to_owned(),
        streams: path.ends_with(":streamGenerateContent"),
    }
}

fn chunk(parts: &[Value], asked: &Asked, end: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(end) = end {
        candidate["finishReason"] = json!(end);
    }
    json!({
        "candidates": [candidate], "modelVersion": asked.model,
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
    })
}

fn call_part(answer: &Answer, number: u64) -> Option<Value> {
    let call = answer.call.as_ref()?;
    let id = format!("call_{number}");
    Some(json!({"functionCall": {"id": id, "name": call.name, "args": call.input.object()}}))
}

pub(crate) fn whole(answer: &Answer, asked: &Asked, number: u64) -> Value {
    let mut parts = Vec::new();
    if !answer.think.is_empty() {
        parts.push(json!({"text": answer.whole_thought(), "thought": true}));
    }
    if !answer.text.is_empty() {
        parts.push(json!({"text": answer.whole_text()}));
    }
    parts.extend(call_part(answer, number));
    chunk(&parts, asked, Some("STOP"))
}

pub(crate) fn frames(answer: &Answer, asked: &Asked, number: u64) -> Vec<Frame> {
    let thoughts = answer.think.iter().map(|piece| json!({"text": piece, "thought": true}));
    let words = answer.text.iter().map(|piece| json!({"text": piece}));
    let pieces = thoughts.chain(words).map(|part| Frame::data(&chunk(&[part], asked, None)).after(answer.delay));
    let mut frames: Vec<Frame> = pieces.collect();
    if answer.is_cut {
        return frames;
    }
    let last: Vec<Value> = call_part(answer, number).into_iter().collect();
    let last = if last.is_empty() { vec![json!({"text": ""})] } else { last };
    frames.push(Frame::data(&chunk(&last, asked, Some("STOP"))));
    frames
}
