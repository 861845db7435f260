//! Plays recorded talks with real agents, and written ones, through the real dialect and compares whole values.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_dialects::agent::acp::{AcpSettings, UPDATES};
use switchboard_dialects::agent::{Acp, AgentDialect};
use switchboard_types::Time;

use crate::wire::values;
use crate::words::{asked, spoken};

/// One line of a transcript.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gives: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sends: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<String>,
}

fn transcripts() -> Vec<(PathBuf, Vec<Line>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/acp");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let line = |(at, line): (usize, &str)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), at + 1))
        };
        let lines = text.lines().enumerate().map(line).collect();
        (path, lines)
    };
    paths.into_iter().map(read).collect()
}

fn new_life() -> Acp {
    Acp::new(AcpSettings::new("recorded", &["agent".to_owned(), "--acp".to_owned()], "1.2.3"))
}

/// The line as the dialect makes it; `from: {"ask":"begin"}` is a new process.
fn played(line: &Line, dialect: &mut Acp) -> Line {
    let mut made = Line {
        about: line.about.clone(),
        dir: line.dir.clone(),
        from: line.from.clone(),
        message: line.message.clone(),
        text: line.text.clone(),
        ..Line::default()
    };
    let (mut said, mut out) = (Vec::new(), Vec::new());
    match line.dir.as_deref() {
        Some("->") => {
            let frame = line.message.as_ref().map(Value::to_string).or(line.text.clone()).unwrap();
            made.noise = dialect.read(Time(0), &frame.into(), &mut said).err().map(|noise| noise.reason);
            dialect.owed(&mut out);
            made.sends = values(out);
        }
        Some("<-") => {
            let from = line.from.as_ref().unwrap();
            if from["ask"] == "begin" {
                *dialect = new_life();
                dialect.begin(Time(0), &mut out);
            } else {
                dialect.ask(Time(0), asked(from), &mut out);
            }
            dialect.speak_for(&mut said);
            made.messages = values(out);
        }
        other => assert_eq!(other, None),
    }
    made.gives = said.iter().map(spoken).collect();
    made
}

#[test]
fn every_transcript_is_what_the_dialect_does() {
    for (path, lines) in transcripts() {
        let mut dialect = new_life();
        for (at, line) in lines.iter().enumerate() {
            assert_eq!(&played(line, &mut dialect), line, "{}:{}", path.display(), at + 1);
        }
    }
}

#[test]
fn every_sort_of_update_has_a_transcript() {
    let lines = transcripts();
    let sorts: Vec<&str> = lines
        .iter()
        .flat_map(|(_, lines)| lines)
        .filter_map(|line| line.message.as_ref()?["params"]["update"]["sessionUpdate"].as_str())
        .collect();
    for (sort, _) in UPDATES {
        assert!(sorts.contains(&sort), "no transcript with {sort}");
    }
}

/// For whoever changes the dialect or adds a talk: writes what the dialect makes of each line, to be read before it is kept.
#[test]
#[ignore = "writes the transcripts; run it by name and read what has changed"]
fn transcripts_are_written_anew() {
    for (path, lines) in transcripts() {
        let mut dialect = new_life();
        let lines: Vec<_> =
            lines.iter().map(|line| serde_json::to_string(&played(line, &mut dialect)).unwrap() + "\n").collect();
        std::fs::write(path, lines.concat()).unwrap();
    }
}
