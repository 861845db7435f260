//! Doing what an answer wants, one call after another, and feeding back what came of it. Each call has exactly one result in the
//! conversation, whatever happens.

use serde_json::Value;

use super::turn::{Doing, Flow, MAX_SAME_FAILURES, Open, Stage, State, Turn};
use super::{Do, Kept, Step, TurnEnd, Worker};
use crate::deed::{Deed, Outcome, Shown, ShownKind};
use crate::edit::{self, Places};
use crate::talk::{Arguments, Message, ToolCall};
use crate::tools::{self, Tool, Wanted};

/// From so many identical calls in a row on, the model is told.
const TOLD_REPEATS: u32 = 3;

/// How a call has ended.
struct Ended {
    text: String,
    failed: bool,
    /// A person wants the turn to end.
    stop: bool,
}

impl Ended {
    fn well(text: String) -> Self {
        Self { text, failed: false, stop: false }
    }

    fn badly(text: String) -> Self {
        Self { text, failed: true, stop: false }
    }
}

impl Worker {
    /// Begins the next call, and goes on until one has to be waited for. After the last one the model is asked again.
    pub(super) fn do_next(&mut self, now: u64, turn: &mut Turn, out: &mut Vec<Do>) -> Flow {
        loop {
            let State::Doing(doing) = &mut turn.state else { return Flow::Open };
            let Some(call) = doing.rest.pop_front() else {
                turn.state = State::Between;
                return self.question(now, turn, out);
            };
            turn.repeated.begin(&call);
            let (tool, wanted) = match self.understood(turn, &call) {
                Ok(understood) => understood,
                Err(why) => {
                    out.push(Do::Begin { call: call.id.clone(), shown: not_understood(&call), deed: None });
                    if let Some(over) = self.finish(turn, call, Ended::badly(why), out) {
                        return over;
                    }
                    continue;
                }
            };
            let shown = tools::shown(tool, &wanted, input(&call));
            let begin = |deed| Do::Begin { call: call.id.clone(), shown, deed };
            let (deed, stage) = match self.deed(&wanted) {
                Ok(deed) => deed,
                Err(steps) => {
                    out.push(begin(None));
                    let ended = self.take_plan(turn, steps, out);
                    if let Some(over) = self.finish(turn, call, ended, out) {
                        return over;
                    }
                    continue;
                }
            };
            let until = match &deed {
                // A person may be asked first, and the edge ends what takes too long.
                Deed::Run { .. } => {
                    turn.clock.stand(now);
                    None
                }
                _ => Some(now.saturating_add(self.limits.tool_ms.max(1))),
            };
            out.push(begin(Some(deed)));
            if let State::Doing(doing) = &mut turn.state {
                doing.open = Some(Open { call, wanted, stage, until });
            }
            return Flow::Open;
        }
    }

    /// What a call means, if its tool exists, is allowed in this mode, and its arguments make sense.
    fn understood(&self, turn: &Turn, call: &ToolCall) -> Result<(Tool, Wanted), String> {
        let mode = self.mode_of(turn);
        let Some(tool) = Tool::named(&call.name) else {
            return Err(format!(
                "There is no tool {:?}. The tools are: {}.",
                tools::one_line(&call.name),
                tools::names(mode)
            ));
        };
        if !tool.is_in(mode) {
            return Err(format!(
                "{} is not allowed in this mode ({mode:?}). The tools are: {}. If it is needed, tell the person.",
                tool.name(),
                tools::names(mode)
            ));
        }
        tools::read(tool, call).map(|wanted| (tool, wanted))
    }

    /// What is to be done first for a call; a plan is nobody's to do but ours.
    fn deed(&self, wanted: &Wanted) -> Result<(Deed, Stage), Vec<Step>> {
        Ok(match wanted.clone() {
            Wanted::Read { path, line, limit } => (Deed::Read { path, line, limit }, Stage::Only),
            Wanted::List { path, glob } => (Deed::List { path, glob }, Stage::Only),
            Wanted::Search { pattern, path, glob } => (Deed::Search { pattern, path, glob }, Stage::Only),
            Wanted::Edit { path, .. } | Wanted::Write { path, .. } => (Deed::ReadWhole { path }, Stage::Taking),
            Wanted::Run { command, cwd } => {
                (Deed::Run { command, cwd, timeout_ms: self.limits.tool_ms.max(1) }, Stage::Only)
            }
            Wanted::Plan { steps } => return Err(steps),
        })
    }

