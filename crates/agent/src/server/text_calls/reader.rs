//! Finds calls in text as it comes, and leaves all else as it is. How the text is cut changes nothing; only what may yet become the
//! beginning of a call is held back.
//!
//! A call stands between `<tool_call>` tags, in a fence of that name, behind `[TOOL_CALLS]` or `<|python_tag|>`, or is the whole
//! answer, as bare JSON. Text about calls is no call: within fences about something else, in inline code, or without JSON behind it.

mod bare;
mod body;
mod marks;

use self::bare::{Bare, Verdict};
use self::body::{Body, Kind};
use self::marks::{FenceLine, Mark, fence, follows};
use super::shape::Call;
use crate::talk::Arguments;

/// Something in a model's text, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Words.
    Text(String),
    /// A call; what could not be read is broken, and its tool may have no name.
    Call {
        /// The tool.
        name: String,
        /// With what.
        arguments: Arguments,
    },
}

/// Whether more text may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Comes,
    None,
}

/// Reads the text of one answer.
#[derive(Debug, Default)]
pub struct Reader {
    held: String,
    mode: Mode,
    /// Whether there is more than blank space in this line so far.
    in_line: bool,
    /// Whether there was more than blank space at all, so that nothing can be the whole answer any more.
    begun: bool,
    /// Whether the last thing was a call: blank space after it is nobody's.
    after_call: bool,
    /// The fence around calls that was left out; its end is left out too.
    around: Option<Fence>,
    /// The last character that was given.
    before: Option<char>,
}

/// What a code fence is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    size: usize,
}

#[derive(Debug, Default)]
enum Mode {
    #[default]
    Plain,
    /// Within a fence about something else.
    Fenced(Fence),
    /// What may be a call and the whole answer.
    Bare(Bare),
    /// Where calls are.
    Body(Body),
}

/// What is to be done at a place that looks like something.
enum Turn {
    /// It is nothing; look on, so many bytes later.
    Nothing(usize),
    /// More must come first.
    Wait,
    /// So many bytes are left out, and the mode is another.
    Enter(usize, Mode),
    /// So many bytes are text, and the mode is another.
    Show(usize, Mode),
}

impl Reader {
    /// Reads on.
    pub fn read(&mut self, text: &str) -> Vec<Found> {
        self.held.push_str(text);
        let mut found = Vec::new();
        while self.step(More::Comes, &mut found) {}
        found
    }

    /// There is no more text.
    pub fn end(&mut self) -> Vec<Found> {
        let mut found = Vec::new();
        while self.step(More::None, &mut found) {}
        found
    }

