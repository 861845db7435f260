//! An answer that is nothing but a call, written as bare JSON or in a fence of JSON. As soon as it cannot be one it is text.

use super::marks::{FenceLine, Mark, begins, fence};
use super::{Fence, More};
use crate::server::answer::MAX_ARGUMENTS_BYTES;
use crate::server::arguments;
use crate::server::scan::Scan;
use crate::server::text_calls::OPENS;
use crate::server::text_calls::shape::{self, Call};
use crate::talk::Arguments;

/// What a call may begin with.
const KEYS: [&str; 8] = ["name", "type", "id", "function", "tool", "tool_calls", "arguments", "parameters"];
/// How far is looked for the first of them, in bytes.
const AHEAD_BYTES: usize = 256;

/// What is made of the text so far.
pub(super) enum Verdict {
    Wait,
    /// It is text.
    Text,
    /// So many bytes begin a fence around calls with tags.
    Around(Fence, usize),
    Calls(Vec<Call>),
}

#[derive(Debug, Default)]
pub(super) struct Bare {
    fence: Option<Fence>,
    /// Bytes before the JSON.
    begin: usize,
    /// Bytes that are read.
    at: usize,
    scan: Scan,
    calls: Vec<Call>,
    /// Whether the fence has ended.
    closed: bool,
}

impl Bare {
    /// Behind a fence's first line of so many bytes.
    pub(super) fn fenced(fence: Fence, line: usize) -> Self {
        Self { fence: Some(fence), begin: line, at: line, ..Self::default() }
    }

    pub(super) fn look(&mut self, text: &str, more: More) -> Verdict {
        if self.at == self.begin
            && let Some(verdict) = self.opening(text, more)
        {
            return verdict;
        }
        loop {
            if text.len() > MAX_ARGUMENTS_BYTES {
                return Verdict::Text;
            }
            let rest = text.get(self.at..).unwrap_or_default();
            if self.scan.is_whole() || self.closed {
                match self.between(rest, more) {
                    Some(verdict) => return verdict,
                    None => continue,
                }
            }
            let Some(end) = rest.bytes().position(|byte| self.scan.byte(byte)) else {
                self.at = text.len();
                return self.unfinished(text, more);
            };
            let whole = text.get(self.begin..=self.at + end).unwrap_or_default();
            self.at += end + 1;
            match arguments::lenient(whole).as_ref().filter(|value| has_arguments(value)).and_then(shape::calls) {
                Some(calls) => self.calls.extend(calls),
                None => return Verdict::Text,
            }
        }
    }

    /// Whether the first bytes may begin a call.
    fn opening(&mut self, text: &str, more: More) -> Option<Verdict> {
        let rest = text.get(self.begin..).unwrap_or_default();
        let inner = rest.trim_start();
        let ahead = inner.trim_start_matches(|each: char| each == '[' || each.is_whitespace());
        if rest.len() - ahead.len() > AHEAD_BYTES {
            return Some(Verdict::Text);
        }
        let unsure = if more == More::Comes { Verdict::Wait } else { Verdict::Text };
        if ahead.is_empty() {
            return Some(unsure);
        }
        if let Some(fence) = self.fence {
            match begins(inner, OPENS, more) {
                Mark::Is(_) => return Some(Verdict::Around(fence, self.begin)),
                Mark::MayBe => return Some(unsure),
                Mark::IsNot => {}
            }
        }
        let Some(object) = ahead.strip_prefix('{') else { return Some(Verdict::Text) };
        let key = object.trim_start();
        if object.len() - key.len() > AHEAD_BYTES {
            return Some(Verdict::Text);
        }
        let quoted = KEYS.map(|key| format!("\"{key}\""));
        let marks = quoted.iter().map(|word| begins(key, word, more));
        let best = marks.fold(Mark::IsNot, |best, mark| if best == Mark::IsNot { mark } else { best });
        match best {
            Mark::Is(_) => {
                self.begin += rest.len() - inner.len();
                self.at = self.begin;
                None
            }
            Mark::MayBe => Some(unsure),
            Mark::IsNot => Some(Verdict::Text),
        }
    }

    /// After a call: another, the end of the fence, or nothing. None if there is more to read.
    fn between(&mut self, rest: &str, more: More) -> Option<Verdict> {
        let after = rest.trim_start_matches(|each: char| each.is_whitespace() || matches!(each, ';' | ','));
        let begin = self.at + (rest.len() - after.len());
        if after.is_empty() {
            self.at = begin;
            return Some(match more {
                More::Comes => Verdict::Wait,
                More::None => Verdict::Calls(std::mem::take(&mut self.calls)),
            });
        }
        if self.closed {
            return Some(Verdict::Text);
        }
        if after.starts_with('{') {
            (self.begin, self.at, self.scan) = (begin, begin, Scan::default());
            return None;
        }
        let Some(around) = self.fence.filter(|fence| after.starts_with(fence.mark)) else { return Some(Verdict::Text) };
        match fence(after, more) {
            FenceLine::Is { fence, label, size } if label.is_empty() && fence.size >= around.size => {
                (self.at, self.closed) = (begin + size, true);
                None
            }
            FenceLine::MayBe => Some(Verdict::Wait),
            FenceLine::Is { .. } | FenceLine::IsNot(_) => Some(Verdict::Text),
        }
    }

    /// The text ends within JSON: a call that broke off, if it is plain that it was to be one.
    fn unfinished(&mut self, text: &str, more: More) -> Verdict {
        if more == More::Comes {
            return Verdict::Wait;
        }
        let call = text.get(self.begin..).unwrap_or_default().trim_end();
        if !shape::begins_a_call(call) {
            return Verdict::Text;
        }
        let mut calls = std::mem::take(&mut self.calls);
        calls.push(Call { name: shape::name_in(call), arguments: Arguments::Broken(call.to_owned()) });
        Verdict::Calls(calls)
    }
}

/// A name alone may be anything; with arguments it is a call.
fn has_arguments(value: &serde_json::Value) -> bool {
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    values.iter().all(shape::has_arguments)
}
