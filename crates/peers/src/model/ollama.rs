//! Ollama's own `/api/chat`, whole and in lines. Translates; decides nothing.

use serde_json::{Value, json};

use crate::model::asked::{Answer, Asked};
use crate::model::frame::Frame;
use crate::model::openai;

/// The request has the shape of a chat completion, but streams unless it says otherwise.
pub(crate) fn read(body: &Value) -> Asked {
    let schema = &body["format"];
    Asked {
        schema: schema.is_object().then(|| schema.clone()),
        streams: body["stream"].as_bool().unwrap_or(true),
        ..openai::read(body)
    }
}

fn line(said: Value, asked: &Asked) -> Value {
    json!({"model": asked.model, "created_at": "2026-01-01T00:00:00Z", "message": said, "done": false})
}

fn calls(answer: &Answer) -> Value {
    let call =
        answer.call.as_ref().map(|call| json!({"function": {"name": call.name, "arguments": call.input.object()}}));
    call.into_iter().collect()
}

pub(crate) fn whole(answer: &Answer, asked: &Asked) -> Value {
    let mut said = json!({"role": "assistant", "content": answer.whole_text()});
    if !answer.think.is_empty() {
        said["thinking"] = json!(answer.whole_thought());
    }
    if answer.call.is_some() {
        said["tool_calls"] = calls(answer);
    }
    let mut line = line(said, asked);
    end(&mut line);
    line
}

pub(crate) fn frames(answer: &Answer, asked: &Asked) -> Vec<Frame> {
    let thoughts = answer.think.iter().map(|piece| json!({"role": "assistant", "content": "", "thinking": piece}));
    let words = answer.text.iter().map(|piece| json!({"role": "assistant", "content": piece}));
    let lines = thoughts.chain(words).map(|said| line(said, asked));
    let mut frames: Vec<Frame> = lines.map(|line| Frame::raw(&format!("{line}\n")).after(answer.delay)).collect();
    if answer.is_cut {
        return frames;
    }
    if answer.call.is_some() {
        let said = json!({"role": "assistant", "content": "", "tool_calls": calls(answer)});
        frames.push(Frame::raw(&format!("{}\n", line(said, asked))));
    }
    let mut last = line(json!({"role": "assistant", "content": ""}), asked);
    end(&mut last);
    frames.push(Frame::raw(&format!("{last}\n")));
    frames
}

fn end(line: &mut Value) {
    line["done"] = json!(true);
    line["done_reason"] = json!("stop");
    line["prompt_eval_count"] = json!(100);
    line["eval_count"] = json!(10);
}
