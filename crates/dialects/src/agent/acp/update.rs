//! What an agent says of an open session, in our words. Streamed text is never copied; what is unknown is kept as it came.

use bytes::Bytes;
use switchboard_types::limits::MAX_AGENT_TITLE_CHARS;
use switchboard_types::{Cost, LogLevel, PlanEntry, PlanStatus, SlashCommand, Text, Word};

use super::calls::Source;
use super::content::{self, Rest};
use super::sessions::Open;
use super::small::{MAX_LINE_CHARS, cut, fields, first_items, line, name, number, string};
use crate::json::Fields;

/// Steps of one plan.
const MAX_PLAN_ENTRIES: usize = 1_000;
/// Commands of one session.
const MAX_COMMANDS: usize = 2_000;

/// Every sort of update that the dialect knows, and what it becomes.
pub const UPDATES: [(&str, &str); 13] = [
    ("agent_message_chunk", "text of the answer; pictures, sound and files within it are named, and kept as they came"),
    ("agent_thought_chunk", "thinking, shown apart from the answer"),
    ("user_message_chunk", "what you said, repeated; while a session is read again it is left out"),
    ("tool_call", "a tool call with its title, kind, status, input, places and what it shows"),
    (
        "tool_call_update",
        "what changed of a tool call; one that comes before its `tool_call`, or without one, shows as well",
    ),
    ("plan", "the plan as it stands, with priorities"),
    ("available_commands_update", "the commands that you may type after a slash"),
    ("current_mode_update", "the list of options, with the mode that holds now"),
    ("config_option_update", "the list of options"),
    ("session_info_update", "the tab's title"),
    ("usage_update", "how full the agent's context is, and what the session has cost"),
    ("notice", "a line of the agent's log"),
    ("compaction_update", "a word on what goes on"),
];

const FIELDS: [&str; 12] = [
    "sessionUpdate",
    "content",
    "entries",
    "availableCommands",
    "title",
    "used",
    "size",
    "cost",
    "severity",
    "description",
    "status",
    "error",
];

type Update<'a> = Fields<'a, { FIELDS.len() }>;

/// Adds the words of one update. Gives the text of a chunk, quotes included, where its frame may be repeated.
pub(super) fn read<'a>(raw: &'a str, frame: &Bytes, open: &mut Open, said: &mut Vec<Word>) -> Option<&'a str> {
    let before = said.len();
    let chunk = words(raw, frame, open, said);
    if let super::sessions::Replay::Running { held } = &mut open.replay {
        hold(said.drain(before..), held);
        return None;
    }
    if chunk.is_none() && said.get(before..).is_some_and(|new| new.iter().any(speaks)) {
        open.has_spoken();
    }
    chunk
}

fn words<'a>(raw: &'a str, frame: &Bytes, open: &mut Open, said: &mut Vec<Word>) -> Option<&'a str> {
    let session = open.session;
    let unknown = |name: &str| Word::Unknown { session, name: name.to_owned(), raw: raw.to_owned() };
    let Some(found) = fields(raw, &FIELDS) else {
        said.push(unknown("session/update"));
        return None;
    };
    let Some(kind) = line(&found, "sessionUpdate") else {
        said.push(unknown("session/update"));
        return None;
    };
    let known = match kind.as_str() {
        "agent_message_chunk" => return chunk(Piece::Text, &found, frame, open, said, &unknown),
        "agent_thought_chunk" => return chunk(Piece::Thought, &found, frame, open, said, &unknown),
        "user_message_chunk" => return chunk(Piece::Echo, &found, frame, open, said, &unknown),
        "tool_call" => call(raw, Source::Call, open, said),
        "tool_call_update" => call(raw, Source::Update, open, said),
        "plan" => plan(&found).map(|entries| said.push(Word::Plan { session, entries })),
        "available_commands_update" => commands(&found).map(|commands| said.push(Word::Commands { session, commands })),
        "current_mode_update" => open.options.take_mode(raw).then(|| told_options(open, said)),
        "config_option_update" => open.options.take(raw).then(|| told_options(open, said)),
        "session_info_update" => {
            if let Some(title) = string(&found, "title").filter(|title| !title.trim().is_empty()) {
                said.push(Word::Title { session, title: cut(title.trim(), MAX_AGENT_TITLE_CHARS) });
            }
            Some(())
        }
        "usage_update" => usage(&found, open).map(|word| said.push(word)),
        "notice" => notice(&found, open).map(|word| said.push(word)),
        "compaction_update" => compaction(&found, open).map(|word| said.push(word)),
        _ => None,
    };
    if known.is_none() {
        said.push(unknown(&kind));
    }
    None
}

/// Says all that a person may set.
pub(super) fn told_options(open: &mut Open, said: &mut Vec<Word>) {
    let options = open.options.list();
    said.push(Word::Options { session: open.session, options });
}

/// What is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Text,
    Thought,
    Echo,
}

impl Piece {
    /// The update that brings it.
    fn update(self) -> &'static str {
        match self {
            Self::Text => "agent_message_chunk",
            Self::Thought => "agent_thought_chunk",
            Self::Echo => "user_message_chunk",
        }
    }

    fn word(self, open: &Open, text: Text) -> Word {
        let (session, name) = (open.session, open.turn_name());
        match self {
            Self::Text => Word::Text { session, name, text },
            Self::Thought => Word::Thought { session, name, text },
            Self::Echo => Word::Echo { session, text },
        }
    }
}

