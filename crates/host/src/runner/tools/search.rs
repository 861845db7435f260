//! `search_workspace`: lines of the workspace's files that match. Reads files of text only, each through its folder's
//! handle, and stops as soon as it is told to.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use serde_json::{Value, json};
use switchboard_types::{ErrandCode, ErrandFailure};

use super::list::Globbed;
use super::taken::SearchWorkspace;
use super::walk::{Entry, Ignored, Manner, Onward, Seen, Sort, walk};
use crate::agents::shown::shown;
use crate::runner::limits::{MAX_FOUND_BYTES, MAX_LINE_BYTES, MAX_REGEX_BYTES, MAX_SEARCHED_BYTES, MAX_WALK_DEPTH};
use crate::runner::place::Root;
use crate::runner::stop::Stop;

/// Matches within one line whose places are told.
const MAX_PLACES: usize = 32;
/// Bytes that one such place takes.
const PLACE_BYTES: usize = 24;
/// Memory for one line.
const HEAP_BYTES: usize = 32 * 1024 * 1024;

pub(crate) fn search_workspace(root: &Root, asked: &SearchWorkspace, stop: &Stop) -> Result<Value, ErrandFailure> {
    let matcher = matcher_of(asked)?;
    let glob = asked.glob.as_deref().map(Globbed::new).transpose()?;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(asked.context)
        .after_context(asked.context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP_BYTES))
        .build();
    let mut found = Found { matches: Vec::new(), left: asked.max_results, bytes: MAX_FOUND_BYTES, is_full: false };
    let (mut files, mut skipped) = (0_u64, 0_u64);
    let manner = Manner { depth: MAX_WALK_DEPTH, ignored: Ignored::LeftOut };
    let start = asked.below.as_deref().map_or(Ok(PathBuf::new()), |below| root.existing(below))?;
    let seen = walk(root, &start, manner, stop, |entry| {
        let is_meant = entry.sort == Sort::File && glob.as_ref().is_none_or(|glob| glob.matches(entry.below));
        if !is_meant {
            return Ok(Onward::Go);
        }
        match search_file(entry, &mut searcher, &matcher, stop, &mut found) {
            Ok(()) => files += 1,
            Err(_) if stop.is_told() => return Ok(Onward::Halt),
            // Too large, not allowed, or gone meanwhile.
            Err(_) => skipped += 1,
        }
        Ok(if found.is_full { Onward::Halt } else { Onward::Go })
    })?;
    stop.look()?;
    Ok(json!({
        "matches": found.matches, "filesSearched": files, "filesSkipped": skipped, "truncated": seen == Seen::Some,
    }))
}

fn matcher_of(asked: &SearchWorkspace) -> Result<RegexMatcher, ErrandFailure> {
    let wrong = |why: &str| {
        let message = format!("`{}` cannot be searched for: {}", shown(&asked.query, 200), shown(why, 300));
        ErrandFailure::new(ErrandCode::Invalid, message)
    };
    if asked.query.contains('\n') {
        return Err(wrong("it has more than one line, and lines are searched one by one"));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(!asked.case_sensitive)
        .fixed_strings(!asked.regex)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .build(&asked.query)
        .map_err(|error| wrong(&error.to_string()))
}

fn search_file(
    entry: &Entry<'_>,
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    stop: &Stop,
    found: &mut Found,
) -> io::Result<()> {
    let file = entry.open()?;
    if file.metadata()?.len() > MAX_SEARCHED_BYTES {
        return Err(io::Error::other("too large"));
    }
    let path = entry.path.to_string_lossy().into_owned();
    let here = found.matches.len();
    let mut lines = Lines { path, matcher, found, before: Vec::new(), here, is_binary: false };
    searcher.search_reader(matcher, Held { file: file.take(MAX_SEARCHED_BYTES), stop }, &mut lines)?;
    if lines.is_binary {
        return Err(io::Error::other("no text"));
    }
    Ok(())
}

/// A file that is read until somebody says stop.
struct Held<'a> {
    file: io::Take<File>,
    stop: &'a Stop,
}

impl Read for Held<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_told() { Err(io::Error::other("it is to end")) } else { self.file.read(bytes) }
    }
}

/// All that was found so far.
struct Found {
    matches: Vec<Value>,
    left: usize,
    bytes: usize,
    is_full: bool,
}

/// The lines of one file.
struct Lines<'a> {
    path: String,
    matcher: &'a RegexMatcher,
    found: &'a mut Found,
    /// Lines before the next that matches.
    before: Vec<String>,
    /// The first match of this file.
    here: usize,
    is_binary: bool,
}

impl Lines<'_> {
    /// A line within its bound; what all lines may take is counted.
    fn line(&mut self, bytes: &[u8]) -> String {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let kept = bytes.get(..MAX_LINE_BYTES).unwrap_or(bytes);
        let mut line = String::from_utf8_lossy(kept).into_owned();
        if kept.len() < bytes.len() {
            line.push('…');
        }
        self.count(line.len());
        line
    }

    fn count(&mut self, bytes: usize) {
        self.found.bytes = self.found.bytes.saturating_sub(bytes);
        self.found.is_full |= self.found.bytes == 0;
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.left == 0 {
            self.found.is_full = true;
        }
        if self.found.is_full {
            return Ok(false);
        }
        self.found.left -= 1;
        let bytes = matched.bytes();
        let mut places = Vec::new();
        let column = |at: usize| String::from_utf8_lossy(bytes.get(..at).unwrap_or(bytes)).chars().count() + 1;
        self.matcher.find_iter(bytes, |one| {
            places.push(json!({"start": column(one.start()), "end": column(one.end())}));
            places.len() < MAX_PLACES
        })?;
        self.count(self.path.len() + places.len() * PLACE_BYTES);
        let text = self.line(bytes);
        let mut found = json!({
            "path": self.path, "line": matched.line_number(), "column": places.first().map(|place| place["start"].clone()),
            "text": text, "places": places,
        });
        if let Some(found) = found.as_object_mut().filter(|_| !self.before.is_empty()) {
            found.insert("before".to_owned(), json!(std::mem::take(&mut self.before)));
        }
        self.found.matches.push(found);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.line(context.bytes());
        match context.kind() {
            SinkContextKind::Before => self.before.push(line),
            SinkContextKind::After | SinkContextKind::Other => {
                let last = self.found.matches.last_mut().and_then(Value::as_object_mut);
                let after = last.map(|last| last.entry("after").or_insert_with(|| json!([])));
                if let Some(Value::Array(after)) = after {
                    after.push(json!(line));
                }
            }
        }
        Ok(!self.found.is_full)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        // What was found before the first byte that is no text is no line of text either.
        self.found.matches.truncate(self.here);
        self.is_binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> io::Result<()> {
        Ok(())
    }
}
