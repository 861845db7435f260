//! The prompts that wait for the turn before them. None is lost; one too many is told so in its own place.

use std::collections::VecDeque;

use super::Do;
use crate::talk::Part;

/// How many prompts may wait.
pub const MAX_WAITING: usize = 16;

/// How large one prompt may be, pictures included.
pub const MAX_PROMPT_BYTES: usize = 8 * 1024 * 1024;

/// How large all that wait may be together.
pub const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    /// A prompt to be worked on.
    Prompt(Vec<Part>),
    /// A prompt that was not taken, and why. It ends in its order, so that ends and prompts can be told together by counting.
    Refused(String),
}

#[derive(Debug)]
enum Entry {
    Prompt(Vec<Part>),
    /// So many that were not taken, for the same reason.
    Refused(u64, String),
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    entries: VecDeque<Entry>,
    prompts: usize,
    bytes: usize,
}

impl Waiting {
    /// Takes a prompt, or notes that it is not taken.
    pub(super) fn push(&mut self, parts: Vec<Part>, out: &mut Vec<Do>) {
        let bytes = weight(&parts);
        let why = if bytes > MAX_PROMPT_BYTES {
            Some(format!(
                "The prompt has {bytes} bytes; at most {MAX_PROMPT_BYTES} are taken. Name files instead of pasting them."
            ))
        } else if self.prompts >= MAX_WAITING || self.bytes + bytes > MAX_WAITING_BYTES {
            Some(
                "Too many prompts are waiting; this one was not taken. Send it again when the others are done."
                    .to_owned(),
            )
        } else {
            None
        };
        let Some(why) = why else {
            self.prompts += 1;
            self.bytes += bytes;
            self.entries.push_back(Entry::Prompt(parts));
            return;
        };
        out.push(Do::Note(why.clone()));
        if let Some(Entry::Refused(times, reason)) = self.entries.back_mut() {
            *reason = why;
            *times += 1;
        } else {
            self.entries.push_back(Entry::Refused(1, why));
        }
    }

    /// The next one.
    pub(super) fn pop(&mut self) -> Option<Next> {
        match self.entries.pop_front()? {
            Entry::Prompt(parts) => {
                self.prompts -= 1;
                self.bytes -= weight(&parts);
                Some(Next::Prompt(parts))
            }
            Entry::Refused(times, why) => {
                if times > 1 {
                    self.entries.push_front(Entry::Refused(times - 1, why.clone()));
                }
                Some(Next::Refused(why))
            }
        }
    }
}

/// How many bytes a prompt has.
pub(super) fn weight(parts: &[Part]) -> usize {
    parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.len(),
            Part::Image { mime, data } => mime.len() + data.len(),
        })
        .sum()
}