fn chunk<'a>(
    piece: Piece,
    found: &Update<'a>,
    frame: &Bytes,
    open: &mut Open,
    said: &mut Vec<Word>,
    unknown: &dyn Fn(&str) -> Word,
) -> Option<&'a str> {
    let raw = found.raw("content");
    let block = raw.and_then(|raw| fields(raw, &["type", "text"]));
    let literal =
        block.as_ref().filter(|block| block.raw("type") == Some("\"text\"")).and_then(|block| block.raw("text"));
    if let Some((literal, text)) = literal.and_then(|literal| Some((literal, Text::from_literal(frame, literal)?))) {
        if text.is_empty() {
            return None;
        }
        if piece != Piece::Echo {
            open.has_spoken();
        }
        said.push(piece.word(open, text));
        return Some(literal).filter(|_| piece != Piece::Echo);
    }
    let readable = raw.and_then(content::in_words);
    if readable.as_ref().is_none_or(|readable| readable.rest == Rest::Kept) {
        said.push(unknown(piece.update()));
    }
    said.extend(readable.map(|readable| piece.word(open, Text::from_plain(&readable.text))));
    None
}

fn call(raw: &str, source: Source, open: &mut Open, said: &mut Vec<Word>) -> Option<()> {
    let (_, told) = open.calls.read(raw, source)?;
    let session = open.session;
    said.extend(told.map(|told| Word::OwnToolCall { session, call: told.call, told: told.telling }));
    Some(())
}

fn plan(found: &Update<'_>) -> Option<Vec<PlanEntry>> {
    let entries = first_items(found.raw("entries")?, MAX_PLAN_ENTRIES)?;
    Some(entries.into_iter().filter_map(entry).collect())
}

fn entry(raw: &str) -> Option<PlanEntry> {
    let found = fields(raw, &["content", "status", "priority"])?;
    let status = match line(&found, "status").as_deref() {
        Some("in_progress" | "running") => PlanStatus::InProgress,
        Some("completed" | "done") => PlanStatus::Completed,
        _ => PlanStatus::Pending,
    };
    Some(PlanEntry { content: string(&found, "content")?, status, priority: line(&found, "priority") })
}

fn commands(found: &Update<'_>) -> Option<Vec<SlashCommand>> {
    let items = first_items(found.raw("availableCommands")?, MAX_COMMANDS)?;
    let command = |raw: &str| {
        let found = fields(raw, &["name", "description", "input"])?;
        let hint = found.raw("input").and_then(|input| line(&fields(input, &["hint"])?, "hint"));
        let name = name(&found, "name").filter(|name| !name.is_empty())?;
        Some(SlashCommand { name, description: line(&found, "description").unwrap_or_default(), hint })
    };
    Some(items.into_iter().filter_map(command).collect())
}

fn usage(found: &Update<'_>, open: &Open) -> Option<Word> {
    let (used, size) = (number(found, "used")?, number(found, "size")?);
    let cost = found.raw("cost").and_then(|raw| fields(raw, &["amount", "currency"])).and_then(|cost| {
        let amount: f64 = cost.raw("amount")?.parse().ok()?;
        Some(Cost { amount: Some(amount).filter(|amount| amount.is_finite())?, currency: line(&cost, "currency")? })
    });
    Some(Word::Usage { session: open.session, used, size, cost })
}

fn notice(found: &Update<'_>, open: &Open) -> Option<Word> {
    let title = line(found, "title")?;
    let level = match line(found, "severity").as_deref() {
        Some("warning") => LogLevel::Warn,
        Some("error") => LogLevel::Error,
        _ => LogLevel::Info,
    };
    let message = match line(found, "description") {
        Some(description) => format!("{title}: {description}"),
        None => title,
    };
    Some(Word::Log { session: open.session, level, message })
}

fn compaction(found: &Update<'_>, open: &Open) -> Option<Word> {
    let message = match line(found, "status")?.as_str() {
        "in_progress" => "the agent makes its memory of the conversation shorter".to_owned(),
        "completed" => "the agent has made its memory of the conversation shorter".to_owned(),
        other => {
            let error = line(found, "error").map(|error| format!(": {error}")).unwrap_or_default();
            cut(format!("making the agent's memory shorter: {other}{error}"), MAX_LINE_CHARS)
        }
    };
    Some(Word::Status { session: open.session, message, progress: None })
}

/// Whether a word is an answer of some sort.
fn speaks(word: &Word) -> bool {
    matches!(word, Word::Text { .. } | Word::Thought { .. } | Word::OwnToolCall { .. })
}

/// Keeps the last of each sort that says what holds now; the rest is what was said before.
fn hold(words: impl Iterator<Item = Word>, held: &mut Vec<Word>) {
    for word in words {
        if matches!(word, Word::Commands { .. } | Word::Options { .. } | Word::Title { .. } | Word::Usage { .. }) {
            held.retain(|older| std::mem::discriminant(older) != std::mem::discriminant(&word));
            held.push(word);
        }
    }
}
