//! Finds calls in text as it comes, and leaves all else as it is. How the text is cut changes nothing; only what may yet become the
//! beginning of a call is held back.
//!
//! A call stands between `<tool_call>` tags, in a fence of that name, behind `[TOOL_CALLS]` or `<|python_tag|>`, or is the whole
//! answer, as bare JSON. Text about calls is no call: within fences about something else, in inline code, or without JSON behind it.
//!
//! No text is looked at or moved again for each mark in it, so that a hostile answer takes no longer than a long one.

mod bare;
mod body;
mod marks;

use self::bare::{Bare, Verdict};
use self::body::{Body, Kind};
use self::marks::{FenceLine, Mark, fence, follows};
use super::shape::Call;
use crate::server::answer::MAX_CALLS;
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
    /// How many calls were found.
    calls: usize,
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

/// How far a step went.
struct Went {
    /// So many bytes are done with.
    size: usize,
    /// Whether there may be more to do.
    again: bool,
}

/// What stands before a place in the text, carried along from place to place.
#[derive(Clone, Copy)]
struct Before {
    place: usize,
    /// Whether there is more than blank space in the line of the place.
    in_line: bool,
    /// Whether there is more than blank space at all.
    begun: bool,
}

impl Before {
    /// Goes on to a place that is not before the last.
    fn reach(&mut self, text: &str, place: usize) {
        let passed = text.get(self.place..place).unwrap_or_default();
        let (in_line, line) = passed.rsplit_once('\n').map_or((self.in_line, passed), |(_, line)| (false, line));
        self.in_line = in_line || !line.trim_start().is_empty();
        self.begun = self.begun || !passed.trim_start().is_empty();
        self.place = place;
    }
}

impl Reader {
    /// Reads on.
    pub fn read(&mut self, text: &str) -> Vec<Found> {
        self.held.push_str(text);
        self.go_on(More::Comes)
    }

    /// There is no more text.
    pub fn end(&mut self) -> Vec<Found> {
        self.go_on(More::None)
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

    fn go_on(&mut self, more: More) -> Vec<Found> {
        let (mut held, mut done, mut found) = (std::mem::take(&mut self.held), 0, Vec::new());
        loop {
            let went = self.step(held.get(done..).unwrap_or_default(), more, &mut found);
            done += went.size;
            if !went.again {
                break;
            }
        }
        held.drain(..done.min(held.len()));
        self.held = held;
        found
    }

    fn step(&mut self, text: &str, more: More, found: &mut Vec<Found>) -> Went {
        match &mut self.mode {
            Mode::Plain => self.plain(text, more, found),
            Mode::Fenced(fence) => {
                let fence = *fence;
                self.fenced(fence, text, more, found)
            }
            Mode::Bare(bare) => match bare.look(text, more) {
                Verdict::Wait => Went { size: 0, again: false },
                Verdict::Text => {
                    (self.mode, self.begun) = (Mode::Plain, true);
                    Went { size: 0, again: true }
                }
                Verdict::Around(fence, size) => {
                    (self.mode, self.begun, self.around) = (Mode::Plain, true, Some(fence));
                    Went { size, again: true }
                }
                Verdict::Calls(calls) => {
                    self.mode = Mode::Plain;
                    self.called(calls, found);
                    Went { size: text.len(), again: true }
                }
            },
            Mode::Body(body) => {
                let step = body.step(text, more);
                if step.over {
                    self.mode = Mode::Plain;
                }
                self.called(step.calls, found);
                Went { size: step.size, again: step.size > 0 || step.over }
            }
        }
    }

    fn plain(&mut self, text: &str, more: More, found: &mut Vec<Found>) -> Went {
        let mut blank = 0;
        if self.after_call {
            blank = text.len() - text.trim_start().len();
            self.after_call = blank == text.len();
        }
        let text = text.get(blank..).unwrap_or_default();
        let mut before = Before { place: 0, in_line: self.in_line, begun: self.begun };
        // Nobody wants more calls than an answer may have: all that follows is text.
        let mut from = if self.calls > MAX_CALLS { text.len() } else { 0 };
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(['<', '[', '{', '`', '~'])) {
            let at = from + at;
            before.reach(text, at);
            match self.turn(text, before, more) {
                Turn::Nothing(size) => from = at + size,
                Turn::Wait => {
                    self.show(text, at, found);
                    return Went { size: blank + at, again: false };
                }
                Turn::Enter(size, mode) => {
                    self.show(text, at, found);
                    if matches!(mode, Mode::Plain) {
                        self.around = None;
                    }
                    self.mode = mode;
                    return Went { size: blank + at + size, again: true };
                }
                Turn::Show(size, mode) => {
                    self.show(text, at + size, found);
                    self.mode = mode;
                    return Went { size: blank + at + size, again: true };
                }
            }
        }
        self.show(text, text.len(), found);
        Went { size: blank + text.len(), again: false }
    }

    /// What stands at this place, in plain text.
    fn turn(&self, text: &str, before: Before, more: More) -> Turn {
        let Some((said, rest)) = text.split_at_checked(before.place) else { return Turn::Nothing(1) };
        let alone = !before.begun;
        if rest.starts_with(['`', '~']) {
            return if before.in_line { Turn::Nothing(1) } else { self.fence_begins(rest, alone, more) };
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

    fn fenced(&mut self, within: Fence, text: &str, more: More, found: &mut Vec<Found>) -> Went {
        let mut before = Before { place: 0, in_line: self.in_line, begun: self.begun };
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(within.mark)) {
            let at = from + at;
            before.reach(text, at);
            let rest = text.get(at..).unwrap_or_default();
            if before.in_line {
                // Within a line marks end nothing, however many there are.
                from = text.len() - rest.trim_start_matches(within.mark).len();
                continue;
            }
            match fence(rest, more) {
                FenceLine::Is { fence, label, size } if label.is_empty() && fence.size >= within.size => {
                    self.show(text, at + size, found);
                    self.mode = Mode::Plain;
                    return Went { size: at + size, again: true };
                }
                FenceLine::Is { size, .. } | FenceLine::IsNot(size) => from = at + size,
                FenceLine::MayBe => {
                    self.show(text, at, found);
                    return Went { size: at, again: false };
                }
            }
        }
        self.show(text, text.len(), found);
        Went { size: text.len(), again: false }
    }

    /// Gives the first bytes of the text as text.
    fn show(&mut self, text: &str, size: usize, found: &mut Vec<Found>) {
        let text = text.get(..size).unwrap_or(text);
        let Some(last) = text.chars().next_back() else { return };
        let mut before = Before { place: 0, in_line: self.in_line, begun: self.begun };
        before.reach(text, text.len());
        (self.in_line, self.begun, self.before) = (before.in_line, before.begun, Some(last));
        match found.last_mut() {
            Some(Found::Text(shown)) => shown.push_str(text),
            _ => found.push(Found::Text(text.to_owned())),
        }
    }

    fn called(&mut self, calls: Vec<Call>, found: &mut Vec<Found>) {
        self.calls = self.calls.saturating_add(calls.len());
        for Call { name, arguments } in calls {
            found.push(Found::Call { name, arguments });
            (self.begun, self.after_call, self.in_line, self.before) = (true, true, false, None);
        }
    }
}
