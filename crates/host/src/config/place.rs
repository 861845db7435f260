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
        self.wrong(error.span().unwrap_or(0..0), error.message())
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

/// The innermost key whose name or value holds the span.
fn key_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    let within = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        if within(key.span()) {
            return Some(name.to_owned());
        }
        let inner = match value.get_ref() {
            DeValue::Table(table) => key_at(table, span).map(|inner| format!("{name}.{inner}")),
            _ => None,
        };
        if inner.is_some() {
            return inner;
        }
        if within(value.span()) {
            return Some(name.to_owned());
        }
    }
    None
}
