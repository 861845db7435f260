//! The messages of a session for the one frame that loads it. Bounded: of a very long session the last ones are kept, and the
//! first message says so. Let go as soon as the frame is out.

use std::collections::VecDeque;

use switchboard_types::Time;

use super::fold::{Fold, Note};
use super::questions::Decided;
use super::shape::{ActionStatus, ApprovalStatus, MessageShape, RoleWord};
use super::text::Block;

/// Bytes of the messages of one frame.
pub const MAX_LOAD_BYTES: usize = 8 * 1024 * 1024;

/// Messages as they go out.
#[derive(Debug, Default)]
pub(super) struct History {
    messages: VecDeque<Vec<u8>>,
    bytes: usize,
    left_out: u64,
    first_at: Time,
}

impl History {
    /// Takes what a person should see of an event, if it stays.
    pub(super) fn take(&mut self, note: Note, fold: &Fold) {
        match note {
            Note::Message(message) => self.push(&message),
            Note::BlockEnds(block, _) => self.push_block(&block, fold),
            Note::GroupEnds(group) => {
                for action in group.actions {
                    self.push(&action.message(group.title, |seq| fold.id(seq)));
                }
            }
            Note::Decided(decided) if decided.status == ApprovalStatus::Skipped => self.push(&skipped(*decided)),
            Note::Wrong(message, at) => self.push_wrong(message, at),
            // What is still so when the session is loaded is told then.
            Note::Generating(_)
            | Note::Thinking(_)
            | Note::GroupStarts(_)
            | Note::Action(_)
            | Note::Asked(_)
            | Note::Decided(_)
            | Note::Policy
            | Note::Choices => {}
        }
    }

    /// Events are lost.
    pub(super) fn gap(&mut self, at: Time) {
        self.push_wrong("a part of this session is lost".to_owned(), at);
    }

    fn push_wrong(&mut self, message: String, at: Time) {
        let id = format!("wrong-{}-{}", at, self.left_out + self.messages.len() as u64);
        self.push(&MessageShape {
            content: message.clone(),
            action_text: Some("Something went wrong".to_owned()),
            action_detail: Some(message),
            action_icon: Some("error".to_owned()),
            action_status: Some(ActionStatus::Error),
            ..MessageShape::new(id, RoleWord::Tool, at)
        });
    }

    fn push_block(&mut self, block: &Block, fold: &Fold) {
        if block.is_empty() {
            return;
        }
        let (seq, at) = block.began();
        let message = MessageShape {
            model: fold.model().map(str::to_owned),
            ..MessageShape::new(fold.id(seq.0), RoleWord::Assistant, at)
        };
        // The text is escaped already, so it takes the place of the empty content.
        let mut json = serde_json::to_vec(&message).unwrap_or_default();
        let mark = br#""content":""#;
        if let Some(at) = json.windows(mark.len()).position(|window| window == mark).map(|at| at + mark.len()) {
            json.splice(at..at, block.escaped().iter().copied());
        }
        self.add(json, at);
    }

    fn push(&mut self, message: &MessageShape) {
        // Maps with string keys always have a JSON text.
        self.add(serde_json::to_vec(message).unwrap_or_default(), Time(message.timestamp));
    }

    fn add(&mut self, json: Vec<u8>, at: Time) {
        if self.messages.is_empty() && self.left_out == 0 {
            self.first_at = at;
        }
        self.bytes += json.len();
        self.messages.push_back(json);
        while self.bytes > MAX_LOAD_BYTES && self.messages.len() > 1 {
            self.bytes -= self.messages.pop_front().map_or(0, |gone| gone.len());
            self.left_out += 1;
        }
    }

    /// Writes all of them as the inside of an array.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        let mut first = true;
        if self.left_out > 0 {
            let content = format!("{} older messages are not shown here; search finds them", self.left_out);
            let message =
                MessageShape { content, ..MessageShape::new("left-out".to_owned(), RoleWord::Tool, self.first_at) };
            let _ = serde_json::to_writer(&mut *out, &message);
            first = false;
        }
        for message in &self.messages {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            out.extend_from_slice(message);
        }
    }
}

fn skipped(decided: Decided) -> MessageShape {
    let why = if decided.output.is_empty() { "skipped".to_owned() } else { decided.output };
    MessageShape {
        content: decided.title.clone(),
        tool_output: Some(why.clone()),
        action_text: Some(decided.title),
        action_detail: Some(why),
        action_icon: Some("skipped".to_owned()),
        action_status: Some(ActionStatus::Error),
        ..MessageShape::new(decided.name, RoleWord::Tool, decided.at)
    }
}
