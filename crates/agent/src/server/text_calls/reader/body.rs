//! The calls behind a mark. What cannot be read as a call is a broken one, and nothing of it is lost.

use super::marks::{Mark, begins, named};
use super::{Fence, More};
use crate::server::answer::MAX_ARGUMENTS_BYTES;
use crate::server::arguments;
use crate::server::scan::Scan;
use crate::server::text_calls::shape::{self, Call};
use crate::server::text_calls::{CLOSES, OPENS};
use crate::talk::Arguments;

/// What may stand behind the marks that end a fence, in bytes.
const MAX_BEHIND_BYTES: usize = 64;

/// What marks calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `<tool_call>`, as it is taught, and as Hermes and Qwen know it.
    Tag,
    /// A code fence of that name.
    Fence(Fence),
    /// `[TOOL_CALLS]`.
    Mistral,
    /// `<|python_tag|>`, as Llama knows it.
    Python,
}

impl Kind {
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Tag | Self::Fence(_) => OPENS,
            Self::Mistral => "[TOOL_CALLS]",
            Self::Python => "<|python_tag|>",
        }
    }

    /// What may stand between calls and after them, and means nothing.
    fn beside(self) -> &'static [&'static str] {
        match self {
            Self::Tag => &[],
            Self::Fence(_) => &[OPENS, CLOSES],
            Self::Mistral => &["[TOOL_CALLS]", "</s>"],
            Self::Python => &["<|python_tag|>", "<|eom_id|>", "<|eot_id|>"],
        }
    }
}

/// What was found at the head of the text.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// So many bytes are read.
    pub(super) size: usize,
    /// Whether the calls are over, and text goes on.
    pub(super) over: bool,
    pub(super) calls: Vec<Call>,
}

/// Where in the calls the text is.
#[derive(Debug)]
pub(super) struct Body {
    kind: Kind,
    /// Whether there was a call already.
    called: bool,
    /// The tool, where its name comes before its arguments.
    name: Option<String>,
    scan: Scan,
    /// Bytes that were scanned.
    at: usize,
}