    fn take_plan(&mut self, turn: &mut Turn, steps: Vec<Step>, out: &mut Vec<Do>) -> Ended {
        self.plan = steps;
        turn.plan_changed = true;
        out.push(Do::Plan(self.plan.clone()));
        out.push(Do::Keep(Kept::Plan { steps: self.plan.clone() }));
        Ended::well("The plan is shown to the person.".to_owned())
    }

    /// What came of a deed.
    pub(super) fn on_deed(
        &mut self,
        now: u64,
        turn: &mut Turn,
        call: &str,
        outcome: Outcome,
        out: &mut Vec<Do>,
    ) -> Flow {
        let State::Doing(doing) = &mut turn.state else { return Flow::Open };
        let Some(mut open) = doing.open.take_if(|open| open.call.id == call) else { return Flow::Open };
        // Of the time that a person may have thought about it, only what the command could take counts.
        let counts = if matches!(open.wanted, Wanted::Run { .. }) { self.limits.tool_ms } else { 0 };
        turn.clock.go_on(now, counts);
        let taken = match (&open.stage, outcome) {
            (Stage::Taking, Outcome::Done(text)) => Ok(Some(text)),
            (Stage::Taking, Outcome::NotThere) => Ok(None),
            (_, outcome) => Err(outcome),
        };
        let ended = match taken {
            Ok(before) => match change(&open.wanted, before.as_deref()) {
                Ok((path, after, words)) => {
                    out.push(Do::Then { call: call.to_owned(), deed: Deed::Write { path, before, after } });
                    turn.clock.stand(now);
                    open.stage = Stage::Writing(words);
                    open.until = None;
                    doing.open = Some(open);
                    return Flow::Open;
                }
                Err(ended) => ended,
            },
            Err(outcome) => self.ended(&open, outcome),
        };
        match self.finish(turn, open.call, ended, out) {
            Some(over) => over,
            None => self.do_next(now, turn, out),
        }
    }

    /// What the model reads of an outcome.
    fn ended(&self, open: &Open, outcome: Outcome) -> Ended {
        let limit = tools::output_limit(self.budget.window());
        match outcome {
            Outcome::Done(text) => Ended::well(match (&open.wanted, &open.stage) {
                (Wanted::Read { path, line, limit: lines }, _) => tools::reading(path, *line, *lines, &text, limit),
                (Wanted::List { .. }, _) => tools::listing(&text, limit),
                (Wanted::Search { .. }, _) => tools::findings(&text, limit),
                (_, Stage::Writing(words)) if text.trim().is_empty() => words.clone(),
                (_, Stage::Writing(words)) => format!("{words} {}", tools::bounded(&text, limit)),
                (_, Stage::Only | Stage::Taking) => tools::bounded(&text, limit),
            }),
            Outcome::Ran { output, truncated, code, late } => {
                let late = late.then_some(self.limits.tool_ms);
                let text = tools::ran(&output, truncated, code, late, limit);
                Ended { text, failed: late.is_some() || code != Some(0), stop: false }
            }
            Outcome::NotThere => Ended::badly(match &open.wanted {
                Wanted::Read { path, .. } | Wanted::Edit { path, .. } | Wanted::Write { path, .. } => {
                    format!("There is no file {path}. Look for it with list_files or search.")
                }
                Wanted::List { path, .. } => format!("There is no folder {path}. Try the folder above it."),
                Wanted::Search { .. } | Wanted::Run { .. } | Wanted::Plan { .. } => {
                    "There is no such folder.".to_owned()
                }
            }),
            Outcome::Denied { why, stop } => {
                let why = why.trim().trim_end_matches('.');
                let why = if why.is_empty() { "no reason was given" } else { why };
                let text = format!(
                    "The person said no: {}. Do not try the same again; do it differently, or ask what they want.",
                    tools::bounded(why, limit)
                );
                Ended { text, failed: true, stop }
            }
            Outcome::Failed(why) => Ended::badly(format!("It could not be done: {}", tools::bounded(&why, limit))),
        }
    }

    /// Ends a call for the person and for the model. Says so if that ends the turn too.
    fn finish(&mut self, turn: &mut Turn, call: ToolCall, ended: Ended, out: &mut Vec<Do>) -> Option<Flow> {
        let Ended { mut text, failed, stop } = ended;
        let too_often = turn.repeated.end(failed);
        if turn.repeated.times() >= TOLD_REPEATS {
            text.push_str(&format!(
                "\n[You have made this same call {} times in a row. Do something else, or say what you have found.]",
                turn.repeated.times()
            ));
        }
        out.push(Do::Finish { call: call.id.clone(), text: text.clone(), failed });
        let name = call.name.clone();
        self.add(Message::Tool { call: call.id, name: call.name, text, failed }, out);
        if stop {
            return Some(Flow::Over(TurnEnd::Cancelled));
        }
        if too_often {
            let name = tools::one_line(&name);
            out.push(Do::Note(format!(
                "The model made the same call of {name} {MAX_SAME_FAILURES} times, and it failed each time; the turn is stopped. Say what \
                 it should do instead."
            )));
            return Some(Flow::Over(TurnEnd::Limit));
        }
        None
    }

