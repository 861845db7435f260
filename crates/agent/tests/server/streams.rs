//! Streams made by hand from what servers are known to send, each named by its server and by how it deviates, read whole, byte by
//! byte and cut anywhere; and bytes that no server would send.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use switchboard_agent::said::{End, Said};
use switchboard_agent::server::{
    Answer, Close, Flavor, MAX_ANSWER_BYTES, MAX_ARGUMENTS_BYTES, MAX_CALLS, MAX_LINE_BYTES,
};
use switchboard_agent::talk::{Arguments, Calling};
use switchboard_agent::trouble::TroubleKind;

/// A stream, and what is to be heard of it.
#[derive(Clone, Debug)]
struct Example {
    name: String,
    bytes: Vec<u8>,
    flavor: Flavor,
    calling: Calling,
    close: Close,
    said: Vec<Value>,
}

fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/model-streams");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let expectations = paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "expect"));
    let examples: Vec<Example> = expectations.map(|path| example(path)).collect();
    assert_eq!(
        examples.len() * 2,
        paths.len(),
        "every stream has what is expected of it beside it, and nothing else is there"
    );
    examples
}

fn example(path: &Path) -> Example {
    let stream = path.with_extension("");
    let expected: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let flavor = match (expected.get("flavor").and_then(Value::as_str), stream.extension().unwrap().to_str().unwrap()) {
        (Some("openai"), _) | (None, "sse") => Flavor::OpenAi,
        (Some("ollama"), _) | (None, "ndjson") => Flavor::Ollama,
        other => panic!("{}: whose stream is it? {other:?}", stream.display()),
    };
    let calling = match expected.get("calling").and_then(Value::as_str) {
        None => Calling::Native,
        Some("text") => Calling::Text,
        Some(other) => panic!("{}: nobody calls by {other}", stream.display()),
    };
    Example {
        name: stream.file_name().unwrap().to_string_lossy().into_owned(),
        bytes: std::fs::read(&stream).unwrap(),
        flavor,
        calling,
        close: expected["close"].as_str().map_or(Close::Clean, |why| Close::Broken(why.to_owned())),
        said: expected["said"].as_array().unwrap().clone(),
    }
}

fn hear(flavor: Flavor, calling: Calling, close: Close, pieces: &[&[u8]]) -> Vec<Said> {
    let mut answer = Answer::new(flavor, calling);
    let mut said: Vec<Said> = pieces.iter().flat_map(|piece| answer.read(piece)).collect();
    said.extend(answer.end(close.clone()));
    assert_eq!(answer.end(close), [], "the end is said once");
    assert_eq!(answer.read(b"data: {}\n\n"), [], "after the end nothing is said");
    said
}

impl Example {
    fn heard(&self, pieces: &[&[u8]]) -> Vec<Said> {
        hear(self.flavor, self.calling, self.close.clone(), pieces)
    }
}

/// The same with text and thoughts in as few pieces as can be.
fn joined(said: &[Said]) -> Vec<Said> {
    let mut out: Vec<Said> = Vec::new();
    for each in said {
        match (out.last_mut(), each) {
            (Some(Said::Text(before)), Said::Text(more)) | (Some(Said::Thought(before)), Said::Thought(more)) => {
                before.push_str(more);
            }
            _ => out.push(each.clone()),
        }
    }
    out
}

/// What was said as the expectations write it.
fn shown(said: &Said) -> Value {
    match said {
        Said::Text(text) => json!({"text": text}),
        Said::Thought(text) => json!({"thought": text}),
        Said::Call(call) => match &call.arguments {
            Arguments::Object(map) => json!({"call": {"id": call.id, "name": call.name, "arguments": map}}),
            Arguments::Broken(text) => json!({"call": {"id": call.id, "name": call.name, "broken": text}}),
        },
        Said::Used(used) => json!({"used": used}),
        Said::End(End::Done) => json!({"end": "done"}),
        Said::End(End::Cut) => json!({"end": "cut"}),
        Said::End(End::Refused(words)) => json!({"end": {"refused": words}}),
        Said::End(End::Failed(trouble)) => {
            json!({"end": {"failed": {"kind": format!("{:?}", trouble.kind), "says": trouble.message}}})
        }
    }
}

