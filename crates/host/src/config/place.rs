//! Where in a file something stands, and the error that says so: file, line and key, in words. Never shows a value.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;
use toml::de::{DeTable, DeValue};

use crate::agents::shown::shown;

/// Characters of a parser's message that are shown.
const MESSAGE_CHARS: usize = 500;

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not what it should be.
    #[error("{}, line {line}{}: {message}", file.display(), in_words(key.as_deref()))]
    Wrong {
        /// Which file.
        file: PathBuf,
        /// Where, counted from 1.
        line: usize,
        /// The key, with the tables it is in; none where the file is no TOML at all.
        key: Option<String>,
        /// What is wrong.
        message: String,
    },
    /// There is no such agent.
    #[error("there is no agent `{0}` in the configuration; it has: {1}")]
    NoSuchAgent(String, String),
}

fn in_words(key: Option<&str>) -> String {
    key.map(|key| format!(", key `{key}`")).unwrap_or_default()
}

/// A file's text, to say where in it something stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// The error of the TOML reader, with its place.
    pub(super) fn toml_error(&self, error: &toml::de::Error) -> ConfigError {
        self.wrong(error.span().unwrap_or(0..0), without_value(error.message()))
    }

    /// An error about what stands at `span`.
    pub(super) fn wrong(&self, span: Range<usize>, message: impl AsRef<str>) -> ConfigError {
        let before = self.text.as_bytes().get(..span.start).unwrap_or_default();
        let key = DeTable::parse(self.text).ok().and_then(|table| key_at(table.get_ref(), &span));
        ConfigError::Wrong {
            file: self.file.to_owned(),
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            key,
            message: shown(message.as_ref(), MESSAGE_CHARS),
        }
    }
}

/// The reader's words without the value that it found: a key of somebody's may stand in the wrong place.
fn without_value(message: &str) -> String {
    for start in ["invalid type: string \"", "invalid value: string \""] {
        if let Some((_, expected)) = message.strip_prefix(start).and_then(|rest| rest.rsplit_once("\", expected ")) {
            return format!("{}, expected {expected}", start.trim_end_matches(" \""));
        }
    }
    message.to_owned()
}

/// The innermost key whose name or value holds the span.
fn key_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    let within = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        if within(key.span()) {
            return Some(name.to_owned());
        }
        let inner = match value.get_ref() {
            DeValue::Table(table) => key_at(table, span),
            DeValue::Array(items) => items.iter().find_map(|item| key_at(item.get_ref().as_table()?, span)),
            _ => None,
        };
        let inner = inner.map(|inner| format!("{name}.{inner}"));
        if inner.is_some() {
            return inner;
        }
        // A table of a list covers only its own header.
        let items = value.get_ref().as_array().into_iter().flatten();
        if within(value.span()) || items.map(toml::Spanned::span).any(within) {
            return Some(name.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_place_and_never_the_value() {
        let source = Source { file: Path::new("config.toml"), text: "a = 1\nenv = \"KEY=sk-secret\"\n" };
        let error = source.toml_error(&toml::from_str::<Wanted>(source.text).unwrap_err()).to_string();
        assert!(error.contains("line 2") && error.contains("`env`") && error.contains("expected"), "{error}");
        assert!(!error.contains("sk-secret"), "{error}");
    }

    #[derive(Debug, serde::Deserialize)]
    struct Wanted {
        #[expect(dead_code, reason = "only its type matters")]
        env: std::collections::BTreeMap<String, String>,
    }
}
