//! What fits into a model's context: how large a conversation is, by estimate, and how it is made shorter. The newest words are never
//! touched; what is left out is always said.

mod cut;
mod pieces;

pub(crate) use cut::{Cut, cut, drop_prefix, put_summary, squeeze, summary_room, transcript};
pub(crate) use pieces::{add_hint, as_sent, call_weight, repaired, weight};

use crate::talk::{Ask, Calling, Message, Part, ToolSpec};

/// What single results and instructions are measured by as long as nobody knows how much a model reads. A conversation is not made
/// shorter for a guess.
pub const DEFAULT_WINDOW: u32 = 8_192;

/// The smallest window that is believed: below it nothing could be done at all.
pub const MIN_WINDOW: u64 = 2_048;

/// How large a conversation may become in memory, however much the model can read.
pub const MAX_TALK_BYTES: usize = 16 * 1024 * 1024;

/// What begins a summary that stands in the place of older messages.
pub const SUMMARY_MARK: &str = "[Summary of the conversation so far]";

const BYTES_PER_TOKEN: u64 = 4;
/// What a message costs beside its text.
const PER_MESSAGE: u64 = 6;
/// What a picture is taken to cost.
const PER_IMAGE: u64 = 1_000;

/// How many tokens a question is taken to have.
#[must_use]
pub fn estimate(ask: &Ask) -> u64 {
    ask.messages.iter().map(tokens).sum::<u64>() + tool_tokens(&ask.tools, ask.calling)
}

/// How many tokens the descriptions of the tools are taken to have, beside the system's message.
pub(crate) fn tool_tokens(tools: &[ToolSpec], calling: Calling) -> u64 {
    if calling == Calling::Text {
        return 0;
    }
    tools
        .iter()
        .map(|tool| {
            let bytes = tool.name.len() + tool.description.len() + tool.parameters.to_string().len();
            text_tokens(bytes) + PER_MESSAGE
        })
        .sum()
}

/// How many tokens a message is taken to have.
pub(crate) fn tokens(message: &Message) -> u64 {
    PER_MESSAGE
        + match message {
            Message::System { text } => text_tokens(text.len()),
            Message::User { parts } => parts
                .iter()
                .map(|part| match part {
                    Part::Text { text } => text_tokens(text.len()),
                    Part::Image { .. } => PER_IMAGE,
                })
                .sum(),
            Message::Assistant { text, thought, calls } => {
                let calls: usize = calls.iter().map(pieces::call_weight).sum();
                text_tokens(text.len() + thought.len() + calls)
            }
            Message::Tool { name, text, .. } => text_tokens(name.len() + text.len()),
        }
}

fn text_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// How much may be used of a model's window, and how far off our estimate was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    window: u64,
    /// Whether the window is known, and not a guess.
    known: bool,
    /// A thousandth is our estimate of one token; the server's counts raise it.
    per_mille: u64,
    /// The estimate of the question from which that was learned.
    learned_from: u64,
}

impl Budget {
    /// For a window of so many tokens; without a number it is not known yet.
    pub(crate) fn new(context: Option<u32>) -> Self {
        let window = u64::from(context.unwrap_or(DEFAULT_WINDOW)).max(MIN_WINDOW);
        Self { window, known: context.is_some(), per_mille: 1000, learned_from: 0 }
    }

    /// The window in tokens, or the guess that stands for it.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// The window in tokens, if it is known.
    pub(crate) fn known_window(&self) -> Option<u64> {
        self.known.then_some(self.window)
    }

    /// An estimate as the server would count it.
    pub(crate) fn corrected(&self, estimate: u64) -> u64 {
        estimate.saturating_mul(self.per_mille) / 1000
    }

    /// The server has counted what we had estimated. Less than our estimate is never believed: a server that has kept the beginning of a
    /// question counts only the rest. A longer question tells more than a shorter one, whose frame weighs too much.
    pub(crate) fn learn(&mut self, estimate: u64, counted: u64) {
        let per_mille = (counted.saturating_mul(1000) / estimate.max(1)).min(3000);
        if per_mille > self.per_mille || (per_mille >= 1000 && estimate >= self.learned_from) {
            self.per_mille = per_mille;
            self.learned_from = estimate;
        }
    }

    /// The server says that what we had estimated is too long: then so much is not there, whatever was known before.
    pub(crate) fn too_long(&mut self, estimate: u64) {
        let believed = self.corrected(estimate).min(self.known_window().unwrap_or(u64::MAX));
        self.window = (believed.saturating_mul(3) / 4).max(MIN_WINDOW);
        self.known = true;
    }

