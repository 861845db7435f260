//! Puts calls together from their pieces. Servers name the call that a piece belongs to by an index, by an id, by both, by neither,
//! or wrongly; what is known of how they do it is here and nowhere else.

use serde_json::Value;

use super::{MAX_ARGUMENTS_BYTES, MAX_CALLS};
use crate::server::arguments;
use crate::server::scan::Scan;
use crate::talk::{Arguments, ToolCall};

/// The longest id and name of a call, in bytes; a longer one counts as none.
const MAX_NAME_BYTES: usize = 256;

/// A piece of a call, or a whole one.
#[derive(Debug, PartialEq)]
pub(super) struct CallPiece {
    place: Place,
    id: String,
    name: String,
    arguments: Given,
}

/// Where among the calls a piece says that it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Unsaid,
    Index(u64),
    /// The only one, by the field that there was before lists of calls.
    Legacy,
}

/// Arguments as they come.
#[derive(Debug, PartialEq)]
enum Given {
    Nothing,
    /// A piece of their text.
    Text(String),
    /// All of them.
    Whole(Value),
}

impl CallPiece {
    /// One entry of `tool_calls`.
    pub(super) fn of(entry: &Value) -> Option<Self> {
        let function = entry.get("function").filter(|function| function.is_object()).unwrap_or(entry);
        let index = entry.get("index").or_else(|| function.get("index")).and_then(Value::as_u64);
        let id = entry.get("id").or_else(|| function.get("id")).map(word).unwrap_or_default();
        Self::new(index.map_or(Place::Unsaid, Place::Index), id, function)
    }

    /// The old `function_call`.
    pub(super) fn legacy(function: &Value) -> Option<Self> {
        Self::new(Place::Legacy, String::new(), function)
    }

    fn new(place: Place, id: String, function: &Value) -> Option<Self> {
        let name = function.get("name").map(word).unwrap_or_default();
        let arguments = match function.get("arguments").or_else(|| function.get("parameters")) {
            None | Some(Value::Null) => Given::Nothing,
            Some(Value::String(text)) if text.is_empty() => Given::Nothing,
            Some(Value::String(text)) => Given::Text(text.clone()),
            Some(whole) => Given::Whole(whole.clone()),
        };
        let says_something = !id.is_empty() || !name.is_empty() || arguments != Given::Nothing;
        says_something.then_some(Self { place, id, name, arguments })
    }
}

/// A short text, or a number where a text should be.
fn word(value: &Value) -> String {
    let word = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    if word.len() > MAX_NAME_BYTES || word.chars().any(char::is_control) { String::new() } else { word }
}

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<Open>,
    /// The ids of those that were said in text.
    numbered: Vec<String>,
    /// The first number of those that have no id of their own.
    first: u32,
    made_up: u32,
}

#[derive(Debug)]
struct Open {
    place: Place,
    id: String,
    name: String,
    text: String,
    /// Whether the text is whole so far.
    scan: Scan,
    /// They came as an object, and are all there.
    whole: bool,
}

impl Calls {
    pub(super) fn number_from(&mut self, first: u32) {
        self.first = first;
    }

    /// Adds a piece to the call that it belongs to, or begins another.
    pub(super) fn add(&mut self, piece: CallPiece) -> Result<(), String> {
        let at = match self.belongs(&piece) {
            Some(at) => at,
            None => {
                self.room()?;
                let CallPiece { place, ref id, .. } = piece;
                let (name, text, scan) = <(String, String, Scan)>::default();
                self.open.push(Open { place, id: id.clone(), name, text, scan, whole: false });
                self.open.len() - 1
            }
        };
        let Some(open) = self.open.get_mut(at) else { return Ok(()) };
        if open.id.is_empty() {
            open.id = piece.id;
        }
        if open.name.is_empty() {
            open.name = piece.name;
        } else if open.name != piece.name && open.text.is_empty() && piece.arguments == Given::Nothing {
            // A name in two pieces.
            open.name.push_str(&piece.name);
            open.name.truncate(open.name.floor_char_boundary(MAX_NAME_BYTES));
        }
        match piece.arguments {
            Given::Nothing => {}
            Given::Text(text) => {
                text.bytes().for_each(|byte| _ = open.scan.byte(byte));
                open.text.push_str(&text);
            }
            Given::Whole(value) => (open.text, open.whole) = (value.to_string(), true),
        }
        if open.text.len() > MAX_ARGUMENTS_BYTES {
            return Err(format!("A call of a tool has more than {} MiB of arguments.", MAX_ARGUMENTS_BYTES >> 20));
        }
        Ok(())
    }

    /// Which of the calls so far the piece goes on with.
    fn belongs(&self, piece: &CallPiece) -> Option<usize> {
        let last_where = |wanted: &dyn Fn(&Open) -> bool| self.open.iter().rposition(wanted);
        let named = !piece.name.is_empty();
        let found = match piece.place {
            Place::Index(_) | Place::Legacy => last_where(&|open| open.place == piece.place),
            Place::Unsaid if !piece.id.is_empty() => last_where(&|open| open.id == piece.id),
            // With nothing to go by, what has a name is a new call, and what has none belongs to the last.
            Place::Unsaid if named => None,
            Place::Unsaid => self.open.len().checked_sub(1),
        }?;
        let open = self.open.get(found)?;
        let other_id = !piece.id.is_empty() && !open.id.is_empty() && piece.id != open.id;
        let is_new = match &piece.arguments {
            // Some servers give every call the same index, and some every piece another id. A name tells: it comes once a call.
            _ if other_id => named,
            // A whole call after a whole call is another one, unless it is the same again.
            Given::Whole(value) if named && (open.whole || !open.text.is_empty()) => {
                let written = value.to_string();
                piece.id.is_empty() || written != open.text
            }
            // Without an id, a second name begins another call once the first has all its arguments.
            Given::Text(_) | Given::Nothing if named && piece.id.is_empty() => open.whole || open.scan.is_whole(),
            Given::Whole(_) | Given::Text(_) | Given::Nothing => false,
        };
        (!is_new).then_some(found)
    }

    fn room(&self) -> Result<(), String> {
        if self.open.len() + self.numbered.len() < MAX_CALLS {
            return Ok(());
        }
        Err(format!("The model wants more than {MAX_CALLS} calls of tools at once."))
    }

    /// Gives a call that was found in text its id.
    pub(super) fn number(&mut self, name: String, arguments: Arguments) -> Result<ToolCall, String> {
        self.room()?;
        let id = self.make_up();
        self.numbered.push(id.clone());
        Ok(ToolCall { id, name, arguments })
    }

    /// Nine letters and digits: there are servers that take no other.
    fn make_up(&mut self) -> String {
        self.made_up += 1;
        format!("call{:05}", self.first.wrapping_add(self.made_up) % 100_000)
    }

    /// Whether a call's arguments cannot be read as they stand.
    pub(super) fn has_broken(&self) -> bool {
        self.open.iter().any(|open| matches!(arguments::read(&open.text), Arguments::Broken(_)))
    }

    /// All of them, in the order in which they began; each has an id that no other has.
    pub(super) fn take(&mut self) -> Vec<ToolCall> {
        let mut calls: Vec<ToolCall> = Vec::new();
        for Open { id, name, text, .. } in std::mem::take(&mut self.open) {
            let mut id = id;
            while id.is_empty() || self.numbered.contains(&id) || calls.iter().any(|call| call.id == id) {
                id = self.make_up();
            }
            calls.push(ToolCall { id, name, arguments: arguments::read(&text) });
        }
        calls
    }
}
