//! Calls in a model's text: every form that models write, text that only looks like one, and what is broken.

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_agent::server::MAX_CALLS;
use switchboard_agent::server::text_calls::{Found, Reader};
use switchboard_agent::talk::Arguments;

fn text(text: &str) -> Found {
    Found::Text(text.to_owned())
}

fn call(name: &str, arguments: Value) -> Found {
    Found::Call { name: name.to_owned(), arguments: Arguments::Object(arguments.as_object().unwrap().clone()) }
}

fn broken(name: &str, written: &str) -> Found {
    Found::Call { name: name.to_owned(), arguments: Arguments::Broken(written.to_owned()) }
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<Found> {
    let mut reader = Reader::default();
    let mut found: Vec<Found> = pieces.into_iter().flat_map(|piece| reader.read(piece)).collect();
    found.extend(reader.end());
    assert_eq!(reader.give_up(), None, "nothing is held back for good");
    let mut joined: Vec<Found> = Vec::new();
    for each in found {
        match (joined.last_mut(), each) {
            (Some(Found::Text(before)), Found::Text(more)) => before.push_str(&more),
            (_, each) => joined.push(each),
        }
    }
    joined
}

fn letters(whole: &str) -> Vec<String> {
    whole.chars().map(String::from).collect()
}

/// The same whole, by the letter, and in pieces of seven.
fn gives(whole: &str, expected: &[Found]) {
    assert_eq!(read([whole]), expected, "{whole:?}");
    let letters = letters(whole);
    assert_eq!(read(letters.iter().map(String::as_str)), expected, "{whole:?} by the letter");
    let sevens: Vec<String> = letters.chunks(7).map(|seven| seven.concat()).collect();
    assert_eq!(read(sevens.iter().map(String::as_str)), expected, "{whole:?} in sevens");
}

#[test]
fn calls_between_tags() {
    let one = || call("a", json!({"x": 1}));
    gives(r#"<tool_call>{"name":"a","arguments":{"x":1}}</tool_call>"#, &[one()]);
    gives("Hm.\n<tool_call>\n{\"name\": \"a\", \"parameters\": {\"x\": 1}}\n</tool_call>\n", &[text("Hm.\n"), one()]);
    gives(r#"<tool_call>{"name":"a","arguments":"{\"x\":1}"}</tool_call> yes"#, &[one(), text("yes")]);
    gives(r#"<tool_call>{"type":"function","function":{"name":"a","arguments":{"x":1}}}</tool_call>"#, &[one()]);
    gives(r#"<tool_call>[{"name":"a","arguments":{"x":1}},{"name":"b"}]</tool_call>"#, &[one(), call("b", json!({}))]);
    gives(
        "<tool_call>{\"name\":\"a\",\"arguments\":{\"x\":1}}\n{\"name\":\"b\"}</tool_call>",
        &[one(), call("b", json!({}))],
    );
    gives(r#"<tool_call>{"name":"a","arguments":{"x":1}}"#, &[one()]);
    gives(
        r#"<tool_call>{"name":"a","arguments":{"x":1}}<tool_call>{"name":"b"}</tool_call>"#,
        &[one(), call("b", json!({}))],
    );
    gives("```tool_call\n{\"name\":\"a\",\"arguments\":{\"x\":1}}\n```\nyes", &[one(), text("yes")]);
    gives("```\n<tool_call>{\"name\":\"a\",\"arguments\":{\"x\":1}}</tool_call>\n```\nyes", &[one(), text("yes")]);
}

#[test]
fn what_stands_in_strings_ends_no_call() {
    let written = "</tool_call> } ``` \" é 🦀";
    let whole = format!("<tool_call>{}</tool_call>.", json!({"name": "write_file", "arguments": {"text": written}}));
    gives(&whole, &[call("write_file", json!({"text": written})), text(".")]);
    gives(
        "<tool_call>{\"name\":\"a\",\"arguments\":{\"x\":\"one\ntwo\"}}</tool_call>",
        &[call("a", json!({"x": "one\ntwo"}))],
    );
}

#[test]
fn calls_behind_other_marks() {
    let both = [call("a", json!({"x": 1})), call("b", json!({}))];
    gives(r#"[TOOL_CALLS] [{"name":"a","arguments":{"x":1}},{"name":"b","arguments":{}}]"#, &both);
    gives(r#"[TOOL_CALLS]a[ARGS]{"x":1}[TOOL_CALLS]b[CALL_ID]abc123[ARGS]{}</s>"#, &both);
    gives(r#"<|python_tag|>{"name":"a","parameters":{"x":1}}; {"name":"b","parameters":{}}<|eom_id|>"#, &both);
    gives(r#"{"name":"a","parameters":{"x":1}}; {"name":"b","parameters":{}}"#, &both);
    gives(
        r#" [{"name":"a","arguments":{"x":1}}, {"name":"b","arguments":{}}]"#,
        &[text(" "), both[0].clone(), both[1].clone()],
    );
    gives("```json\n{\"name\":\"a\",\"arguments\":{\"x\":1}}\n{\"name\":\"b\",\"arguments\":{}}\n```\n", &both);
    gives(
        r#"{"tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{\"x\":1}"}},{"name":"b","args":{}}]}"#,
        &both,
    );
}

#[test]
fn text_that_only_looks_like_a_call_is_text() {
    for whole in [
        "",
        "plain < text [with] {all} `sorts` ~~~ of ``` marks",
        "Use <tool_call> tags.",
        "`<tool_call>{\"name\":\"a\"}</tool_call>` is how.",
        "Like so:\n```xml\n<tool_call>{\"name\":\"a\"}</tool_call>\n```\nand\n~~~~\n<tool_call>{\"name\":\"a\"}\n~~~\n~~~~\n",
        "See:\n```json\n{\"name\":\"a\",\"arguments\":{}}\n```\n",
        "```json\n{\"name\":\"a\",\"arguments\":{}}\n```\nis an example.",
        "```rust\n[TOOL_CALLS][{\"name\":\"a\"}]\n```",
        "The [TOOL_CALLS] token comes first.",
        "<|python_tag|>print(1)",
        "{\"name\":\"a\",\"version\":\"1.0\"}",
        "{\"name\":\"a\"}",
        "{\"name\":\"a\",\"arguments\":{}} is an example",
        "{\"other\":1}",
        "{\"name\": \"a",
        "[1, 2, 3]",
        "[link](x) first",
        "<tool_call>",
        "<tool_ca",
        "{",
        "```",
        "```json\n{\"a\"",
    ] {
        let expected = if whole.is_empty() { vec![] } else { vec![text(whole)] };
        gives(whole, &expected);
    }
}

#[test]
fn a_broken_call_is_told_and_never_swallowed() {
    gives("<tool_call>{\"name\": \"a\", </tool_call> on", &[broken("a", "{\"name\": \"a\","), text("on")]);
    gives("<tool_call>{'name': 'a', 'arguments': {}}</tool_call>", &[broken("a", "{'name': 'a', 'arguments': {}}")]);
    gives("<tool_call>{\"name\":\"a\",\"arguments\":[1]}</tool_call>", &[broken("a", "[1]")]);
    gives("<tool_call>{\"x\":1}</tool_call>", &[broken("", "{\"x\":1}")]);
    let xml = "<function=a>\n<parameter=x>\n1\n</parameter>\n</function>\n";
    gives(&format!("<tool_call>\n{xml}</tool_call>."), &[broken("a", xml.trim_end()), text(".")]);
    gives("```tool_call\nread the file\n```\nso", &[broken("", "read the file"), text("so")]);
    gives("{\"name\": \"a\", \"arguments\": {\"x\": ", &[broken("a", "{\"name\": \"a\", \"arguments\": {\"x\":")]);
    gives("[TOOL_CALLS][{\"name\": \"a\"", &[broken("a", "[{\"name\": \"a\"")]);
}

#[test]
fn what_is_given_up_is_text() {
    let mut reader = Reader::default();
    assert_eq!(reader.read("a <tool_call>{\"name\":"), [text("a ")]);
    assert_eq!(reader.give_up(), Some("<tool_call>{\"name\":".to_owned()));
    for whole in [
        "[TOOL_CALLS]a[ARGS]{\"x",
        "```tool_call\n{\"name",
        "```json\n{\"name\":",
        "{\"name\": \"a\"",
        "<|python_tag|>{\"n",
    ] {
        let mut reader = Reader::default();
        assert_eq!((reader.read(whole), reader.give_up()), (vec![], Some(whole.to_owned())));
    }
}

/// What would be looked at or moved again for each of its marks, were it read carelessly; that would take minutes.
#[test]
fn a_hostile_answer_is_read_no_slower_than_a_long_one() {
    const SIZE: usize = 512 * 1024;
    for (head, marks) in [
        ("```rust\na", "`"),
        ("```rust\n", "``\n"),
        ("a", "<"),
        ("a", "`"),
        ("", "~~~\n"),
        ("", "<tool_call>"),
        ("a", "["),
    ] {
        let whole = format!("{head}{}", marks.repeat(SIZE / marks.len()));
        assert!(read([whole.as_str()]) == [text(&whole)], "{head:?} {marks:?}");
    }
    let blank = format!("{}{}", " ".repeat(SIZE / 2), "<".repeat(SIZE / 2));
    assert!(read([blank.as_str()]) == [text(&blank)]);
    // Of calls that break off, no more are looked for than an answer may have.
    let found = read([r#"<tool_call>{"name":"a"</tool_call>"#.repeat(SIZE / 34).as_str()]);
    let calls = found.iter().filter(|found| matches!(found, Found::Call { .. })).count();
    assert_eq!(calls, MAX_CALLS + 1);
}

/// Pieces that mean something.
const PARTS: [&str; 26] = [
    "<tool_call>",
    "</tool_call>",
    "{\"name\":\"a\",\"arguments\":{\"x\":\"y\"}}",
    "{\"name\":\"b\"",
    "[TOOL_CALLS]",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "<|python_tag|>",
    "<|eom_id|>",
    "```",
    "```json\n",
    "```tool_call\n",
    "~~~",
    "\n",
    " ",
    "text",
    "a[ARGS]",
    ";",
    ",",
    "`",
    "\\",
    "<function=a>",
    "é🦀",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn how_text_is_cut_changes_nothing_and_calls_are_no_longer_than_the_text(
        parts in proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..14), size in 1..9_usize,
    ) {
        let whole = parts.concat();
        let found = read([whole.as_str()]);
        let letters = letters(&whole);
        prop_assert_eq!(&found, &read(letters.iter().map(String::as_str)));
        let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.concat()).collect();
        prop_assert_eq!(&found, &read(pieces.iter().map(String::as_str)));
        let said: usize = found.iter().map(|found| match found {
            Found::Text(text) => text.len(),
            Found::Call { arguments: Arguments::Broken(written), .. } => written.len(),
            Found::Call { .. } => 0,
        }).sum();
        prop_assert!(said <= whole.len());
    }
}