    /// From here on a conversation is made shorter.
    fn high(&self) -> u64 {
        self.window * 3 / 4
    }

    /// So short it is made then, so that it is not made shorter again at once.
    fn low(&self) -> u64 {
        self.window / 2
    }

    /// More than this is never sent: the answer needs room too.
    fn hard(&self) -> u64 {
        self.window * 7 / 8
    }

    /// Whether so much is to be made shorter.
    pub(crate) fn is_over(&self, size: Size) -> bool {
        self.is_longer(size, self.high()) || size.bytes > MAX_TALK_BYTES
    }

    /// Whether so much must not be sent.
    pub(crate) fn is_too_much(&self, size: Size) -> bool {
        self.is_longer(size, self.hard()) || size.bytes > MAX_TALK_BYTES
    }

    fn is_short_again(&self, size: Size) -> bool {
        !self.is_longer(size, self.low()) && size.bytes <= MAX_TALK_BYTES / 2
    }

    /// Whether so much is more than this part of the window. Nothing is more than a window that nobody knows.
    fn is_longer(&self, size: Size, part: u64) -> bool {
        self.known && self.corrected(size.tokens) > part
    }

    /// How many bytes of text may still be sent beside so many tokens.
    fn free_bytes(&self, used: u64) -> usize {
        if !self.known {
            return MAX_TALK_BYTES;
        }
        let free = self.hard().saturating_sub(self.corrected(used)) * 1000 / self.per_mille;
        usize::try_from(free * BYTES_PER_TOKEN).unwrap_or(usize::MAX)
    }

    /// How many bytes of text are so many hundredths of the window.
    pub(crate) fn bytes(&self, hundredths: u64) -> usize {
        let tokens = self.window * hundredths / 100 * 1000 / self.per_mille;
        usize::try_from(tokens * BYTES_PER_TOKEN).unwrap_or(usize::MAX)
    }
}

/// How large something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) tokens: u64,
    pub(crate) bytes: usize,
}

/// How large a conversation is with what is sent beside it.
pub(crate) fn size(messages: &[Message], beside: u64) -> Size {
    let sent = pieces::thoughts_from(messages);
    let mut size = Size { tokens: beside, bytes: 0 };
    let mut after_result = false;
    for (at, message) in messages.iter().enumerate() {
        size.bytes += weight(message);
        size.tokens += tokens(message);
        if after_result && matches!(message, Message::User { .. }) {
            size.tokens += tokens(&pieces::stopped());
        }
        after_result = matches!(message, Message::Tool { .. });
        if let Message::Assistant { thought, .. } = message
            && at < sent
        {
            // Old thoughts are not sent.
            size.tokens -= text_tokens(thought.len()).min(size.tokens);
        }
    }
    size
}

/// What is written in the place of a tool's output.
fn folded_output(name: &str, bytes: usize) -> String {
    format!("[left out to save room: what {name} gave, {bytes} bytes; call it again if it is needed]")
}

/// Replaces old tool outputs by a line each, and old pictures and thoughts by less, oldest first, until enough is free. Says how many.
pub(crate) fn fold(messages: &mut [Message], beside: u64, budget: &Budget) -> usize {
    let newest = cut::newest_round(messages);
    let prompt = cut::last_prompt(messages);
    let mut size = size(messages, beside);
    let mut folded = 0;
    for (at, message) in messages.iter_mut().enumerate().take(newest) {
        if budget.is_short_again(size) {
            break;
        }
        let (was, weighed) = (tokens(message), weight(message));
        let changed = match message {
            Message::Tool { name, text, .. } => {
                let short = folded_output(name, text.len());
                let changed = short.len() < text.len() && !text.starts_with("[left out to save room");
                if changed {
                    *text = short;
                }
                changed
            }
            Message::User { parts } if Some(at) != prompt => {
                let mut changed = false;
                for part in parts {
                    if let Part::Image { mime, .. } = part {
                        *part = Part::Text { text: format!("[a picture ({mime}) that was left out to save room]") };
                        changed = true;
                    }
                }
                changed
            }
            Message::Assistant { thought, .. } => !std::mem::take(thought).is_empty(),
            Message::User { .. } | Message::System { .. } => false,
        };
        if changed {
            folded += 1;
            size.tokens = (size.tokens + tokens(message)).saturating_sub(was);
            size.bytes = (size.bytes + weight(message)).saturating_sub(weighed);
        }
    }
    folded
}

#[cfg(test)]
mod tests;
