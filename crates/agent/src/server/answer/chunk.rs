//! What one JSON object of a stream says, in whichever server's spelling. Knows nothing of what came before it, but whether something
//! did.

use serde_json::{Map, Value};

use super::calls::CallPiece;
use crate::server::refusal::Complaint;
use crate::talk::Used;
use crate::trouble::{Trouble, TroubleKind};

/// A piece of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    /// From here on only pieces count: a whole message that follows repeats them.
    InPieces,
    Text(String),
    Thought(String),
    Call(CallPiece),
    Refusal(String),
    Used(Used),
    /// How the model finished. More may follow: what it used, for one.
    Finish(Finish),
    /// Nothing follows.
    Over,
    Error(Complaint),
}

/// How the model finished.
#[derive(Debug, PartialEq)]
pub(super) enum Finish {
    Done,
    Cut,
    Filtered,
    Failed(Trouble),
}

/// All that the object says; none if it says nothing that a model's server would.
pub(super) fn read(value: &Value, in_pieces: bool) -> Option<Vec<Piece>> {
    let map = value.as_object()?;
    let mut pieces = Vec::new();
    let mut known = false;
    if let Some(choices) = map.get("choices") {
        known = true;
        // Only one choice is ever asked for; others have another index.
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        choices.as_array().into_iter().flatten().filter(first).for_each(|each| choice(each, in_pieces, &mut pieces));
    }
    if let Some(message) = map.get("message").and_then(Value::as_object) {
        known = true;
        spoken(message, &mut pieces);
    }
    let own = map.get("usage").or_else(|| map.get("x_groq")?.get("usage"));
    if let Some(used) = own.and_then(used).or_else(|| used_by_ollama(map)).or_else(|| used_by_timings(map)) {
        known = true;
        pieces.push(Piece::Used(used));
    }
    if let Some(complaint) = complaint(value, map, known) {
        pieces.push(Piece::Error(complaint));
    } else if map.get("done").and_then(Value::as_bool) == Some(true) {
        known = true;
        pieces.push(Piece::Finish(finish(text(map, "done_reason").unwrap_or_default())));
        pieces.push(Piece::Over);
    }
    (known || !pieces.is_empty()).then_some(pieces)
}

/// What went wrong, if the object says so.
fn complaint(value: &Value, map: &Map<String, Value>, known: bool) -> Option<Complaint> {
    let told = match map.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(words)) => !words.is_empty(),
        Some(_) => true,
    };
    let named = text(map, "object") == Some("error") || text(map, "type") == Some("error");
    let only_words = !known && (map.contains_key("detail") || text(map, "message").is_some());
    (told || named || only_words).then(|| Complaint::of(value))
}

fn choice(choice: &Value, in_pieces: bool, pieces: &mut Vec<Piece>) {
    match (choice.get("delta"), choice.get("message"), choice.get("text")) {
        (Some(Value::Object(delta)), _, _) => {
            pieces.push(Piece::InPieces);
            spoken(delta, pieces);
        }
        (_, Some(Value::Object(message)), _) if !in_pieces => spoken(message, pieces),
        (_, None, Some(Value::String(text))) => pieces.push(Piece::Text(text.clone())),
        _ => {}
    }
    if let Some(used) = choice.get("usage").and_then(used) {
        pieces.push(Piece::Used(used));
    }
    match choice.get("error") {
        None | Some(Value::Null) => {}
        Some(_) => pieces.push(Piece::Error(Complaint::of(choice))),
    }
    if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty()) {
        pieces.push(Piece::Finish(finish(reason)));
    }
}

/// A message, or a piece of one.
fn spoken(map: &Map<String, Value>, pieces: &mut Vec<Piece>) {
    // Some servers send the same thought under two names: the first that says something counts.
    let named = ["reasoning_content", "reasoning", "thinking"].into_iter().find_map(|name| text(map, name));
    let thought = named.filter(|thought| !thought.is_empty()).map(str::to_owned).or_else(|| details(map));
    pieces.extend(thought.map(Piece::Thought));
    match map.get("content") {
        Some(Value::String(text)) if !text.is_empty() => pieces.push(Piece::Text(text.clone())),
        Some(Value::Array(parts)) => parts.iter().for_each(|each| part(each, pieces)),
        _ => {}
    }
    if let Some(refusal) = text(map, "refusal").filter(|refusal| !refusal.is_empty()) {
        pieces.push(Piece::Refusal(refusal.to_owned()));
    }
    match map.get("tool_calls") {
        Some(Value::Array(calls)) => pieces.extend(calls.iter().filter_map(CallPiece::of).map(Piece::Call)),
        Some(one @ Value::Object(_)) => pieces.extend(CallPiece::of(one).map(Piece::Call)),
        _ => {}
    }
    if let Some(call) = map.get("function_call").filter(|call| call.is_object()) {
        pieces.extend(CallPiece::legacy(call).map(Piece::Call));
    }
}

