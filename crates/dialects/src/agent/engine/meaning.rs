//! What an engine's event means in our words. What it does not know means nothing and is kept by whoever asked.

mod approval;
mod chained;
mod tool;

use std::collections::{BTreeMap, VecDeque};

use switchboard_types::{
    ApprovalId, Detail, LogLevel, OptionId, Outcome, Prompt, Resolution, Said, SessionId, Telling, Text, TurnName, Word,
};

use super::envelope::Envelope;
use super::field::{cut, field, number, raw};
use super::input::Input;

pub(super) use approval::{Question, decision};

/// Ids of texts of which a piece was seen.
const MAX_PIECES: usize = 64;
/// Questions that are remembered with what an answer to them needs.
const MAX_QUESTIONS: usize = 256;

/// What must be remembered of a session to understand its next event.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    /// The turn that runs there.
    turn: Option<Turn>,
    /// The turn's end was said once; it may be said a second time in other words.
    ended: bool,
    /// Texts that came in pieces, so that they are not told again as a whole.
    pieces: VecDeque<String>,
    /// A piece without a name has come in this turn.
    nameless: bool,
    calls: tool::Calls,
    questions: BTreeMap<ApprovalId, Question>,
    /// What each option of a chained host is about.
    options: BTreeMap<OptionId, String>,
}

/// A turn at the engine.
#[derive(Debug)]
struct Turn {
    /// Our name of it.
    ours: TurnName,
    /// Its own.
    theirs: Option<String>,
}

fn said(word: Option<Word>) -> Said {
    word.map_or(Said::Nothing, |word| Said::Word(Box::new(word)))
}

impl Meaning {
    /// Whether a turn runs there that was begun here or elsewhere.
    pub(super) fn is_under_way(&self) -> bool {
        self.turn.is_some()
    }

    /// A prompt of ours goes out.
    pub(super) fn prompted(&mut self, name: &TurnName) {
        self.turn = Some(Turn { ours: name.clone(), theirs: None });
        (self.ended, self.nameless) = (false, false);
    }

    /// The turn of ours is over before it was one there.
    pub(super) fn withdrawn(&mut self) {
        self.turn = None;
    }

    /// What an answer to a question needs; forgotten with it.
    pub(super) fn question(&mut self, approval: &ApprovalId) -> Option<Question> {
        self.questions.remove(approval)
    }

    /// What an option is about.
    pub(super) fn category(&self, option: &OptionId) -> String {
        self.options.get(option).cloned().unwrap_or_else(|| option.to_string())
    }

    /// What the event says.
    pub(super) fn of(&mut self, session: SessionId, event: &Envelope, input: &mut Option<Input>) -> Said {
        let payload = event.payload();
        match event.name.as_str() {
            "assistant_delta" | "assistant.message.delta" => self.piece(event, Said::Text),
            "assistant.reasoning.delta" | "assistant.thought_summary.delta" => self.piece(event, Said::Thought),
            "assistant_message" => self.whole_text(event),
            "user_message" => said(Some(self.prompt(session, event, &payload, input))),
            "turn_start" => {
                (self.ended, self.nameless) = (false, false);
                Said::Nothing
            }
            "tool_call" => said(self.calls.called(session, &payload)),
            "tool_result" | "tool.result" | "tool.exec.end" => said(self.calls.result(session, &payload)),
            "tool.exec.start" => said(self.calls.runs(session, &payload)),
            "tool.exec.stdout.delta" | "tool.exec.stderr.delta" => said(self.calls.prints(session, &payload)),
            "permission_request" => said(self.asked(session, &payload)),
            "permission_response" => said(self.settled(session, &payload)),
            "warning" => said(note(session, LogLevel::Warn, &payload)),
            "error" => said(note(session, LogLevel::Error, &payload)),
            "stream.gap" => said(Some(gap(session, &payload))),
            "run_finished" => said(self.end(session, Telling::Again, &payload)),
            "completion" => said(self.end(session, Telling::First, &payload)),
            name => match name.strip_prefix("switchboard.") {
                Some(kind) => said(chained::word(session, kind, &payload, &mut self.options)),
                None => Said::Nothing,
            },
        }
    }

    /// Streamed text.
    fn piece(&mut self, event: &Envelope, said: fn(Text) -> Said) -> Said {
        let Some(text) = event.text() else { return Said::Nothing };
        match field(&event.payload(), "message_id") {
            Some(id) if self.pieces.back() == Some(&id) => {}
            Some(id) => {
                self.pieces.push_back(id);
                if self.pieces.len() > MAX_PIECES {
                    self.pieces.pop_front();
                }
            }
            None => self.nameless = true,
        }
        said(text)
    }