impl Body {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, called: false, name: None, scan: Scan::default(), at: 0 }
    }

    /// What stood before the text and was left out, if it says anything.
    pub(super) fn opening(&self) -> String {
        let mark = match self.kind {
            _ if self.called => String::new(),
            Kind::Fence(fence) => format!("{}tool_call\n", fence.mark.to_string().repeat(fence.size)),
            Kind::Tag | Kind::Mistral | Kind::Python => self.kind.mark().to_owned(),
        };
        self.name.as_ref().map_or_else(|| mark.clone(), |name| format!("{mark}{name}[ARGS]"))
    }

    /// Reads what is at the head of the text; a step of nothing means that more must come.
    pub(super) fn step(&mut self, text: &str, more: More) -> Step {
        if text.is_empty() {
            return wait(text, more);
        }
        if self.at == 0 && self.name.is_none() {
            let blank = text.len() - text.trim_start_matches(|each: char| self.is_between(each)).len();
            if blank > 0 {
                return Step { size: blank, ..Step::default() };
            }
            for word in self.kind.beside() {
                match begins(text, word, more) {
                    Mark::Is(size) => return Step { size, ..Step::default() },
                    Mark::MayBe => return wait(text, more),
                    Mark::IsNot => {}
                }
            }
        }
        if text.starts_with(['{', '[']) { self.json(text, more) } else { self.other(text, more) }
    }

    fn is_between(&self, each: char) -> bool {
        each.is_whitespace() || (self.called && self.kind != Kind::Tag && matches!(each, ';' | ','))
    }

    fn json(&mut self, text: &str, more: More) -> Step {
        let limit = text.len().min(MAX_ARGUMENTS_BYTES);
        let ahead = text.as_bytes().get(self.at..limit).unwrap_or_default();
        if let Some(end) = ahead.iter().position(|byte| self.scan.byte(*byte)) {
            let size = self.at + end + 1;
            let whole = text.get(..size).unwrap_or_default();
            let calls = match self.name.take() {
                Some(name) => vec![Call { name, arguments: arguments::read(whole) }],
                None => read(whole),
            };
            (self.at, self.scan, self.called) = (0, Scan::default(), true);
            return Step { size, over: false, calls };
        }
        self.at = limit;
        if text.len() > MAX_ARGUMENTS_BYTES {
            return self.broken(text.get(..text.floor_char_boundary(MAX_ARGUMENTS_BYTES)).unwrap_or_default(), 0);
        }
        match more {
            More::Comes => Step::default(),
            More::None => self.unfinished(text),
        }
    }

    /// The answer ends within JSON, or within what looked like it: a mark that ends calls may still tell how far it went.
    fn unfinished(&mut self, text: &str) -> Step {
        let found = match self.kind {
            Kind::Tag => text.split_once(CLOSES).map(|(call, _)| (call, CLOSES.len())),
            Kind::Fence(fence) => {
                let line = format!("\n{}", fence.mark.to_string().repeat(fence.size));
                text.split_once(&line).map(|(call, _)| (call, line.len()))
            }
            Kind::Mistral | Kind::Python => None,
        };
        let (call, mark) = found.unwrap_or((text, 0));
        self.broken(call, mark)
    }

    fn broken(&mut self, call: &str, mark: usize) -> Step {
        let name = self.name.take().unwrap_or_else(|| shape::name_in(call));
        let arguments = Arguments::Broken(call.trim_end().to_owned());
        Step { size: call.len() + mark, over: true, calls: vec![Call { name, arguments }] }
    }

    fn other(&mut self, text: &str, more: More) -> Step {
        let over = |size| Step { size, over: true, calls: Vec::new() };
        match self.kind {
            Kind::Tag => match begins(text, CLOSES, more) {
                Mark::Is(size) => over(size),
                Mark::MayBe => wait(text, more),
                Mark::IsNot if self.called => over(0),
                Mark::IsNot => self.until(text, CLOSES, more),
            },
            Kind::Fence(fence) => {
                let marks = fence.mark.to_string().repeat(fence.size);
                match begins(text, &marks, more) {
                    Mark::Is(size) => {
                        let line = text.get(..text.floor_char_boundary(size + MAX_BEHIND_BYTES)).unwrap_or_default();
                        match line.split_once('\n') {
                            Some((line, _)) => over(line.len() + 1),
                            None if line.len() < text.len() => over(size),
                            None => wait(text, more),
                        }
                    }
                    Mark::MayBe => wait(text, more),
                    Mark::IsNot => self.until(text, &format!("\n{marks}"), more),
                }
            }
            Kind::Mistral => match named(text, more) {
                (Mark::Is(size), name) => {
                    self.name = Some(name);
                    Step { size, ..Step::default() }
                }
                (Mark::MayBe, _) => wait(text, more),
                (Mark::IsNot, _) => over(0),
            },
            Kind::Python => over(0),
        }
    }

    /// What is no JSON is a broken call up to its end.
    fn until(&mut self, text: &str, mark: &str, more: More) -> Step {
        let limit = text.floor_char_boundary(MAX_ARGUMENTS_BYTES);
        let ahead = text.get(..limit).unwrap_or_default();
        // What was searched before is not searched again, but for a mark that it may have ended in.
        let from = ahead.floor_char_boundary(self.at.saturating_sub(mark.len()));
        let found = ahead.get(from..).and_then(|rest| rest.find(mark)).and_then(|at| ahead.get(..from + at));
        self.at = limit;
        match found {
            Some(call) => self.broken(call, mark.len()),
            None if limit < text.len() => self.broken(ahead, 0),
            None if more == More::Comes => Step::default(),
            None => self.broken(text, 0),
        }
    }
}

/// More must come; if none does, what is there means nothing.
fn wait(text: &str, more: More) -> Step {
    match more {
        More::Comes => Step::default(),
        More::None => Step { size: text.len(), over: true, calls: Vec::new() },
    }
}

/// The calls of one JSON value; what is none is a broken one.
fn read(text: &str) -> Vec<Call> {
    let value = arguments::lenient(text);
    value
        .as_ref()
        .and_then(shape::calls)
        .unwrap_or_else(|| vec![Call { name: shape::name_in(text), arguments: Arguments::Broken(text.to_owned()) }])
}