    /// Gives up a call that takes too long.
    pub(super) fn give_up_late(&mut self, now: u64, turn: &mut Turn, out: &mut Vec<Do>) -> Flow {
        let State::Doing(doing) = &mut turn.state else { return Flow::Open };
        let late = |open: &mut Open| open.until.is_some_and(|until| until <= now);
        let Some(open) = doing.open.take_if(late) else { return Flow::Open };
        out.push(Do::Abandon { call: open.call.id.clone() });
        let seconds = self.limits.tool_ms.div_ceil(1000);
        let text = format!("It took longer than {seconds} s and was given up. Ask for less at once.");
        let too_often = turn.repeated.end(true);
        self.add(Message::Tool { call: open.call.id, name: open.call.name, text, failed: true }, out);
        if too_often {
            out.push(Do::Note("The same call took too long again and again; the turn is stopped.".to_owned()));
            return Flow::Over(TurnEnd::Limit);
        }
        self.do_next(now, turn, out)
    }

    /// The turn ends before these calls: they get a result all the same, so that the conversation can go on.
    pub(super) fn leave_undone(&mut self, doing: Doing, end: &TurnEnd, out: &mut Vec<Do>) {
        let why = match end {
            TurnEnd::Cancelled => "cancelled: the person stopped the turn",
            TurnEnd::Limit => "not done: the turn has reached a limit",
            TurnEnd::Done | TurnEnd::Cut | TurnEnd::Refused | TurnEnd::Failed(_) => "not done: the turn has ended",
        };
        if let Some(open) = doing.open {
            out.push(Do::Abandon { call: open.call.id.clone() });
            let begun = match open.wanted {
                Wanted::Run { .. } | Wanted::Edit { .. } | Wanted::Write { .. } => "; it may have been done in part",
                Wanted::Read { .. } | Wanted::List { .. } | Wanted::Search { .. } | Wanted::Plan { .. } => "",
            };
            let text = format!("{why}{begun}");
            self.add(Message::Tool { call: open.call.id, name: open.call.name, text, failed: true }, out);
        }
        for call in doing.rest {
            self.add(Message::Tool { call: call.id, name: call.name, text: why.to_owned(), failed: true }, out);
        }
    }
}

/// The path, the new text of a file, and what is said when it is written.
fn change(wanted: &Wanted, before: Option<&str>) -> Result<(String, String, String), Ended> {
    match (wanted, before) {
        (Wanted::Edit { path, old, new, all }, Some(before)) => {
            let places = if *all { Places::All } else { Places::One };
            let replaced = edit::replace(before, old, new, places).map_err(Ended::badly)?;
            let words = match replaced.places {
                1 => format!("{path} is changed at line {}.", replaced.line),
                places => format!("{path} is changed at {places} places, the first at line {}.", replaced.line),
            };
            Ok((path.clone(), replaced.after, words))
        }
        (Wanted::Edit { path, .. }, None) => Err(Ended::badly(format!(
            "There is no file {path}. Look for it with list_files or search; to make a new file, use write_file."
        ))),
        (Wanted::Write { path, content }, Some(before)) if before == content => {
            Err(Ended::well(format!("{path} has exactly this text already; nothing was written.")))
        }
        (Wanted::Write { path, content }, before) => {
            let what = if before.is_some() { "replaced" } else { "new" };
            let lines = match content.lines().count() {
                1 => "1 line".to_owned(),
                many => format!("{many} lines"),
            };
            Ok((path.clone(), content.clone(), format!("{path} is written ({what}, {lines}).")))
        }
        // Nothing else reads a file before it does something.
        (_, before) => Err(Ended::well(before.unwrap_or_default().to_owned())),
    }
}

/// What the model wrote.
fn input(call: &ToolCall) -> Value {
    match &call.arguments {
        Arguments::Object(object) => Value::Object(object.clone()),
        Arguments::Broken(text) => Value::String(text.clone()),
    }
}

/// How a call looks that cannot be done.
fn not_understood(call: &ToolCall) -> Shown {
    let kind = Tool::named(&call.name).map_or(ShownKind::Other, Tool::kind);
    Shown { title: tools::one_line(&format!("Call {}", call.name)), kind, input: input(call) }
}