/// A part of a message that comes as a list of parts.
fn part(part: &Value, pieces: &mut Vec<Piece>) {
    let text = |name: &str| part.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    pieces.extend(text("text").map(Piece::Text));
    pieces.extend(text("refusal").map(Piece::Refusal));
    match part.get("thinking") {
        Some(Value::String(thought)) if !thought.is_empty() => pieces.push(Piece::Thought(thought.clone())),
        Some(Value::Array(parts)) => {
            let words = parts.iter().filter_map(|part| part.get("text")?.as_str());
            pieces.extend(words.map(|words| Piece::Thought(words.to_owned())));
        }
        _ => {}
    }
}

/// Thoughts in a list; what is encrypted says nothing to us.
fn details(map: &Map<String, Value>) -> Option<String> {
    let details = map.get("reasoning_details")?.as_array()?;
    let words = |detail: &Value| {
        let words = detail.get("text").or_else(|| detail.get("summary"))?;
        words.as_str().map(str::to_owned)
    };
    Some(details.iter().filter_map(words).collect::<String>()).filter(|thought| !thought.is_empty())
}

fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name)?.as_str().filter(|text| !text.is_empty())
}

fn finish(reason: &str) -> Finish {
    match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" => Finish::Cut,
        "content_filter" | "safety" | "recitation" | "prohibited_content" => Finish::Filtered,
        "error" => failed(TroubleKind::BrokenOff, "The server says that the answer failed, and not why."),
        "abort" | "aborted" | "cancelled" => failed(TroubleKind::BrokenOff, "The server has dropped the answer."),
        "insufficient_system_resource" => {
            failed(TroubleKind::NotYet, "The server had too little room for the answer. Try again later.")
        }
        _ => Finish::Done,
    }
}

fn failed(kind: TroubleKind, message: &str) -> Finish {
    Finish::Failed(Trouble { kind, message: message.to_owned(), retry_after_ms: None })
}

fn used(usage: &Value) -> Option<Used> {
    let number = |names: &[&str]| names.iter().find_map(|name| usage.get(name)?.as_u64()).unwrap_or(0);
    let within = |list: &str, name: &str| usage.get(list).and_then(|list| list.get(name)?.as_u64());
    let cached =
        within("prompt_tokens_details", "cached_tokens").or_else(|| within("input_tokens_details", "cached_tokens"));
    let thought = within("completion_tokens_details", "reasoning_tokens")
        .or_else(|| within("output_tokens_details", "reasoning_tokens"));
    let used = Used {
        input: number(&["prompt_tokens", "input_tokens"]),
        output: number(&["completion_tokens", "output_tokens"]),
        cached: cached.unwrap_or_else(|| number(&["prompt_cache_hit_tokens", "cached_tokens"])),
        thought: thought.unwrap_or_else(|| number(&["reasoning_tokens"])),
    };
    (used != Used::default()).then_some(used)
}

/// Ollama's own count, in its last line.
fn used_by_ollama(map: &Map<String, Value>) -> Option<Used> {
    let number = |name: &str| map.get(name).and_then(Value::as_u64).unwrap_or(0);
    let used = Used { input: number("prompt_eval_count"), output: number("eval_count"), ..Used::default() };
    (used != Used::default()).then_some(used)
}

/// What llama.cpp measures; there the prompt is counted without what came from its cache.
fn used_by_timings(map: &Map<String, Value>) -> Option<Used> {
    let number = |name: &str| map.get("timings").and_then(|timings| timings.get(name)?.as_u64()).unwrap_or(0);
    let cached = number("cache_n");
    let input = number("prompt_n").saturating_add(cached);
    let used = Used { input, output: number("predicted_n"), cached, thought: 0 };
    (used != Used::default()).then_some(used)
}