    /// What was held back, as the text that it is: nobody wants a call of it any more.
    pub fn give_up(&mut self) -> Option<String> {
        let held = std::mem::take(&mut self.held);
        let text = match std::mem::take(&mut self.mode) {
            Mode::Body(body) => body.opening() + &held,
            Mode::Plain | Mode::Fenced(_) | Mode::Bare(_) => held,
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Whether something was done, so that there may be more to do.
    fn step(&mut self, more: More, found: &mut Vec<Found>) -> bool {
        match &mut self.mode {
            Mode::Plain => self.plain(more, found),
            Mode::Fenced(fence) => {
                let fence = *fence;
                self.fenced(fence, more, found)
            }
            Mode::Bare(bare) => match bare.look(&self.held, more) {
                Verdict::Wait => false,
                Verdict::Text => {
                    (self.mode, self.begun) = (Mode::Plain, true);
                    true
                }
                Verdict::Around(fence, size) => {
                    self.leave_out(size);
                    (self.mode, self.begun, self.around) = (Mode::Plain, true, Some(fence));
                    true
                }
                Verdict::Calls(calls) => {
                    self.held.clear();
                    self.mode = Mode::Plain;
                    self.called(calls, found);
                    true
                }
            },
            Mode::Body(body) => {
                let step = body.step(&self.held, more);
                self.leave_out(step.size);
                let progress = step.size > 0 || step.over;
                if step.over {
                    self.mode = Mode::Plain;
                }
                self.called(step.calls, found);
                progress
            }
        }
    }

    fn plain(&mut self, more: More, found: &mut Vec<Found>) -> bool {
        if self.after_call {
            let blank = self.held.len() - self.held.trim_start().len();
            self.leave_out(blank);
            self.after_call = self.held.is_empty();
        }
        let mut from = 0;
        while let Some(at) = self.held.get(from..).and_then(|rest| rest.find(['<', '[', '{', '`', '~'])) {
            let at = from + at;
            match self.turn(at, more) {
                Turn::Nothing(size) => from = at + size,
                Turn::Wait => {
                    self.show(at, found);
                    return false;
                }
                Turn::Enter(size, mode) => {
                    self.show(at, found);
                    if matches!(mode, Mode::Plain) {
                        self.around = None;
                    }
                    self.leave_out(size);
                    self.mode = mode;
                    return true;
                }
                Turn::Show(size, mode) => {
                    self.show(at + size, found);
                    self.mode = mode;
                    return true;
                }
            }
        }
        self.show(self.held.len(), found);
        false
    }

    /// What stands at this place, in plain text.
    fn turn(&self, at: usize, more: More) -> Turn {
        let (Some(said), Some(rest)) = (self.held.get(..at), self.held.get(at..)) else { return Turn::Nothing(1) };
        let alone = !self.begun && said.trim_start().is_empty();
        let line = said.rsplit_once('\n').map_or((self.in_line, said), |(_, line)| (false, line));
        let line_begins = !line.0 && line.1.trim_start().is_empty();
        if rest.starts_with(['`', '~']) {
            return if line_begins { self.fence_begins(rest, alone, more) } else { Turn::Nothing(1) };
        }
        let in_code = said.chars().next_back().or(self.before) == Some('`');
        let bare = || Turn::Enter(0, Mode::Bare(Bare::default()));
        if rest.starts_with('{') {
            return if alone { bare() } else { Turn::Nothing(1) };
        }
        for kind in [Kind::Tag, Kind::Python, Kind::Mistral] {
            match follows(rest, kind, more) {
                _ if in_code => {}
                Mark::Is(size) => return Turn::Enter(size, Mode::Body(Body::new(kind))),
                Mark::MayBe => return Turn::Wait,
                Mark::IsNot => {}
            }
        }
        if alone && rest.starts_with('[') { bare() } else { Turn::Nothing(1) }
    }

    fn fence_begins(&self, rest: &str, alone: bool, more: More) -> Turn {
        let (begins, label, size) = match fence(rest, more) {
            FenceLine::Is { fence, label, size } => (fence, label, size),
            FenceLine::MayBe => return Turn::Wait,
            FenceLine::IsNot(size) => return Turn::Nothing(size),
        };
        if self.around.is_some_and(|around| around.mark == begins.mark) && label.is_empty() {
            return Turn::Enter(size, Mode::Plain);
        }
        match label.to_ascii_lowercase().as_str() {
            "tool_call" | "tool_calls" | "tool" => Turn::Enter(size, Mode::Body(Body::new(Kind::Fence(begins)))),
            "" | "json" | "xml" if alone => Turn::Enter(0, Mode::Bare(Bare::fenced(begins, size))),
            _ => Turn::Show(size, Mode::Fenced(begins)),
        }
    }

    fn fenced(&mut self, within: Fence, more: More, found: &mut Vec<Found>) -> bool {
        let mut from = 0;
        while let Some(at) = self.held.get(from..).and_then(|rest| rest.find(within.mark)) {
            let at = from + at;
            let (Some(said), Some(rest)) = (self.held.get(..at), self.held.get(at..)) else { return false };
            let line = said.rsplit_once('\n').map_or((self.in_line, said), |(_, line)| (false, line));
            match fence(rest, more) {
                _ if line.0 || !line.1.trim_start().is_empty() => from = at + within.mark.len_utf8(),
                FenceLine::Is { fence, label, size } if label.is_empty() && fence.size >= within.size => {
                    self.show(at + size, found);
                    self.mode = Mode::Plain;
                    return true;
                }
                FenceLine::Is { size, .. } | FenceLine::IsNot(size) => from = at + size,
                FenceLine::MayBe => {
                    self.show(at, found);
                    return false;
                }
            }
        }
        self.show(self.held.len(), found);
        false
    }

    /// Gives the first bytes of what is held as text.
    fn show(&mut self, size: usize, found: &mut Vec<Found>) {
        let text = self.cut(size);
        let Some(last) = text.chars().next_back() else { return };
        let line = text.rsplit_once('\n').map_or((self.in_line, text.as_str()), |(_, line)| (false, line));
        self.in_line = line.0 || !line.1.trim_start().is_empty();
        self.begun |= !text.trim_start().is_empty();
        self.before = Some(last);
        match found.last_mut() {
            Some(Found::Text(before)) => before.push_str(&text),
            _ => found.push(Found::Text(text)),
        }
    }

    fn leave_out(&mut self, size: usize) {
        self.cut(size);
    }

    fn cut(&mut self, size: usize) -> String {
        let rest = self.held.split_off(size.min(self.held.len()));
        std::mem::replace(&mut self.held, rest)
    }

    fn called(&mut self, calls: Vec<Call>, found: &mut Vec<Found>) {
        for Call { name, arguments } in calls {
            found.push(Found::Call { name, arguments });
            (self.begun, self.after_call, self.in_line, self.before) = (true, true, false, None);
        }
    }
}
