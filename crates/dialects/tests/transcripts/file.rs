//! Reads transcripts; `testdata/README.md` says what is in them. Knows no dialect.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_dialects::view::ViewDialect;
use switchboard_types::{Command, Reject, Time, Told};

/// One line of a transcript.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    #[serde(rename = "about")]
    _about: Option<String>,
    pub(crate) dir: Option<String>,
    message: Option<Box<RawValue>>,
    text: Option<String>,
    bytes: Option<Vec<u8>>,
    pub(crate) gives: Option<Value>,
    pub(crate) noise: Option<String>,
    #[serde(default)]
    sends: Vec<Box<RawValue>>,
    pub(crate) from: Option<Value>,
    #[serde(default)]
    messages: Vec<Box<RawValue>>,
    /// When it happens, in milliseconds; where it matters.
    #[serde(default)]
    pub(crate) at: u64,
    /// What the dialect asks of the host by itself after it.
    #[serde(default)]
    pub(crate) asks: Vec<Value>,
}

impl Line {
    /// What comes in.
    pub(crate) fn incoming(&self) -> Vec<u8> {
        let message = self.message.as_ref().map(|raw| raw.get().as_bytes().to_vec());
        let text = self.text.as_ref().map(|text| text.as_bytes().to_vec());
        message.or(text).or(self.bytes.clone()).expect("a line with `->` needs message, text or bytes")
    }

    pub(crate) fn messages(&self) -> Vec<String> {
        self.messages.iter().map(|raw| raw.get().to_owned()).collect()
    }

    pub(crate) fn sends(&self) -> Vec<String> {
        self.sends.iter().map(|raw| raw.get().to_owned()).collect()
    }

    /// The types of all messages of the line that were understood.
    fn types(&self) -> impl Iterator<Item = (String, String)> {
        let dir = self.dir.clone().unwrap_or_default();
        let understood = self.noise.is_none() && self.gives.as_ref().is_none_or(|gives| gives.get("reject").is_none());
        let incoming = self.message.iter().filter(move |_| understood).cloned().map(move |raw| (dir.clone(), raw));
        let outgoing = self.messages.iter().chain(&self.sends).cloned().map(|raw| ("<-".to_owned(), raw));
        incoming.chain(outgoing).filter_map(|(dir, raw)| {
            let value: Value = serde_json::from_str(raw.get()).unwrap();
            Some((dir, value.get("type").or(value.get("method"))?.as_str()?.to_owned()))
        })
    }
}

/// A transcript's name and lines.
pub(crate) type Transcript = (PathBuf, Vec<Line>);

/// The transcripts of one dialect.
pub(crate) fn transcripts(folder: &str) -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no transcripts in {}", folder.display());
    paths.into_iter().map(|path| (path.clone(), lines(&path))).collect()
}

fn lines(path: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = |(at, line): (usize, &str)| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), at + 1))
    };
    text.lines().enumerate().map(line).collect()
}

/// Every pair of direction and type that the transcripts show.
pub(crate) fn shown_types(folder: &str) -> BTreeSet<(String, String)> {
    transcripts(folder).iter().flat_map(|(_, lines)| lines).flat_map(Line::types).collect()
}

/// The object of these fields, those that are none left out.
pub(crate) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Plays every transcript of a view's dialect: what comes in gives what it should, what is told goes out as it should.
pub(crate) fn play(
    folder: &str,
    make: impl Fn() -> Box<dyn ViewDialect>,
    given: impl Fn(Result<Command, Reject>) -> Value,
    told: impl Fn(&Value) -> Told,
) {
    for (path, lines) in transcripts(folder) {
        let mut dialect = make();
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}", path.display(), at + 1);
            match line.dir.as_deref() {
                Some("->") => assert_eq!(Some(given(dialect.read(Time(0), &line.incoming()))), line.gives, "{place}"),
                Some("<-") => {
                    let mut messages = Vec::new();
                    let told = told(line.from.as_ref().expect("a line with `<-` needs from"));
                    dialect.write(Time(0), &told, &mut |message| {
                        messages.push(String::from_utf8(message.to_vec()).unwrap())
                    });
                    assert_eq!(messages, line.messages(), "{place}");
                }
                other => assert_eq!(other, None, "{place}"),
            }
        }
    }
}

/// Every type of a view's schema, at least so many each way, stands in a transcript.
pub(crate) fn assert_all_shown(folder: &str, schema: &Value, least: usize) {
    let shown = shown_types(folder);
    for (direction, dir) in [("viewToHost", "->"), ("hostToView", "<-")] {
        let shapes = schema[direction]["oneOf"].as_array().unwrap();
        assert!(shapes.len() >= least);
        for shape in shapes {
            let name = shape["properties"]["type"]["const"].as_str().unwrap().to_owned();
            assert!(shown.contains(&(dir.to_owned(), name.clone())), "no transcript with {dir} {name}");
        }
    }
}
