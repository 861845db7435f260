//! What a request asks of the model, whatever API it came by, and what the model answers. Never looks at a provider's JSON.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::model::script::{self, Step, wait};
use crate::model::tools::{self, Call, Tool};

/// Pieces of an answer that does not say how many.
const USUAL_PIECES: usize = 4;
/// How deep a made-up answer follows a schema.
const MAX_DEPTH: usize = 8;

/// One part of a conversation, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What a person, or the agent in its name, says.
    User(String),
    /// What the model or the system has said before.
    Other(String),
    /// What came of a tool.
    Result(String),
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    pub(crate) parts: Vec<Part>,
    pub(crate) tools: Vec<Tool>,
    /// The schema of the answer, where the request wants JSON.
    pub(crate) schema: Option<Value>,
    pub(crate) model: String,
    pub(crate) streams: bool,
}

/// What the model does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Answer(Answer),
    /// An HTTP error.
    Fail {
        status: u16,
        text: String,
    },
    /// Silence.
    Hang(Duration),
}

/// An answer, in pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) think: Vec<String>,
    pub(crate) text: Vec<String>,
    pub(crate) call: Option<Call>,
    /// Before each piece.
    pub(crate) delay: Duration,
    /// Whether it breaks off before its end.
    pub(crate) is_cut: bool,
}

impl Answer {
    fn says(text: &str) -> Self {
        Self { text: pieces(text, USUAL_PIECES), ..Self::default() }
    }

    pub(crate) fn whole_text(&self) -> String {
        self.text.concat()
    }

    pub(crate) fn whole_thought(&self) -> String {
        self.think.concat()
    }
}

/// What the model answers to a request.
pub(crate) fn reply(asked: &Asked) -> Reply {
    // Titles, routes and summaries: the agent's own questions offer no tools.
    if let Some(schema) = asked.schema.as_ref().filter(|_| asked.tools.is_empty()) {
        return Reply::Answer(Answer::says(&made_up(schema, MAX_DEPTH).to_string()));
    }
    let Some((at, found)) = last_script(&asked.parts) else {
        return Reply::Answer(Answer::says(
            "This model does what a prompt scripts: FAKE[{\"do\":\"say\",\"text\":\"hi\"}]",
        ));
    };
    let script = match found {
        Ok(script) => script,
        Err(why) => return Reply::Answer(Answer::says(&why)),
    };
    if asked.tools.is_empty() && script.steps.iter().any(calls) {
        return Reply::Answer(Answer::says("A scripted prompt"));
    }
    let done = asked.parts[at..].iter().filter(|part| matches!(part, Part::Result(_))).count();
    // A step that no tool can carry out is left out, so that the others keep their places.
    let feasible = |step: &&Step| !calls(step) || tools::call(step, &asked.tools).is_some();
    match script.steps.iter().filter(feasible).nth(done) {
        Some(Step::Recall { word }) => recall(word, asked, &script.raw),
        Some(step) => carry_out(step, &asked.tools),
        None => Reply::Answer(Answer::says("The script has ended.")),
    }
}

fn last_script(parts: &[Part]) -> Option<(usize, Result<script::Script, String>)> {
    let of = |(at, part): (usize, &Part)| match part {
        Part::User(text) => script::find(text).map(|found| (at, found)),
        Part::Other(_) | Part::Result(_) => None,
    };
    parts.iter().enumerate().rev().find_map(of)
}

fn calls(step: &Step) -> bool {
    match step {
        Step::Plan { .. }
        | Step::Read { .. }
        | Step::Edit { .. }
        | Step::Write { .. }
        | Step::Shell { .. }
        | Step::Tool { .. } => true,
        Step::Say { .. }
        | Step::Slow { .. }
        | Step::Recall { .. }
        | Step::Error { .. }
        | Step::Hang { .. }
        | Step::Cut { .. } => false,
    }
}

fn carry_out(step: &Step, tools: &[Tool]) -> Reply {
    let calling = |text: &Option<String>| {
        let text = text.as_deref().map(|text| pieces(text, USUAL_PIECES)).unwrap_or_default();
        Reply::Answer(Answer { text, call: tools::call(step, tools), ..Answer::default() })
    };
    match step {
        Step::Say { text, think, n, delay } => Reply::Answer(Answer {
            think: think.as_deref().map(|think| pieces(think, USUAL_PIECES)).unwrap_or_default(),
            text: pieces(text, n.unwrap_or(USUAL_PIECES)),
            delay: wait(delay.unwrap_or_default()),
            ..Answer::default()
        }),
        Step::Slow { n, delay } => Reply::Answer(Answer {
            text: (1..=*n).map(|number| format!("word{number} ")).collect(),
            delay: wait(*delay),
            ..Answer::default()
        }),
        Step::Plan { text, .. }
        | Step::Read { text, .. }
        | Step::Edit { text, .. }
        | Step::Write { text, .. }
        | Step::Shell { text, .. }
        | Step::Tool { text, .. } => calling(text),
        Step::Recall { .. } => Reply::Answer(Answer::default()),
        Step::Error { status } => Reply::Fail { status: *status, text: format!("scripted error {status}") },
        Step::Hang { seconds } => Reply::Hang(wait(*seconds)),
        Step::Cut { text } => Reply::Answer(Answer { is_cut: true, ..Answer::says(text) }),
    }
}

/// Looks for the word everywhere but in the script that asks for it.
fn recall(word: &str, asked: &Asked, raw: &str) -> Reply {
    let knows = asked.parts.iter().any(|part| {
        let (Part::User(text) | Part::Other(text) | Part::Result(text)) = part;
        text.replace(raw, "").contains(word)
    });
    let text = if knows { format!("I remember {word}.") } else { "I do not remember that.".to_owned() };
    Reply::Answer(Answer::says(&text))
}

/// Cuts a text into so many pieces of nearly the same length, or into its characters if those are fewer.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(count.max(1)).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// Some value that the schema lets through.
fn made_up(schema: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    let kind = schema["type"].as_str().unwrap_or("object").to_lowercase();
    match kind.as_str() {
        "string" => json!("scripted"),
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        "array" => json!([]),
        _ => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            Value::Object(fields.map(|(name, of)| (name.clone(), made_up(of, depth - 1))).collect::<Map<_, _>>())
        }
    }
}

/// The text of a content that is a string, a part or a list of parts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => part.get("text").or_else(|| part.get("content")).map(text_of).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