    /// A text as a whole: only if it did not come in pieces.
    fn whole_text(&mut self, event: &Envelope) -> Said {
        let told = match field(&event.payload(), "message_id") {
            Some(id) => self.pieces.contains(&id) || self.nameless,
            None => self.nameless || !self.pieces.is_empty(),
        };
        event.text().filter(|_| !told).map_or(Said::Nothing, Said::Text)
    }

    fn asked(&mut self, session: SessionId, payload: &str) -> Option<Word> {
        let (approval, question) = approval::asked(payload)?;
        if self.questions.len() < MAX_QUESTIONS {
            self.questions.insert(approval.id.clone(), question);
        }
        Some(Word::ApprovalWanted { session, approval })
    }

    fn prompt(&mut self, session: SessionId, event: &Envelope, payload: &str, input: &mut Option<Input>) -> Word {
        let theirs = field(payload, "message_id");
        let text = field(payload, "text").or_else(|| field(payload, "content")).unwrap_or_default();
        (self.ended, self.nameless) = (false, false);
        self.pieces.clear();
        if let Some(input) = input.as_mut().filter(|input| input.is(theirs.as_deref(), &text)) {
            input.taken();
            self.turn = Some(Turn { ours: input.name().clone(), theirs });
            return Word::PromptTaken { session };
        }
        let short = theirs.clone().filter(|id| !id.is_empty() && id.len() <= switchboard_types::limits::MAX_ID_BYTES);
        let name = TurnName::new(short.unwrap_or_else(|| format!("elsewhere-{}", event.id)));
        self.turn = Some(Turn { ours: name.clone(), theirs });
        Word::PromptedElsewhere { session, name, prompt: Prompt { text, context: Vec::new() } }
    }

    fn settled(&mut self, session: SessionId, payload: &str) -> Option<Word> {
        let approval = ApprovalId::new(field(payload, "request_id")?);
        self.questions.remove(&approval);
        let decision = field(payload, "decision").or_else(|| field(payload, "response")).unwrap_or_default();
        let resolution = match decision.replace('_', "-").as_str() {
            "allow-once" | "allow" | "once" | "yes" => Resolution::AllowOnce,
            "allow-session" => Resolution::AllowSession,
            "allow-always" | "always" | "allow-rule" => Resolution::AllowRule,
            "deny-stop" => Resolution::DenyStop,
            "expired" => Resolution::Expired,
            _ => Resolution::Deny,
        };
        Some(Word::ApprovalSettled { session, approval, resolution })
    }

    /// The turn is over; some engines say so twice.
    fn end(&mut self, session: SessionId, telling: Telling, payload: &str) -> Option<Word> {
        if telling == Telling::Again && std::mem::take(&mut self.ended) {
            return None;
        }
        self.ended = telling == Telling::First;
        let theirs = field(payload, "message_id");
        let ours = self.turn.as_ref().filter(|turn| {
            theirs.is_none()
                || turn.theirs == theirs
                || turn.theirs.is_none()
                || theirs.as_deref() == Some(turn.ours.as_str())
        });
        let name = match (ours, theirs) {
            (Some(turn), _) => Some(turn.ours.clone()),
            (None, Some(theirs)) => Some(TurnName::new(theirs)),
            (None, None) => None,
        };
        if ours.is_some() {
            self.turn = None;
        }
        let outcome = match field(payload, "reason").as_deref() {
            Some("cancelled" | "stopped" | "canceled") => Outcome::Cancelled,
            Some("failed" | "error") => Outcome::Failed,
            _ => Outcome::Completed,
        };
        let detail = raw(payload, "detail").and_then(detail);
        Some(Word::TurnDone { session, name, outcome, detail })
    }
}

fn detail(raw: &str) -> Option<Detail> {
    if raw.starts_with('"') {
        return Some(Detail::new("agent_error", cut(&crate::json::lossy(raw)?)));
    }
    let code = field(raw, "code").unwrap_or_else(|| "agent_error".to_owned());
    Some(Detail { code, message: cut(&field(raw, "message")?) })
}

fn note(session: SessionId, level: LogLevel, payload: &str) -> Option<Word> {
    let message = field(payload, "message").or_else(|| field(payload, "text")).or_else(|| field(payload, "detail"))?;
    Some(Word::Log { session, level, message: cut(&message) })
}

fn gap(session: SessionId, payload: &str) -> Word {
    let (from, to) = (number(payload, "from"), number(payload, "to"));
    let message = field(payload, "message").map(|message| cut(&message));
    let message = message.unwrap_or_else(|| "the engine says that events are lost".to_owned());
    Word::Gap { session, from, to, message }
}