/// Whether they are the same; of trouble, whether the words are among those that were said.
fn is_as_expected(said: &Value, expected: &Value) -> bool {
    let failed = |value: &Value| value["end"]["failed"].as_object().cloned();
    match (failed(said), failed(expected)) {
        (Some(said), Some(expected)) => {
            let words = said["says"].as_str().unwrap();
            let wanted = expected["says"].as_array().unwrap();
            said["kind"] == expected["kind"] && wanted.iter().all(|wanted| words.contains(wanted.as_str().unwrap()))
        }
        _ => said == expected,
    }
}

#[test]
fn every_server_is_understood_as_it_deviates() {
    let mut wrong = Vec::new();
    for example in examples() {
        let said: Vec<Value> = joined(&example.heard(&[&example.bytes])).iter().map(shown).collect();
        let same =
            said.len() == example.said.len() && said.iter().zip(&example.said).all(|(a, b)| is_as_expected(a, b));
        if !same {
            wrong.push(format!("{}\n  heard    {}\n  expected {}", example.name, json!(said), json!(example.said)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_server_is_understood_byte_by_byte() {
    for example in examples() {
        let single: Vec<&[u8]> = example.bytes.chunks(1).collect();
        assert_eq!(example.heard(&single), example.heard(&[&example.bytes]), "{}", example.name);
    }
}

/// What holds of every answer, whatever it is made of.
fn check(said: &[Said], bytes: usize) {
    let ends = said.iter().filter(|said| matches!(said, Said::End(_))).count();
    assert_eq!(ends, 1, "one end");
    assert!(matches!(said.last(), Some(Said::End(_))), "and it is the last");
    assert!(said.iter().filter(|said| matches!(said, Said::Used(_))).count() <= 1);
    let calls: Vec<_> =
        said.iter().filter_map(|said| if let Said::Call(call) = said { Some(call) } else { None }).collect();
    assert!(calls.len() <= MAX_CALLS);
    assert!(calls.iter().enumerate().all(|(at, call)| calls.iter().skip(at + 1).all(|other| other.id != call.id)));
    let spoken: usize =
        said.iter().map(|said| if let Said::Text(text) | Said::Thought(text) = said { text.len() } else { 0 }).sum();
    // What is no UTF-8 becomes a character of three bytes; a tag that was left out comes back when the link breaks.
    assert!(spoken <= bytes * 3 + 64, "{spoken} bytes were said of {bytes}");
    if let Some(Said::End(End::Failed(trouble))) = said.last() {
        assert!(
            trouble.message.chars().count() < 1500 && !trouble.message.contains(char::is_control),
            "{}",
            trouble.message
        );
    }
}

fn cut<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn any_way() -> impl Strategy<Value = (Flavor, Calling, Close)> {
    let flavor = prop_oneof![Just(Flavor::OpenAi), Just(Flavor::Ollama)];
    let calling = prop_oneof![Just(Calling::Native), Just(Calling::Text)];
    let close = prop_oneof![Just(Close::Clean), Just(Close::Broken("gone".to_owned()))];
    (flavor, calling, close)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_server_is_understood_wherever_the_bytes_are_cut(
        example in proptest::sample::select(examples()), cuts in proptest::collection::vec(any::<Index>(), 0..12), way in any_way(),
    ) {
        let pieces = cut(&example.bytes, &cuts);
        prop_assert_eq!(example.heard(&pieces), example.heard(&[&example.bytes]), "{}", example.name);
        // And by whoever did not expect it.
        let (flavor, calling, close) = way;
        let said = hear(flavor, calling, close.clone(), &pieces);
        check(&said, example.bytes.len());
        prop_assert_eq!(said, hear(flavor, calling, close, &[&example.bytes]));
    }

    #[test]
    fn any_bytes_end_once_and_stay_small(
        bytes in proptest::collection::vec(any::<u8>(), 0..600), cuts in proptest::collection::vec(any::<Index>(), 0..8), way in any_way(),
    ) {
        let (flavor, calling, close) = way;
        let said = hear(flavor, calling, close.clone(), &cut(&bytes, &cuts));
        check(&said, bytes.len());
        prop_assert_eq!(said, hear(flavor, calling, close, &[&bytes]));
    }

    #[test]
    fn what_is_nearly_right_ends_once_and_stays_small(
        example in proptest::sample::select(examples()), from in any::<Index>(), to in any::<Index>(),
        other in proptest::sample::select(examples()), way in any_way(),
    ) {
        let (from, to) = (from.index(example.bytes.len() + 1), to.index(other.bytes.len() + 1));
        let bytes = [&example.bytes[..from], &other.bytes[to..]].concat();
        let (flavor, calling, close) = way;
        let said = hear(flavor, calling, close.clone(), &[&bytes]);
        check(&said, bytes.len());
        let single: Vec<&[u8]> = bytes.chunks(7).collect();
        prop_assert_eq!(said, hear(flavor, calling, close, &single));
    }
}

fn fails(bytes: &[u8], kind: TroubleKind, words: &str) {
    let said = hear(Flavor::OpenAi, Calling::Native, Close::Clean, &[bytes]);
    check(&said, bytes.len());
    let Some(Said::End(End::Failed(trouble))) = said.last() else { panic!("it did not fail: {:?}", said.last()) };
    assert_eq!((trouble.kind, trouble.message.contains(words)), (kind, true), "{}", trouble.message);
}

#[test]
fn a_line_and_an_event_have_a_limit() {
    fails(&vec![b'x'; MAX_LINE_BYTES + 1], TroubleKind::Garbage, "1 MiB");
    let line = format!("data: {}\n", "x".repeat(1000));
    fails(line.repeat(MAX_LINE_BYTES / 1000 + 1).as_bytes(), TroubleKind::Garbage, "1 MiB");
    let line = format!("{{{}\n", " ".repeat(1000));
    fails(line.repeat(MAX_LINE_BYTES / 1000 + 1).as_bytes(), TroubleKind::Garbage, "1 MiB");
}

#[test]
fn an_answer_has_a_limit() {
    let piece = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": "x".repeat(100_000)}}]}));
    fails(piece.repeat(MAX_ANSWER_BYTES / piece.len() + 1).as_bytes(), TroubleKind::Garbage, "16 MiB");
}

#[test]
fn calls_and_their_arguments_have_a_limit() {
    let piece = |call: Value| format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
    let calls: String =
        (0..=MAX_CALLS).map(|index| piece(json!({"index": index, "function": {"name": "a"}}))).collect();
    fails(calls.as_bytes(), TroubleKind::Garbage, "64 calls");
    let part = "x".repeat(100_000);
    let parts = piece(json!({"index": 0, "function": {"arguments": part}})).repeat(MAX_ARGUMENTS_BYTES / 100_000 + 1);
    fails(parts.as_bytes(), TroubleKind::Garbage, "1 MiB of arguments");
}

#[test]
fn calls_without_an_id_are_numbered_on() {
    let mut answer = Answer::new(Flavor::Ollama, Calling::Native).numbered_from(41);
    let line = json!({"message": {"tool_calls": [{"function": {"name": "a", "arguments": {}}}]}, "done": true});
    let said = answer.read(format!("{line}\n").as_bytes());
    let Some(Said::Call(call)) = said.first() else { panic!("{said:?}") };
    assert_eq!(call.id, "call00042");
}
