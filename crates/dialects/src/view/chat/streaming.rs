//! The current session live: texts that replace each other, thinking, groups of tool calls. A text that grows is told less
//! often, so that what it costs stays bounded; its end is never dropped, and a link that is slow gets the newest only.

use switchboard_types::Time;

use super::Chat;
use super::actions::Action;
use super::asked::ModeWord;
use super::fold::{BlockEnd, Note, thought_line};
use super::history::History;
use super::patterns;
use super::said::ToView;
use super::text::Block;

/// How long a text is left alone at least, in milliseconds.
pub const MIN_CHUNK_MS: u64 = 32;
/// What a growing text may cost, in bytes a second: a long one is told less often.
pub const MAX_STREAM_BYTES_PER_SECOND: usize = 2 * 1024 * 1024;
/// How often it is told what an agent thinks, in milliseconds.
const THOUGHT_MS: u64 = 250;

/// How far the running text was told.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Bytes of the running text that were told.
    told: usize,
    /// When a text was told last, and how long it was.
    last: Option<(Time, usize)>,
    /// The line that was told of its thinking, and when.
    thought: Option<(String, Time)>,
}

impl Stream {
    fn chunk_due(&self) -> Time {
        self.last.map_or(Time(0), |(at, bytes)| at.after_ms(interval_ms(bytes)))
    }
}

/// How long the text that follows one of so many bytes has to wait.
fn interval_ms(bytes: usize) -> u64 {
    MIN_CHUNK_MS.max((bytes * 1000 / MAX_STREAM_BYTES_PER_SECOND) as u64)
}

impl Chat {
    /// When something of the current session must go out.
    pub(super) fn streams_at(&self) -> Option<Time> {
        let seat = self.seat.as_ref().filter(|seat| seat.loading.is_none())?;
        let grown = seat.fold.block.escaped().len() != seat.stream.told;
        let chunk = grown.then(|| seat.stream.chunk_due());
        let thinks = seat.fold.thinking().is_some() && !seat.fold.thought.is_empty();
        let told = seat.stream.thought.as_ref();
        let stale = thinks && told.is_none_or(|(line, _)| *line != thought_line(&seat.fold.thought));
        let thought = stale.then(|| told.map_or(Time(0), |(_, at)| at.after_ms(THOUGHT_MS)));
        [chunk, thought].into_iter().flatten().min()
    }

    pub(super) fn stream_due(&mut self, now: Time) {
        while self.streams_at().is_some_and(|due| due <= now) {
            let Some(seat) = &mut self.seat else { return };
            let session_id = seat.session.to_string();
            if seat.fold.block.escaped().len() == seat.stream.told {
                let message = thought_line(&seat.fold.thought);
                seat.stream.thought = Some((message.clone(), now));
                self.say(&ToView::ShowThinking { message, session_id });
                continue;
            }
            let bytes = seat.fold.block.escaped().len();
            (seat.stream.told, seat.stream.last) = (bytes, Some((now, bytes)));
            let json = text_message("streamChunk", &seat.fold.block, seat.fold.model(), &session_id);
            self.said.push(json);
        }
    }

    /// The clock stands at an earlier time than it did; nothing waits longer for it.
    pub(super) fn rewind(&mut self, now: Time) {
        if let Some(seat) = &mut self.seat {
            if let Some((at, _)) = &mut seat.stream.last {
                *at = (*at).min(now);
            }
            if let Some((_, at)) = &mut seat.stream.thought {
                *at = (*at).min(now);
            }
        }
        self.rewind_list(now);
    }

    /// Tells what a person should see of an event.
    pub(super) fn live(&mut self, now: Time, notes: Vec<Note>) {
        for note in notes {
            let Some(session_id) = self.current().map(|session| session.to_string()) else { return };
            match note {
                Note::Message(message) => self.say(&ToView::AddMessage { message, session_id }),
                Note::Generating(true) => self.say(&ToView::GenerationStarted { session_id }),
                Note::Generating(false) => self.say(&ToView::GenerationStopped { session_id }),
                Note::Thinking(Some(message)) => self.show_thinking(now, message, session_id),
                Note::Thinking(None) => {
                    if let Some(seat) = &mut self.seat {
                        seat.stream.thought = None;
                    }
                    self.say(&ToView::HideThinking { session_id });
                }
                Note::BlockEnds(block, end) => self.block_ends(now, &block, end, &session_id),
                Note::GroupStarts(title) => {
                    self.say(&ToView::StartProgressGroup { title: title.to_owned(), session_id });
                }
                Note::Action(action) => self.say(&shape(action, session_id)),
                Note::GroupEnds(_) => self.say(&ToView::FinishProgressGroup { session_id }),
                Note::Asked(question) => self.say(&question.shape(session_id)),
                Note::Decided(decided) => self.say(&decided.shape(session_id)),
                Note::Wrong(message, _) => self.say(&ToView::ShowError { message, session_id }),
                Note::Policy => self.say_policy(),
                Note::Choices => self.tell_choices(),
            }
        }
    }

    fn show_thinking(&mut self, now: Time, message: String, session_id: String) {
        if let Some(seat) = &mut self.seat {
            seat.stream.thought = Some((message.clone(), now));
        }
        self.say(&ToView::ShowThinking { message, session_id });
    }

    fn block_ends(&mut self, now: Time, block: &Block, end: BlockEnd, session_id: &str) {
        let Some(seat) = &mut self.seat else { return };
        let bytes = block.escaped().len();
        let told = std::mem::take(&mut seat.stream.told);
        let name = match end {
            BlockEnd::Tools if told == bytes => return,
            BlockEnd::Tools => "streamChunk",
            BlockEnd::Final => "finalMessage",
        };
        seat.stream.last = Some((now, bytes));
        let json = text_message(name, block, seat.fold.model(), session_id);
        self.said.push(json);
    }

    /// The current session as it is.
    pub(super) fn say_loaded(&mut self, now: Time, history: History) {
        let Some(seat) = &self.seat else { return };
        let policy = &seat.fold.policy;
        let mut out = Vec::from(br#"{"type":"loadSessionMessages","messages":["#);
        history.put(&mut out);
        out.extend_from_slice(br#"],"sessionId":"#);
        // Strings and numbers always have a JSON text, and a vector takes all of it.
        let _ = serde_json::to_writer(&mut out, &seat.session.to_string());
        for (name, value) in [
            ("autoApproveCommands", policy.auto_commands.to_string()),
            ("autoApproveSensitiveEdits", policy.auto_edits.to_string()),
        ] {
            out.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
        }
        out.extend_from_slice(br#","sessionSensitiveFilePatterns":"#);
        let _ = serde_json::to_writer(&mut out, &policy.patterns.as_ref().map(patterns::written));
        out.push(b'}');
        self.said.push(out);
        self.say_policy();
        self.say_state(now);
    }

    /// What goes on in the current session.
    fn say_state(&mut self, now: Time) {
        let Some(seat) = &self.seat else { return };
        let session_id = seat.session.to_string();
        let thinking = seat.fold.thinking();
        let group = seat.fold.group.as_ref().map(|group| (group.title.to_owned(), group.actions.clone()));
        let questions: Vec<ToView> =
            seat.fold.questions.open().map(|question| question.shape(session_id.clone())).collect();
        if !seat.fold.is_generating() {
            self.say(&ToView::GenerationStopped { session_id: session_id.clone() });
        } else {
            self.say(&ToView::GenerationStarted { session_id: session_id.clone() });
        }
        if let Some((title, actions)) = group {
            self.say(&ToView::StartProgressGroup { title, session_id: session_id.clone() });
            actions.into_iter().for_each(|action| self.say(&shape(action, session_id.clone())));
        }
        if let Some(thinking) = thinking {
            self.show_thinking(now, thinking.to_owned(), session_id);
        }
        questions.iter().for_each(|question| self.say(question));
        self.stream_due(now);
    }

    /// All switches of the current session.
    pub(super) fn say_policy(&mut self) {
        let Some(seat) = &self.seat else { return };
        let policy = &seat.fold.policy;
        let shape = ToView::SessionApprovalSettings {
            session_id: seat.session.to_string(),
            auto_approve_commands: Some(policy.auto_commands),
            auto_approve_sensitive_edits: Some(policy.auto_edits),
            session_sensitive_file_patterns: policy.patterns.as_ref().map(patterns::written),
        };
        self.say(&shape);
    }

    /// The models and the mode of the current session, if they are others than were told.
    pub(super) fn tell_choices(&mut self) {
        let fold = self.seat.as_ref().map(|seat| &seat.fold);
        let models = fold.map(|fold| fold.models.clone()).unwrap_or_default();
        let mode = ModeWord::of(fold.map(|fold| fold.policy.mode).unwrap_or_default());
        if !self.is_greeted || self.told_choices.as_ref().is_some_and(|told| *told == (models.clone(), mode)) {
            return;
        }
        let (settings, has_token) = self.settings_shape();
        self.told_choices = Some((models.clone(), mode));
        self.told_settings = Some((settings.clone(), has_token));
        self.say(&ToView::Init { models, current_mode: mode, settings: Box::new(settings), has_token });
    }
}

fn shape(action: Action, session_id: String) -> ToView {
    let Action { id, status, icon, text, detail, .. } = action;
    ToView::ShowToolAction { status, icon: icon.to_owned(), text, detail, session_id, action_id: id }
}

/// A text that is escaped already, as its message.
fn text_message(name: &str, block: &Block, model: Option<&str>, session_id: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(block.escaped().len() + 128);
    out.extend_from_slice(format!("{{\"type\":\"{name}\",\"content\":\"").as_bytes());
    out.extend_from_slice(block.escaped());
    out.push(b'"');
    if let Some(model) = model {
        out.extend_from_slice(br#","model":"#);
        let _ = serde_json::to_writer(&mut out, model);
    }
    out.extend_from_slice(br#","sessionId":"#);
    let _ = serde_json::to_writer(&mut out, session_id);
    out.push(b'}');
    out
}
